"""What stands beside the effects: other models, far values, those excluded after treatment, bounds, and warnings."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from analysis import toolbox
from analysis.data import Data, Field
from analysis.options import Options
from analysis.registry import get_analysis
from analysis.running import run_analysis
from analysis.tests.building import InMemory, match
from analysis.toolbox.nonlinear import logit_effects, ordered_logit


def analysed(name, tables, values=None):
    outcome = run_analysis(get_analysis(name), Data([InMemory(tables, values)]), Options(draws=300))
    assert outcome.status == "done", outcome.reason
    return outcome


def people(number, arm, value, **columns):
    return match(number, player_alice="human", participant_alice=f"p{number}", factor_frame=arm, efficiency=value,
                 seed=number, **columns)  # fmt: skip


def checks(outcome, term="efficiency: factor_frame=b"):
    prefix = f"{term}: "
    return {name.removeprefix(prefix): row for name, row in outcome.numbers.items() if name.startswith(prefix)}


def test_marginal_effects_are_those_of_statsmodels():
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"a": rng.choice(list("xy"), 300), "b": rng.choice(list("uv"), 300), "g": np.arange(300) // 4})
    rows["y"] = (rng.random(300) < 0.3 + 0.3 * (rows["a"] == "y")).astype(float)
    found = {row["term"]: row for row in logit_effects(rows, "y", {"a": "x", "b": "u"}, "g")}
    fit = smf.logit("y ~ C(a) + C(b)", rows).fit(disp=0, cov_type="cluster", cov_kwds={"groups": rows["g"]})
    theirs = fit.get_margeff(dummy=True).summary_frame()
    for name, term in (("a=y", "C(a)[T.y]"), ("b=v", "C(b)[T.v]")):
        assert found[name]["estimate"] == pytest.approx(theirs.loc[term, "dy/dx"])
        assert found[name]["se"] == pytest.approx(theirs.loc[term, "Std. Err."], rel=1e-4)
        assert found[name]["df"] == 74
    rows["y"] = (rows["a"] == "y").astype(float)
    assert logit_effects(rows, "y", {"a": "x"}, "g") == [], "a level that decides the outcome has no logit"


def test_the_ordered_logit_finds_the_odds_ratio():
    rng = np.random.default_rng(2)
    arm = rng.choice(list("xy"), 2000)
    rows = pd.DataFrame({"a": arm, "y": np.digitize(1.0 * (arm == "y") + rng.logistic(size=2000), [-1, 0, 1])})
    (row,) = ordered_logit(rows, "y", {"a": "x"})
    assert row["estimate"] == pytest.approx(1, abs=0.2) and row["low"] < 1 < row["high"]


def test_ranges_are_read_from_the_codebook():
    assert Field("number", values="from 0; to 1; empty if it has no value").range == (0, 1)
    assert Field("integer", values="from 0; empty").range == (0, None)
    assert Field("number", values="from -2.5; to 1e+06").range == (-2.5, 1e6)
    assert Field("integer", values="1 not at all to 7 very much").range == (1, 7)
    assert Field("boolean").range == (0, 1) and Field("number", values="any").range == (None, None)


def test_means_stay_within_the_range_of_the_result():
    rows = [people(number, "ab"[number % 2], 0.02 * (number < 3)) for number in range(30)]
    values = {"efficiency": "from 0; to 1"}
    low, free = (analysed("general.outcomes", {"matches": rows}, some).numbers["efficiency"] for some in (values, None))
    assert free["low"] < 0 < low["low"] < low["estimate"] < low["high"]
    all_0 = analysed("general.outcomes", {"matches": [people(n, "a", 0.0) for n in range(30)]}, values)
    end = all_0.numbers["efficiency"]
    t = 2.045230
    assert (end["low"], end["high"]) == (0, pytest.approx(t * t / 30 / (1 + t * t / 30), rel=1e-5))


def test_far_values_are_reported_with_the_effect_without_them():
    rng = np.random.default_rng(3)
    rows = [people(number, "ab"[number % 2], float(rng.normal())) for number in range(60)]
    rows[1]["efficiency"] = 500.0
    outcome = analysed("general.effects", {"matches": rows})
    check = checks(outcome)["without 1 values beyond 10 interquartile ranges"]
    assert abs(check["estimate"]) < 2 < abs(outcome.numbers["efficiency: factor_frame=b"]["estimate"])
    assert check["n"] == 59
    warnings = analysed("general.outcomes", {"matches": rows}).result.warnings
    assert any("further than 10 interquartile ranges" in warning for warning in warnings)


def test_effects_are_repeated_with_those_excluded_after_treatment():
    """Among those analysed b is better; with those who failed the quiz, a is; a pilot's match counts in neither."""
    rows = [people(number, "ab"[number % 2], 0.5 + 0.1 * (number % 2) + 0.001 * number) for number in range(40)]
    for number in range(40, 60):
        excluded = people(number, "b", 0.01 * (number - 40))
        rows.append({**excluded, "in_dataset": False, "reason": "failed_quiz", "reasons": "failed_quiz"})
    rows.append({**people(60, "b", 999.0), "in_dataset": False, "reason": "pilot", "reasons": "pilot"})
    outcome = analysed("general.effects", {"matches": rows})
    completed = outcome.numbers["efficiency: factor_frame=b"]
    assigned = checks(outcome)["assigned: with those excluded after treatment"]
    assert completed["estimate"] > 0 > assigned["estimate"]
    assert (completed["n"], assigned["n"]) == (40, 60)
    assert any("other sign" in warning for warning in outcome.result.warnings)


