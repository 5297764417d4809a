"""The planned hypotheses: estimates under both estimands, randomisation, Holm, attrition, and what cannot be tested."""

from __future__ import annotations

import json
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

from analysis import toolbox
from analysis.data import Data, load
from analysis.options import Options
from analysis.registry import get_analysis
from analysis.running import run_analysis
from analysis.tests.building import InMemory, match
from analysis.tests.experiments import VALUES, experiment, plan
from conftest import slow_except
from games.conditions import Condition

LOSING = {"give": 0.05, "take": 0.4}


def analysed(tables, planned, *, status="done"):
    data = Data([InMemory(tables, VALUES, analysis_plan=planned)])
    outcome = run_analysis(get_analysis("general.confirmatory"), data, Options(draws=200))
    assert outcome.status == status, outcome.reason
    return outcome


def number(outcome, name="framing", estimand="assigned"):
    return outcome.numbers[f"{name}: {estimand}"]


@pytest.mark.django_db
def test_a_plan_frozen_at_the_launch_is_answered_from_the_export(tmp_path):
    from exports.dataset import export
    from exports.tests import building

    hypothesis = {"name": "horizon", "outcome": "game.efficiency", "contrast": {"factor": "rounds", "levels": [3, 2]}}
    study = building.new_study(grid={"rounds": [2, 3]}, analysis={"hypotheses": [hypothesis]})
    for number in range(8):
        building.complete(study, worker=f"w{number}")
    export(study, tmp_path / "data")
    outcome = run_analysis(get_analysis("general.confirmatory"), load(tmp_path / "data"), Options(draws=100))
    assert outcome.status == "done", outcome.reason
    arms = outcome.tables["people"].records
    assert [(row["level"], row["randomised"], row["analysed"]) for row in arms[:2]] == [("3", 4, 4), ("2", 4, 4)]
    assert "horizon: assigned" in outcome.numbers


def test_without_a_plan_nothing_is_confirmed():
    tables = experiment(np.random.default_rng(1))
    assert analysed(tables, None, status="skipped").reason == "No analysis was planned."


def test_a_hypothesis_on_a_question_that_nobody_in_the_dataset_answered_is_reported_as_untested():
    tables = experiment(np.random.default_rng(1), lost=LOSING, excluded=True)
    people = [row | ({"survey_after_trust": None} if row["in_dataset"] else {}) for row in tables["participants"]]
    planned = plan({"name": "trust", "outcome": "after.trust", "estimand": "completed"})
    (warning,) = analysed({**tables, "participants": people}, planned).result.warnings[:1]
    assert warning == "trust was planned and could not be tested: no match or answer has the outcome."


def test_a_planned_effect_is_that_of_the_first_level_by_the_toolbox():
    tables = experiment(np.random.default_rng(1))
    found = number(analysed(tables, plan()), estimand="completed")
    rows = pd.DataFrame(tables["matches"])
    term = toolbox.effects(rows, "efficiency", {"factor_wording": "give"}, people=["participant_alice"])["terms"][1]
    assert {key: found[key] for key in ("estimate", "se", "low", "high", "p", "df", "method")} == pytest.approx(
        {key: term[key] for key in ("estimate", "se", "low", "high", "p", "df", "method")}
    )
    assert found["estimate"] < -0.1 and found["p_randomisation"] == 1 / 10_000


@pytest.mark.slow
def test_assigned_counts_those_who_were_excluded_after_treatment():
    tables = experiment(np.random.default_rng(2), lost=LOSING, excluded=True)
    outcome = analysed(tables, plan())
    assigned, completed = number(outcome), number(outcome, estimand="completed")
    everybody = pd.DataFrame(tables["matches"])
    means = everybody.groupby("factor_wording")["efficiency"].mean()
    kept = everybody[everybody["in_dataset"]].groupby("factor_wording")["efficiency"].mean()
    assert assigned["estimate"] == pytest.approx(means["take"] - means["give"])
    assert completed["estimate"] == pytest.approx(kept["take"] - kept["give"])
    assert (assigned["n"], completed["n"]) == (80, int(everybody["in_dataset"].sum()))
    arms = {(row["estimand"], row["level"]): row for row in outcome.tables["people"].records}
    assert arms["completed", "take"]["randomised"] == 40 == arms["assigned", "take"]["analysed"]
    assert arms["completed", "take"]["analysed"] == int(
        everybody["in_dataset"][everybody["factor_wording"] == "take"].sum())  # fmt: skip
    assert arms["completed", "take"]["verdict"] == "lost differently"


