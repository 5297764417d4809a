"""Line-ups: every rule against its definition, and computing the i-th line-up from i alone."""

from __future__ import annotations

import time
from collections import Counter
from itertools import combinations, combinations_with_replacement, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.errors import BadLineup
from games.lineups import Lineups
from games.seats import numbered_roles

POOLS = st.integers(1, 5).map(lambda n: tuple("abcde"[:n]))
SEATS = st.integers(1, 4)


def everything(rule: Lineups, roles, repetition=0) -> list[tuple[str, ...]]:
    lineups = [rule.at(i, roles, repetition=repetition) for i in range(rule.count(roles))]
    assert all(list(lineup) == list(roles) for lineup in lineups)
    return [tuple(lineup.values()) for lineup in lineups]


def with_two_agents(tuples, same):
    return [lineup for lineup in tuples if same or len(set(lineup)) > 1]


@given(POOLS, SEATS, st.booleans())
def test_product_is_every_ordered_choice(pool, seats, same):
    expected = with_two_agents(product(pool, repeat=seats), same)
    rule = Lineups(rule="product", agents=pool, same=same)
    if expected:
        assert everything(rule, numbered_roles(seats)) == expected
    else:
        with pytest.raises(BadLineup, match="has no matches"):
            rule.count(numbered_roles(seats))


@given(POOLS, SEATS, st.booleans())
def test_combinations_are_every_unordered_choice_with_repetitions(pool, seats, same):
    expected = with_two_agents(combinations_with_replacement(pool, seats), same)
    if expected:
        assert everything(Lineups(rule="combinations", agents=pool, same=same), numbered_roles(seats)) == expected


@given(POOLS, SEATS)
def test_subsets_are_every_choice_of_different_agents(pool, seats):
    rule = Lineups(rule="subsets", agents=pool)
    if len(pool) < seats:
        with pytest.raises(BadLineup, match=f"need {seats} different ones"):
            rule.count(numbered_roles(seats))
    else:
        assert everything(rule, numbered_roles(seats)) == list(combinations(pool, seats))


def test_each_fills_all_seats_with_one_agent():
    assert everything(Lineups(rule="each", agents=("a", "b")), numbered_roles(3)) == [("a",) * 3, ("b",) * 3]


def test_together_seats_every_agent_once():
    rule = Lineups(rule="together", agents=("a", "b", "c"))
    assert everything(rule, numbered_roles(3)) == [("a", "b", "c")]
    with pytest.raises(BadLineup, match="3 should play together, but there are 4 free seats"):
        rule.count(numbered_roles(4))


@given(st.integers(1, 5), st.integers(1, 4))
def test_population_seats_each_agent_in_every_position_once(types, positions):
    pool = tuple("abcde"[:types])
    [lineup] = everything(Lineups(rule="population", agents=pool), numbered_roles(types * positions))
    seatings = Counter((agent, seat % positions) for seat, agent in enumerate(lineup))
    assert seatings == Counter({(agent, position): 1 for agent in pool for position in range(positions)})


def test_rule_fills_only_the_seats_that_are_not_fixed():
    rule = Lineups(rule="each", agents=("m1", "m2"), fixed={"p2": "r", "p3": "r"})
    assert everything(rule, numbered_roles(3)) == [("m1", "r", "r"), ("m2", "r", "r")]
    with pytest.raises(BadLineup, match="no seat “p3”; there are p1, p2"):
        rule.count(numbered_roles(2))


@given(POOLS, st.integers(0, 12))
def test_rotation_gives_every_agent_every_seat(pool, repetition):
    rule = Lineups(rule="together", agents=pool, rotate=True)
    roles = numbered_roles(len(pool))
    shift = repetition % len(pool)
    assert everything(rule, roles, repetition) == [(*pool[shift:], *pool[:shift])]
    seats = [everything(rule, roles, repetition + extra)[0] for extra in range(len(pool))]
    assert all(set(agents_in_seat) == set(pool) for agents_in_seat in zip(*seats, strict=True))


@given(POOLS, SEATS, st.integers(1, 30), st.integers(0, 3))
def test_sample_has_distinct_line_ups_and_depends_on_its_seed(pool, seats, most, seed):
    product_rule = Lineups(rule="product", agents=pool)
    rule = Lineups(rule="product", agents=pool, sample=most, sample_seed=seed)
    drawn = everything(rule, numbered_roles(seats))
    assert len(set(drawn)) == len(drawn) == min(most, len(pool) ** seats)
    assert set(drawn) <= set(everything(product_rule, numbered_roles(seats)))
    assert everything(rule, numbered_roles(seats)) == drawn


def test_other_seeds_sample_other_line_ups():
    drawn = {
        tuple(everything(Lineups(rule="product", agents=tuple("abcde"), sample=5, sample_seed=seed), numbered_roles(3)))
        for seed in range(5)
    }
    assert len(drawn) == 5


def test_listed_line_ups_name_every_seat():
    rule = Lineups(rule="listed", listed=({"p1": "a", "p2": "a"}, {"p2": "b", "p1": "a"}))
    assert everything(rule, numbered_roles(2)) == [("a", "a"), ("a", "b")]
    assert rule.labels() == ("a", "b")
    with pytest.raises(BadLineup, match="Line-up 1: seat “p3” is missing or unknown"):
        rule.count(numbered_roles(3))


@pytest.mark.parametrize(
    ("rule", "error"),
    [
        (Lineups(agents=("a", "a")), "listed only once"),
        (Lineups(), "at least one is needed"),
        (Lineups(rule="listed"), "at least one is needed"),
        (Lineups(rule="population", agents=("a", "b")), "3 seats cannot be divided equally among 2"),
    ],
)
def test_unfit_rule_is_refused_with_its_reason(rule, error):
    with pytest.raises(BadLineup, match=error):
        rule.count(numbered_roles(3))


def test_index_out_of_range_is_an_error():
    with pytest.raises(IndexError):
        Lineups(agents=("a", "b")).at(4, numbered_roles(2))


def test_millionth_line_up_is_computed_quickly():
    rule = Lineups(rule="combinations", agents=tuple(f"agent {n}" for n in range(60)), sample=10**9)
    started_at = time.monotonic()
    assert len(set(rule.at(1_000_000, numbered_roles(9)).values())) > 1
    assert time.monotonic() - started_at < 0.5


def test_rule_survives_json():
    rule = Lineups(rule="each", agents=("a",), fixed={"p2": "r"}, rotate=True)
    assert Lineups.model_validate(rule.model_dump(mode="json")) == rule
