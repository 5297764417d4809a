"""The methods that `effects` chooses among, interactions, and bounds, by hand or by other software."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from analysis import toolbox
from analysis.toolbox.resampled import wild_bootstrap
from conftest import slow_except


def crossed(rng, *, units: int = 30, n: int = 120, effect: float = 1.0):
    """Return rows of a 2 × 3 design in units that share a shock, with an interaction of a = 1 and b = z."""
    shock, rows = rng.normal(size=units), []
    for number in range(n):
        a, b, unit = int(rng.integers(2)), str(rng.choice(list("xyz"))), number % units
        y = 0.5 * a + effect * a * (b == "z") + shock[unit] + rng.normal()
        rows.append({"a": a, "b": b, "unit": f"u{unit}", "y": float(y)})
    return rows


def test_crossed_factors_have_the_interactions_of_the_regression_with_products():
    rows = crossed(np.random.default_rng(1))
    fit = toolbox.effects(rows, "y", {"a": 0, "b": "x"}, group="unit")
    model = smf.ols("y ~ C(a) * C(b)", pd.DataFrame(rows))
    theirs = model.fit(
        cov_type="cluster-jk", cov_kwds={"groups": np.unique([r["unit"] for r in rows], return_inverse=True)[1]}
    )
    found = {term["term"]: term for term in fit["terms"]}
    assert list(found) == ["Intercept", "a=1", "b=y", "b=z", "a=1:b=y", "a=1:b=z"]
    for level in "yz":
        name, term = f"C(a)[T.1]:C(b)[T.{level}]", found[f"a=1:b={level}"]
        assert term["estimate"] == pytest.approx(theirs.params[name])
        assert term["se"] == pytest.approx(theirs.bse[name], rel=0.02), "theirs is centred at the jackknife's mean"
        cells = [{r["unit"] for r in rows if r["a"] == a and r["b"] == b} for a in (0, 1) for b in ("x", level)]
        assert term["components"] == min(map(len, cells))
    additive = smf.ols("y ~ C(a) + C(b)", pd.DataFrame(rows)).fit()
    assert found["a=1"]["estimate"] == pytest.approx(additive.params["C(a)[T.1]"]), "averaged over the other factor"
    assert len(toolbox.effects(rows, "y", {"a": 0, "b": "x"}, group="unit", interactions=())["terms"]) == 4
    incomplete = [row for row in rows if (row["a"], row["b"]) != (1, "z")]
    assert len(toolbox.effects(incomplete, "y", {"a": 0, "b": "x"}, group="unit")["terms"]) == 4


def in_sessions(levels, people: int = 4):
    """Return rows of sessions whose people all meet, and of which each has one level."""
    rng = np.random.default_rng(len(levels))
    return [
        {"y": float(rng.normal() + 2 * level), "a": level, "session": f"s{session}", "block": session // 2,
         "p": 0.5, "who": f"{session}.{person}"}
        for session, level in enumerate(levels) for person in range(people)
    ]  # fmt: skip


def test_few_units_are_tested_by_their_recorded_assignment():
    rows = in_sessions([0, 1, 1, 0])
    fit = toolbox.effects(rows, "y", {"a": 0}, people=["who"], group="session",
                          assignment={"unit": "session", "block": None, "probability": "p"})  # fmt: skip
    means = [np.mean([row["y"] for row in rows if row["session"] == f"s{s}"]) for s in range(4)]
    differences = [abs(sum(means[s] for s in pair) - sum(means[s] for s in range(4) if s not in pair))
                   for pair in combinations(range(4), 2)]  # fmt: skip
    observed = abs(means[1] + means[2] - means[0] - means[3])
    term = fit["terms"][1]
    assert (fit["method"], term["method"], term["components"], term["note"]) == (
        "randomisation", "randomisation", 2, "",
    )  # fmt: skip
    assert term["p"] == pytest.approx(sum(d >= observed - 1e-12 for d in differences) / 6)
    assert (term["smallest_p"], term["low"]) == (pytest.approx(2 / 6), None)
    assert any("below 0.333" in warning for warning in fit["warnings"])
    blocks = toolbox.effects(rows, "y", {"a": 0}, group="session", assignment={"unit": "session", "block": "block"})
    assert blocks["terms"][1]["smallest_p"] == pytest.approx(2 / 4)
    assert toolbox.effects(rows, "y", {"a": 0}, group="session")["terms"][1]["method"] == "none"


def test_the_randomisation_interval_has_the_effects_that_are_not_rejected():
    rng = np.random.default_rng(4)
    level = rng.permutation([0, 1] * 4)
    rows = [{"y": float(level[n] + rng.normal()), "a": int(level[n]), "unit": n, "all": 1} for n in range(8)]
    term = toolbox.effects(rows, "y", {"a": 0}, group="all", assignment={"unit": "unit"})["terms"][1]
    y = np.array([row["y"] for row in rows])

    def p(effect):
        def difference(treated, values):
            return values[list(treated)].mean() - np.delete(values, list(treated)).mean()

        under_null = y - effect * level
        drawn = [abs(difference(some, under_null)) for some in combinations(range(8), 4)]
        return np.mean(np.array(drawn) >= abs(difference(np.flatnonzero(level), under_null)) - 1e-9)

    assert (term["method"], term["p"]) == ("randomisation", pytest.approx(p(0)))
    for end, outside in ((term["low"], -1e-3), (term["high"], 1e-3)):
        assert p(end + outside) < 0.05 <= p(end - outside)


def round_robin(rng, *, people: int = 24, by_session: bool = False):
    """Return matches of people who all meet through one another; one component."""
    skill, rows = rng.normal(size=people), []
    for first in range(people):
        for step in (1, 2):
            second = (first + step) % people
            group = f"g{(first // 6) if by_session else 0}"
            arm = first // 6 % 2 if by_session else int(rng.integers(2))
            rows.append({"y": float(skill[first] + skill[second] + rng.normal()), "a": arm, "one": f"p{first}",
                         "two": f"p{second}", "group": group})  # fmt: skip
    return rows


def test_people_who_all_meet_are_left_out_one_by_one():
    rows = round_robin(np.random.default_rng(5))
    fit = toolbox.effects(rows, "y", {"a": 0}, people=["one", "two"])
    frame = pd.DataFrame(rows)
    estimates = []
    for person in sorted(set(frame["one"])):
        rest = frame[(frame["one"] != person) & (frame["two"] != person)]
        estimates.append(rest["y"][rest["a"] == 1].mean() - rest["y"][rest["a"] == 0].mean())
    term = fit["terms"][1]
    changes = np.array(estimates) - term["estimate"]
    assert (fit["method"], term["df"], fit["clusters"]) == ("person", 22, 1)
    assert term["se"] == pytest.approx(np.sqrt(23 / 24 * (changes**2).sum()))
    assert any("one person at a time" in warning for warning in fit["warnings"])
    few = toolbox.effects(round_robin(np.random.default_rng(5), people=19), "y", {"a": 0}, people=["one", "two"])
    assert few["terms"][1]["method"] == "none"


def test_people_are_never_left_out_one_by_one_where_arms_were_set_by_group():
    rows = round_robin(np.random.default_rng(6), by_session=True)
    fit = toolbox.effects(rows, "y", {"a": 0}, people=["one", "two"], group="group")
    assert (fit["method"], fit["terms"][1]["low"], fit["terms"][1]["p"]) == ("none", None, None)
    assert "unit holds half" in fit["terms"][1]["note"] or fit["clusters"] < 5


@pytest.mark.parametrize("units", slow_except([5, 7, 13, 15], [5]))
def test_the_wild_bootstrap_re_estimates_every_draw(units):
    """Against the definition: new outcomes from restricted residuals, the regression again, its CR1 t ratio."""
    rng = np.random.default_rng(units)
    unit = np.repeat(np.arange(units), 4)
    x = np.column_stack([np.ones(len(unit)), rng.integers(0, 2, len(unit)), rng.integers(0, 2, len(unit))])
    y = x @ [1, 0.5, -1] + rng.normal(size=units)[unit] + rng.normal(size=len(unit))
    found = wild_bootstrap(x, y, unit, 1, draws=9999, seed=1, level=0.95)

    def t_ratio(values, tested):
        inverse = np.linalg.inv(x.T @ x)
        beta = inverse @ x.T @ values
        scores = np.array([x[unit == g].T @ (values - x @ beta)[unit == g] for g in range(units)])
        return (beta[1] - tested) / np.sqrt((inverse @ (scores.T @ scores) @ inverse)[1, 1])

    webb = [s * v for s in (-1, 1) for v in np.sqrt([0.5, 1, 1.5])]
    values = webb if units < 12 else [-1.0, 1.0]
    enumerated = len(values) ** units <= 9999
    assert found["enumerated"] == enumerated and found["draws"] == (len(values) ** units if enumerated else 9999)
    some = (np.array([*product(values, repeat=units)]) if enumerated else
            np.random.default_rng(1).choice([*sorted(values)], size=(9999, units)))  # fmt: skip

    def p(tested, weights):
        others = np.delete(x, 1, axis=1)
        residuals = (y - tested * x[:, 1]) - others @ np.linalg.lstsq(others, y - tested * x[:, 1], rcond=None)[0]
        fitted = y - residuals
        drawn = np.array([t_ratio(fitted + w[unit] * residuals, tested) for w in weights])
        more = (np.abs(drawn) >= abs(t_ratio(y, tested)) * (1 - 1e-9)).sum()
        return more / len(weights) if enumerated else (1 + more) / (1 + len(weights))

    if units in (5, 15):
        assert found["p"] == pytest.approx(p(0.0, some), abs=1e-12)
    if units == 13:
        assert found["low"] < found["estimate"] < found["high"]
        assert p(found["high"] + 1e-3, some[::8]) < 0.06


def test_few_units_have_the_wild_bootstrap_beside_them():
    rows = crossed(np.random.default_rng(8), units=12, n=60)
    fit = toolbox.effects(rows, "y", {"a": 0}, group="unit", draws=999)
    assert [row["term"] for row in fit["robustness"]] == ["Intercept", "a=1"]
    assert fit["robustness"][1]["p"] == pytest.approx(fit["terms"][1]["p"], abs=0.2)
    many = toolbox.effects(crossed(np.random.default_rng(8)), "y", {"a": 0}, group="unit")
    assert many["robustness"] == []


def test_levels_and_differences_stay_within_the_range():
    rows = [{"y": float(n % 10 == 0), "a": n % 2, "unit": n} for n in range(20)]
    fit = toolbox.effects(rows, "y", {"a": 1}, group="unit", bounds=(0, 1))
    intercept, difference = fit["terms"]
    assert intercept["note"] == "nothing varies" or intercept["low"] >= 0
    assert -1 <= difference["low"] < difference["high"] <= 1
    alone = toolbox.effects(rows, "y", {}, group="unit", bounds=(0, 1))["terms"][0]
    se = alone["se"] / (0.1 * 0.9)
    logit = [np.log(end / (1 - end)) for end in (0.1, alone["low"], alone["high"])]
    assert (logit[2] - logit[0], logit[0] - logit[1]) == pytest.approx([2.093024 * se] * 2)
    wide = toolbox.effects([{**row, "y": 0.001 * (row["unit"] == 3)} for row in rows], "y", {}, bounds=(0, 1))
    assert wide["terms"][0]["low"] > 0


def test_lee_bounds_by_hand():
    """Of arm 1, 4 of 4 are analysed, of arm 0 only 2 of 4: half of arm 1 is trimmed."""
    rows = [{"arm": 1, "y": y, "kept": True} for y in (1.0, 2.0, 3.0, 4.0)]
    rows += [{"arm": 0, "y": y, "kept": y is not None} for y in (1.0, 3.0, None, None)]
    found = toolbox.lee_bounds(rows, "y", "arm", "kept")
    assert (found["low"], found["high"], found["trimmed"]) == (1.5 - 2, 3.5 - 2, 0.5)
    assert (found["n"], found["shares"]) == (8, {"0": 0.5, "1": 1.0})
    turned = toolbox.lee_bounds([{**row, "arm": 1 - row["arm"]} for row in rows], "y", "arm", "kept")
    assert (turned["low"], turned["high"]) == (2 - 3.5, 2 - 1.5)


def test_lee_bounds_weigh_the_value_at_the_cut():
    """3 of 4 against 2 of 4: a third of arm 1 goes, which is one value of the three; ties share what is left."""
    arm_0 = [{"arm": "a", "y": y, "kept": y is not None} for y in (0.0, 0.0, 0.0, None)]
    arm_1 = [{"arm": "b", "y": y, "kept": True} for y in (1.0, 2.0, 2.0, 2.0)]
    found = toolbox.lee_bounds([*arm_0, *arm_1], "y", "arm", "kept")
    assert (found["low"], found["high"]) == (pytest.approx((1 + 2 + 2) / 3), pytest.approx(2))
    arm_0 = [{"arm": "a", "y": y, "kept": y is not None} for y in (0.0, 0.0, None, None, None)]
    arm_1 = [{"arm": "b", "y": y, "kept": y is not None} for y in (1.0, 2.0, 3.0, None, None)]
    found = toolbox.lee_bounds([*arm_0, *arm_1], "y", "arm", "kept")
    assert (found["low"], found["high"], found["trimmed"]) == (
        pytest.approx(1.5), pytest.approx(2.5), pytest.approx(1 / 3))  # fmt: skip
    nobody_lost = [row for row in [*arm_0, *arm_1] if row["kept"]]
    equal = toolbox.lee_bounds(nobody_lost, "y", "arm", "kept")
    assert equal["low"] == equal["high"] == 2 and equal["trimmed"] == 0


@pytest.mark.slow
def test_imbens_manskis_interval_holds_the_effect():
    rng, held = np.random.default_rng(9), 0
    for _dataset in range(150):
        arm, kind = rng.integers(0, 2, 150), rng.random(150)
        kept = (kind < 0.6) | ((arm == 1) & (kind < 0.8))
        y = 1.0 * arm + rng.normal(size=150)
        rows = [{"arm": int(a), "y": float(v), "kept": bool(k)} for a, v, k in zip(arm, y, kept, strict=True)]
        found = toolbox.lee_bounds(rows, "y", "arm", "kept", draws=200)
        assert found["ci_low"] < found["low"] <= found["high"] < found["ci_high"]
        held += found["ci_low"] <= 1 <= found["ci_high"]
    assert held >= 0.92 * 150


@pytest.mark.parametrize(
    "rows",
    [[], [{"y": None, "arm": 1, "kept": True}], [{"y": 1.0, "arm": 0, "kept": True}, {"y": None, "arm": 1, "kept": 0}],
     [{"y": float("nan"), "arm": None, "kept": None}]],
)  # fmt: skip
def test_undefined_results_are_none_with_a_note(rows):
    found = toolbox.lee_bounds(rows, "y", "arm", "kept")
    assert found["low"] is None and found["note"]
    fit = toolbox.effects(rows, "y", {"arm": 0}, people=["who"], assignment={"unit": "u"}, bounds=(0, 1))
    assert all(term["low"] is None and term["note"] for term in fit["terms"]) and fit["notes"]


def test_q_values_are_those_of_benjamini_and_hochberg():
    found = toolbox.q_values([0.01, None, 0.04, 0.03, 0.2])
    assert found.pop(1) is None and found == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.2])