@pytest.mark.slow
def test_bounds_stand_beside_effects_when_people_are_lost_differently():
    rng = np.random.default_rng(4)
    rows, participants = [], []
    for number in range(80):
        arm, kept = "ab"[number % 2], number % 2 == 0 or number % 8 != 1
        participants.append({"participant": f"p{number}", "person": f"p{number}", "role": "alice", "version": 1,
                             "cell": 1 + number % 2, "stage": "in_dataset" if kept else "began", "in_dataset": kept,
                             "reasons": None if kept else "partner_left", "factor_frame": arm})  # fmt: skip
        if kept:
            rows.append(people(number, arm, float(rng.normal())))
    tables = {"matches": rows, "participants": participants}
    outcome = analysed("general.effects", tables)
    outcomes = {row["participant_alice"]: row["efficiency"] for row in rows}
    everybody = [{**person, "y": outcomes.get(person["participant"])} for person in participants]
    expected = toolbox.lee_bounds(everybody, "y", "factor_frame", "in_dataset", people=["person"])
    row = next(row for row in outcome.tables["coefficients"].records if row["term"] == "factor_frame=b")
    assert (row["lee_low"], row["lee_high"]) == pytest.approx((expected["low"], expected["high"]))
    check = checks(outcome)["Lee bounds"]
    assert (check["low"], check["high"]) == pytest.approx((expected["ci_low"], expected["ci_high"]), rel=0.1)
    flow = analysed("general.attrition", tables)
    assert {(row["reason"], row["when"], row["people"]) for row in flow.tables["exclusions"].records} == {
        ("another person left", "after randomisation", 10)}  # fmt: skip
    assert flow.numbers["frame"]["method"] == "Fisher"


def test_crossed_factors_are_shown_as_cell_means_with_their_contrast():
    rng = np.random.default_rng(5)
    rows = [people(number, "ab"[number % 2], float((number % 4 == 3) + 0.1 * rng.normal()),
                   factor_talk="xy"[number // 2 % 2]) for number in range(40)]  # fmt: skip
    outcome = analysed("general.effects", {"matches": rows})
    contrast = outcome.numbers["efficiency: factor_frame=b:factor_talk=y"]
    assert contrast["estimate"] == pytest.approx(1, abs=0.2) and contrast["components"] == 10
    cells = {(row["first"], row["second"]): row["estimate"] for row in outcome.tables["crossed"].records}
    assert contrast["estimate"] == pytest.approx(
        cells["b", "y"] - cells["a", "y"] - cells["b", "x"] + cells["a", "x"])  # fmt: skip
    row = next(row for row in outcome.tables["coefficients"].records if ":" in row["term"])
    assert (row["factor"], row["level"], row["reference"]) == ("frame × talk", "b · y", "a · x")
    assert outcome.numbers["efficiency: factor_frame=b"]["estimate"] == pytest.approx(0.5, abs=0.2), "averaged"


def test_the_position_of_a_match_is_a_row_of_its_own():
    rng, rows = np.random.default_rng(6), []
    for person in range(20):
        for position in (1, 2, 3):
            rows.append(match(len(rows), player_alice="human", participant_alice=f"p{person}", session=position,
                              factor_frame="ab"[(person + position) % 2], seed=len(rows),
                              efficiency=float(position + rng.normal())))  # fmt: skip
    numbers = analysed("general.effects", {"matches": rows}).numbers
    assert numbers["efficiency: position=3"]["estimate"] == pytest.approx(2, abs=0.8)
    assert "efficiency: factor_frame=b:position=2" not in numbers


def test_small_cells_and_uneven_gaps_are_warned_of():
    rows = [people(number, "a" if number < 30 else "b", None if 5 < number < 30 else 0.1 * number, factor_talk="x")
            for number in range(32)]  # fmt: skip
    rows += [people(40 + number, "a", 0.3, factor_talk="y") for number in range(20)]
    text = " ".join(analysed("general.outcomes", {"matches": rows}).result.warnings)
    assert "1 of 3 cells of frame, talk (matches)" in text
    assert "1 of 4 combinations of levels" in text
    assert "48 % at frame: a, but for 0 % at b" in text
