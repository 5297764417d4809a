"""general.questions on datasets with answers known by hand."""

from __future__ import annotations

import json

import pytest

from analysis import load
from analysis.options import Options
from analysis.registry import get_analysis
from analysis.running import run_analysis
from analysis.tests.building import dataset, match

VALUES = {"survey_after_fair": "no; yes", "survey_after_why": "the chosen ones of: speed; chance; habit"}


@pytest.fixture
def asked(tmp_path):
    """Return a function that runs the analysis on people with these answers, by number; odd ones in arm "give"."""

    def run(people, answers, **options):
        rows = [
            {"participant": f"p{n}", "person": f"p{n}", "stage": "in_dataset", "role": "alice", "cell": 1 + n % 2,
             "version": 1, "in_dataset": True, "factor_frame": "give" if n % 2 else "take", **answers(n)}
            for n in range(people)
        ]  # fmt: skip
        matches = [match(n, player_alice="human", participant_alice=f"p{n}", efficiency=n % 7 / 10, payoffs_alice=n)
                   for n in range(people)]  # fmt: skip
        seats = [{"match": f"m{n:06}", "role": "alice", "participant": f"p{n}", "payoff": n} for n in range(people)]
        tables = {"matches": matches, "participants": rows, "seats": seats}
        data = load(dataset(tmp_path / "data", tables, values=VALUES))
        return run_analysis(get_analysis("general.questions"), data, Options(**options))

    return run


def rows_of(outcome, table):
    assert outcome.status == "done", outcome.reason
    return outcome.tables[table].records


def test_answers_are_counted_by_arm_and_factors_have_effects(asked):
    outcome = asked(40, lambda n: {
        "survey_after_fair": "yes" if n % 2 or (n % 4 == 0 and n < 20) else "no",
        "survey_after_trust": 3 + n % 2 + n // 2 % 2,
    })  # fmt: skip
    shares = {(row["option"], row["arm"]): row["estimate"] for row in rows_of(outcome, "shares")}
    assert shares == {("no", "cell 1"): 0.75, ("no", "cell 2"): 0, ("yes", "cell 1"): 0.25, ("yes", "cell 2"): 1}
    effects = {row["what"]: row for row in rows_of(outcome, "effects")}
    assert (effects["Fair: yes"]["factor"], effects["Fair: yes"]["reference"]) == ("frame", "take")
    assert effects["Fair: yes"]["estimate"] == pytest.approx(0.75)
    assert effects["Trust"]["estimate"] == pytest.approx(1) and effects["Trust"]["method"] == "CR3"
    assert {row["arm"]: row["estimate"] for row in rows_of(outcome, "means")} == {"cell 1": 3.5, "cell 2": 4.5}


def test_several_options_may_be_chosen_and_keep_their_order(asked):
    outcome = asked(20, lambda n: {"survey_after_why": json.dumps(["speed", "habit"] if n % 2 else ["habit"])})
    shares = {(row["option"], row["arm"]): row["estimate"] for row in rows_of(outcome, "shares")}
    assert [*dict.fromkeys(option for option, _arm in shares)] == ["speed", "habit"]
    assert shares["speed", "cell 1"] == 0 and shares["speed", "cell 2"] == shares["habit", "cell 1"] == 1


def test_open_text_is_only_counted(asked):
    outcome = asked(12, lambda n: {"survey_before_thoughts": f"I, {n}, wrote this" if n else None})
    assert [*outcome.tables] == ["questions"]
    row = rows_of(outcome, "questions")[0]
    assert (row["question"], row["asked"], row["kind"], row["n"]) == ("Thoughts", "before", "open text", 11)


def test_small_groups_are_hidden(asked):
    outcome = asked(20, lambda n: {"survey_after_fair": "yes" if n % 2 or n < 7 else None})
    rows = {row["arm"]: row for row in rows_of(outcome, "shares")}
    assert (rows["cell 1"]["people"], rows["cell 1"]["estimate"], rows["cell 1"]["n"]) == ("fewer than 5", None, None)
    assert rows["cell 2"]["people"] == "10"
    assert "effects" not in outcome.tables and "associations" not in outcome.tables


def test_answers_are_related_to_outcomes_within_arms(asked):
    outcome = asked(40, lambda n: {"survey_before_age": 20 + 10 * (n % 2) + n // 2})
    rows = {row["key"]: row for row in rows_of(outcome, "associations")}
    assert rows["payoff"]["estimate"] == pytest.approx(1) and rows["payoff"]["n"] == 40
    assert abs(rows["efficiency"]["estimate"]) < 0.3 and rows["efficiency"]["high"] <= 1
