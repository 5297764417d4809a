"""general.order on datasets whose effects are computable by hand."""

from __future__ import annotations

import pytest

from analysis import load
from analysis.general.order import BOTH, SECOND
from analysis.tests.building import dataset, match


@pytest.fixture
def outcome_of(tmp_path):
    """Return a function that writes matches and runs the analysis."""
    return lambda rows: load(dataset(tmp_path / "data", {"matches": rows})).run("general.order")


def sessions(people, arms_of, efficiency):
    """Return a match for every person and position."""
    rows = []
    for person in range(people):
        for session, arm in enumerate(arms_of(person), start=1):
            rows.append(match(len(rows), player_alice="human", participant_alice=f"p{person}", session=session,
                              factor_frame=arm, efficiency=efficiency(person, session, arm)))  # fmt: skip
    return rows


def noise(person):
    return (person % 5 - 2) / 100


def rows_of(outcome, table):
    assert outcome.status == "done", outcome.reason
    return outcome.tables[table].records


def test_position_order_and_carry_over_where_arms_repeat(outcome_of):
    arms = [("give", "give"), ("give", "take"), ("take", "give"), ("take", "take")]

    def efficiency(person, session, arm):
        first = arms[person % 4][0]
        carried = 0.2 if session == 2 and first == "take" else 0
        return 0.3 + 0.1 * (arm == "take") + 0.05 * (session == 2) + carried + noise(person // 4)

    outcome = outcome_of(sessions(40, lambda person: arms[person % 4], efficiency))
    carried = rows_of(outcome, "carry_over")[0]
    assert (carried["of"], carried["level"], carried["reference"]) == (SECOND, "take", "give")
    assert carried["estimate"] == pytest.approx(0.2) and carried["low"] < 0.2 < carried["high"]
    assert (carried["n"], carried["method"]) == (40, "CR3")
    means = {(row["order"], row["position"]): (row["estimate"], row["arm"]) for row in rows_of(outcome, "positions")}
    assert means["take → give", 2] == (pytest.approx(0.55), "give")
    assert means["all orders", 1] == (pytest.approx(0.35), "give, take")
    assert {row["factor"] for row in rows_of(outcome, "effects")} == {"Position", "Order"}


def test_in_a_crossover_orders_are_compared_over_both_matches(outcome_of):
    def arms(person):
        return ("give", "take") if person % 2 else ("take", "give")

    def efficiency(person, session, arm):
        carried = 0.2 if session == 2 and arm == "give" else 0  # after "take"
        return 0.3 + 0.1 * (arm == "take") + 0.05 * (session == 2) + carried + noise(person // 2)

    outcome = outcome_of(sessions(20, arms, efficiency))
    carried = rows_of(outcome, "carry_over")[0]
    sign = 1 if carried["level"] == "take" else -1
    assert (carried["of"], carried["estimate"]) == (BOTH, pytest.approx(sign * 0.2))
    assert carried["n"] == 20


def test_without_arms_within_participants_only_positions_are_compared(outcome_of):
    rows = sessions(12, lambda person: ["give" if person % 2 else "take"] * 3,
                    lambda person, session, arm: 0.1 * session + noise(person))  # fmt: skip
    outcome = outcome_of(rows)
    assert set(outcome.tables) == {"positions", "effects"}
    found = {row["level"]: row["estimate"] for row in rows_of(outcome, "effects")}
    assert found == {"2": pytest.approx(0.1), "3": pytest.approx(0.2)}
    assert {row["order"] for row in rows_of(outcome, "positions")} == {"all orders"}


def test_one_match_per_person_is_skipped(outcome_of):
    outcome = outcome_of(sessions(4, lambda person: ["give"], lambda *_where: 0.5))
    assert (outcome.status, outcome.reason) == ("skipped", "Nobody played several matches.")