@pytest.mark.slow
def test_outcomes_that_the_dataset_lacks_are_counted_and_bounded():
    tables = experiment(np.random.default_rng(2), lost=LOSING)
    outcome = analysed(tables, plan())
    lacking = 80 - len(tables["matches"])
    assert any(f"no outcome of {lacking} of 80 people" in warning for warning in outcome.result.warnings)
    bounds = outcome.numbers["framing: assigned: Lee bounds"]
    outcomes = {row["participant_alice"]: row["efficiency"] for row in tables["matches"]}
    people = [{**p, "y": outcomes.get(p["participant"]), "arm": p["factor_wording"] == "take"}
              for p in tables["participants"]]  # fmt: skip
    expected = toolbox.lee_bounds(people, "y", "arm", "in_dataset", people=["participant"], draws=200)
    assert (bounds["low"], bounds["high"]) == pytest.approx((expected["ci_low"], expected["ci_high"]), rel=0.1)


@pytest.mark.slow
def test_randomisation_exchanges_people_within_their_blocks_only():
    """In two blocks of two, four assignments exist: two of them are at least as extreme as the one drawn."""
    rows, people = [], []
    for index, (level, value) in enumerate([("take", 3.0), ("give", 1.0), ("give", 10.0), ("take", 14.0)]):
        rows.append({**match(index, player_alice="human", participant_alice=f"p{index}", seed=index,
                             factor_wording=level, efficiency=value), "stage": "talk"})  # fmt: skip
        people.append({"participant": f"p{index}", "person": f"p{index}", "role": "alice", "version": 1, "cell": 1,
                       "stage": "in_dataset", "in_dataset": True, "factor_wording": level, "match": f"m{index:06}",
                       "assignment_rule": "blocks", "assignment_number": index, "assignment_stratum": "[]",
                       "assignment_block": index // 2, "assignment_open": '{"1": 1.0}'})  # fmt: skip
    outcome = analysed({"matches": rows, "participants": people}, plan())
    drawn = [abs(a * 2 + b * 4) / 2 for a, b in product((1, -1), repeat=2)]
    assert number(outcome)["p_randomisation"] == sum(value >= 3 for value in drawn) / 4
    people[0]["assignment_forced"] = people[1]["assignment_forced"] = True
    forced = analysed(
        {"matches": rows, "participants": [{"assignment_forced": False, **row} for row in people]}, plan()
    )
    assert number(forced)["p_randomisation"] == sum(2 + b * 4 >= 6 or 2 + b * 4 <= -6 for b in (1, -1)) / 2


@pytest.mark.slow
def test_without_a_recorded_assignment_there_is_no_p_by_randomisation():
    tables = experiment(np.random.default_rng(1))
    people = [{k: v for k, v in row.items() if not k.startswith("assignment")} for row in tables["participants"]]
    outcome = analysed({**tables, "participants": people}, plan())
    assert number(outcome)["p_randomisation"] is None
    assert any("assignment is not in the dataset" in warning for warning in outcome.result.warnings)


@pytest.mark.slow
def test_holm_counts_every_planned_hypothesis_of_the_family():
    tables = experiment(np.random.default_rng(3), effect=-0.05)
    hypotheses = [{}, {"name": "trust", "outcome": "after.trust"}, {"name": "gone", "outcome": "talk.nothing"},
                  {"name": "alone", "outcome": "after.trust", "family": "other"}]  # fmt: skip
    outcome = analysed(tables, plan(*hypotheses))
    expected = toolbox.holm([number(outcome)["p"], number(outcome, "trust")["p"], 1.0])
    assert [number(outcome)["p_holm"], number(outcome, "trust")["p_holm"]] == pytest.approx(expected[:2])
    assert number(outcome, "alone")["p_holm"] == number(outcome, "alone")["p"]
    assert any(warning.startswith("gone was planned") for warning in outcome.result.warnings)


@pytest.mark.slow
def test_a_question_is_an_outcome_and_an_earlier_answer_adjusts():
    tables = experiment(np.random.default_rng(4))
    outcome = analysed(tables, plan({"adjust": ["before.age"]}, {"name": "trust", "outcome": "after.trust"}))
    rows = pd.DataFrame(tables["matches"]).assign(age=[row["survey_before_age"] for row in tables["participants"]])
    x = np.column_stack([np.ones(80), rows["factor_wording"] == "take", rows["age"]]).astype(float)
    assert number(outcome)["estimate"] == pytest.approx(np.linalg.lstsq(x, rows["efficiency"], rcond=None)[0][1])
    answers = pd.DataFrame(tables["participants"]).groupby("factor_wording")["survey_after_trust"].mean()
    assert number(outcome, "trust")["estimate"] == pytest.approx(answers["take"] - answers["give"])
    assert "framing: assigned: without the adjustment" in outcome.numbers
    assert "trust: assigned: ordered logit, log odds ratio" in outcome.numbers


@pytest.mark.slow
def test_a_question_may_be_called_like_a_metric():
    tables = experiment(np.random.default_rng(4))
    people = [{**row, "survey_after_efficiency": row["survey_after_trust"]} for row in tables["participants"]]
    hypotheses = {"outcome": "after.efficiency"}, {"name": "trust", "outcome": "after.trust"}
    outcome = analysed({**tables, "participants": people}, plan(*hypotheses))
    assert number(outcome)["estimate"] == number(outcome, "trust")["estimate"]


def pairs(rule, levels, values):
    """Return matches of two people, of whom the second completes the group of the first, and everybody's draws."""
    rows, people = [], []
    for index, (level, value) in enumerate(zip(levels, values, strict=True)):
        names = {"alice": f"a{index}", "bob": f"b{index}"}
        rows.append({**match(index, player_alice="human", player_bob="human", seed=index, factor_wording=level,
                             participant_alice=names["alice"], participant_bob=names["bob"], efficiency=value),
                     "stage": "talk"})  # fmt: skip
        for role, name in names.items():
            completes = role == "bob"
            chances = {"1": 1.0} if completes else {"1": 0.5, "2": 0.5} if rule != "emptiest" or index % 2 == 0 else {
                str(1 + (level == "take")): 1.0}  # fmt: skip
            people.append({"participant": name, "person": name, "role": role, "version": 1,
                           "cell": 1 + (level == "take"), "stage": "in_dataset", "in_dataset": True,
                           "factor_wording": level, "match": f"m{index:06}", "assignment_rule": rule,
                           "assignment_number": len(people) + 1, "assignment_stratum": None,
                           "assignment_block": index // 2 if rule == "blocks" and not completes else None,
                           "assignment_open": json.dumps(chances), "assignment_forced": False,
                           "assignment_completes": completes})  # fmt: skip
    cells = [{"version": 1, "cell": 1 + (level == "take"), "factor_wording": level, "seats": "{}"}
             for level in ("give", "take")]  # fmt: skip
    return {"matches": rows, "participants": people, "cells": cells}


LEVELS, OUTCOMES = ["take", "give", "give", "take", "take", "give"], [3.0, 1.0, 2.0, 4.0, 7.0, 4.5]


@pytest.mark.parametrize("rule", slow_except(["blocks", "emptiest"], ["blocks"]))
def test_groups_are_exchanged_as_they_were_assigned(rule):
    """Three pairs of groups, each with both framings: eight assignments, and the one drawn has the largest effect."""
    found = number(analysed(pairs(rule, LEVELS, OUTCOMES), plan()))
    assert found["p_randomisation"] == 2 / 8


@pytest.mark.slow
def test_with_random_assignment_any_group_may_be_exchanged():
    found = number(analysed(pairs("random", LEVELS, OUTCOMES), plan()))
    treated = [set(some) for some in combinations(range(6), 3)]
    effects = [abs(sum(OUTCOMES[i] for i in some) - sum(OUTCOMES[i] for i in range(6) if i not in some))
               for some in treated]  # fmt: skip
    assert found["p_randomisation"] == sum(effect >= 6.5 - 1e-9 for effect in effects) / len(effects)


@pytest.mark.slow
def test_the_plans_own_exclusions_apply_to_both_estimands_and_are_undone_as_a_check():
    tables = experiment(np.random.default_rng(5))
    young = sum(row["survey_before_age"] < 18 for row in tables["participants"])
    outcome = analysed(tables, plan({"exclude": ["before.age < 18"]}))
    assert young and [number(outcome, estimand=e)["n"] for e in ("assigned", "completed")] == [80 - young] * 2
    assert outcome.numbers[f"framing: assigned: with the {young} whom the plan excludes"]["n"] == 80


@pytest.mark.slow
def test_people_are_compared_with_agents_in_the_same_configuration():
    rng, rows = np.random.default_rng(6), []
    for index in range(60):
        human = index % 2 == 0
        rounds = 1 + index % 4 // 2
        who = {"player_bob": "human", "participant_bob": f"b{index}"} if human else {"player_bob": "script:b"}
        rows.append({**match(index, player_alice="human", participant_alice=f"a{index}", seed=index,
                             config_rounds=rounds, factor_opponent="person" if human else "script",
                             efficiency=float(rounds + 0.5 * human + 0.1 * rng.normal()), **who),
                     "stage": "talk"})  # fmt: skip
    contrast = {"players": ["human", "agent"], "role": "bob"}
    found = number(analysed({"matches": rows}, plan({"name": "people", "contrast": contrast})), "people")
    assert found["estimate"] == pytest.approx(0.5, abs=0.1) and found["method"] == "CR3"


@pytest.mark.slow
def test_an_interaction_is_the_difference_of_differences():
    tables = experiment(np.random.default_rng(7))
    for index, row in enumerate(tables["matches"]):
        row["factor_horizon"] = "long" if index % 8 < 4 else "short"
        row["efficiency"] += 0.3 * (row["factor_horizon"] == "long" and row["factor_wording"] == "take")
    contrast = {"factors": ["wording", "horizon"], "levels": [["take", "give"], ["long", "short"]]}
    found = number(analysed(tables, plan({"name": "both", "contrast": contrast})), "both")
    means = pd.DataFrame(tables["matches"]).groupby(["factor_wording", "factor_horizon"])["efficiency"].mean()
    assert found["estimate"] == pytest.approx(means["take", "long"] - means["give", "long"]
                                              - means["take", "short"] + means["give", "short"])  # fmt: skip


@pytest.mark.slow
def test_levels_within_people_are_exchanged_within_people():
    rng, rows = np.random.default_rng(8), []
    for person in range(12):
        order = rng.permutation(["long", "short"]).tolist()
        for position, level in enumerate(order, start=1):
            rows.append({**match(len(rows), player_alice="human", participant_alice=f"p{person}", seed=len(rows),
                                 factor_horizon=level, session=position,
                                 efficiency=float(person + 2 * (level == "long") + 0.1 * rng.normal())),
                         "stage": "talk", "pass": level})  # fmt: skip
    contrast = {"factor": "horizon", "levels": ["long", "short"]}
    found = number(analysed({"matches": rows}, plan({"name": "horizon", "contrast": contrast})), "horizon")
    assert found["estimate"] == pytest.approx(2, abs=0.2) and found["p_randomisation"] == pytest.approx(
        2 / 4096, rel=1e-3
    )


@pytest.mark.parametrize(
    ("condition", "expected"),
    [("before.age < 18", False), ("before.age >= 18 and not before.age > 40", True), ("before.gone != 3", False),
     ("before.word in ['a', 'b'] or false", True), ("before.word < 3", False), ("before.age * 2 == 60", True)],
)  # fmt: skip
def test_conditions_read_as_in_the_plan(condition, expected):
    values = {("before", "age"): 30.0, ("before", "word"): "a"}
    assert Condition.parse(condition).holds(values.get) is expected
