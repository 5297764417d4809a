"""Simulated power agrees with the exact power of a t test, and knows what people who play several matches cost."""

from __future__ import annotations

import pytest
from statsmodels.stats.power import TTestIndPower

from analysis.toolbox.power import simulated_power
from conftest import slow_except

DRAWS = 1000
MARGIN = 4 * (0.25 / DRAWS) ** 0.5
"""Four Monte-Carlo standard errors, at most."""


@pytest.mark.parametrize(
    ("per_level", "effect"), slow_except([(20, 0.8), (50, 0.5), (50, 0.2), (50, 0.0)], [(20, 0.8)])
)
def test_two_independent_arms_have_the_power_of_the_t_test(per_level: int, effect: float) -> None:
    found = simulated_power(per_level, effect=3 * effect, sd=3, draws=DRAWS)
    exact = 0.05 if effect == 0 else TTestIndPower().power(effect, per_level, 0.05)
    assert found["power"] == pytest.approx(exact, abs=MARGIN)
    assert (found["n"], found["units"], found["method"]) == (2 * per_level, 2 * per_level, "CR3")


def test_the_smallest_effect_is_found_with_80_percent() -> None:
    smallest = simulated_power(50, draws=DRAWS)["smallest"]
    assert TTestIndPower().power(smallest, 50, 0.05) == pytest.approx(0.8, abs=MARGIN)


@pytest.mark.slow
def test_several_matches_of_one_person_count_as_little_as_they_are_alike() -> None:
    once = simulated_power(20, effect=0.8, draws=DRAWS)["power"]
    same = simulated_power(80, effect=0.8, icc=1, matches=4, draws=DRAWS)
    assert same["power"] == pytest.approx(once, abs=MARGIN)
    assert (same["people"], same["units"]) == (40, 40)
    assert simulated_power(80, effect=0.8, icc=0.2, matches=4, draws=DRAWS)["power"] > once + 0.1


@pytest.mark.slow
def test_people_who_meet_both_levels_are_compared_with_themselves() -> None:
    between = simulated_power(30, effect=0.5, icc=0.6, draws=DRAWS)["power"]
    within = simulated_power(30, effect=0.5, icc=0.6, within=[True], draws=DRAWS)
    exact = TTestIndPower().power(0.5 / (1 - 0.6) ** 0.5, 30, 0.05)
    assert between < 0.6 < within["power"] == pytest.approx(exact, abs=0.05)
    assert within["people"] == 30


@pytest.mark.slow
def test_an_interaction_needs_more_than_a_difference() -> None:
    difference = simulated_power(60, effect=0.6, draws=DRAWS)["power"]
    interaction = simulated_power(60, effect=0.6, within=[False, False], draws=DRAWS)
    assert interaction["n"] == 120
    assert interaction["power"] < difference - 0.3


def test_groups_that_mix_are_one_unit_for_each_cohort() -> None:
    mixed = simulated_power(48, effect=1, people=2, matches=3, regroup=True, cohort=8, draws=20)
    assert (mixed["people"], mixed["units"]) == (64, 8)
    apart = simulated_power(48, effect=1, people=2, matches=3, draws=20)
    assert (apart["people"], apart["units"]) == (64, 32)


def test_people_who_all_meet_leave_no_test() -> None:
    found = simulated_power(12, effect=1, people=2, matches=3, regroup=True, draws=20)
    assert found["power"] is None and "independent units" in found["note"]


def test_the_same_seed_gives_the_same_numbers() -> None:
    first, again = (simulated_power(20, effect=0.5, draws=50, seed=3) for _time in range(2))
    assert first == again != simulated_power(20, effect=0.5, draws=50, seed=4)
