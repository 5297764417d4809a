"""The toolbox compared with the specification's small cases, and with libraries on random data."""

from __future__ import annotations

from statistics import fmean

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats

from analysis import toolbox
from analysis.frames import estimates
from analysis.published import aucarena, coopeval, econarena, econevals, glee
from analysis.toolbox.estimates import two_sided

VALUES, CLUSTERS = [1, 2, 3, 3, 5, 6, 8, 8], "aabbccdd"
ROWS = [{"y": value, "c": cluster} for value, cluster in zip(VALUES, CLUSTERS, strict=True)]
PRIORITIES = [3, 3, 2, 2, 1, 1, 3, 2]
DESIGN = [
    {"d": d, "p": p, "e": e}
    for d, p, e in zip([0.9] * 4 + [0.8] * 4, "xyzxxyzy", [0.9, 0.8, 0.7, 0.94, 0.8, 0.72, 0.6, 0.66], strict=True)
]
WORKERS = {"W1": {"T1": 1, "T2": 2, "T3": 3}, "W2": {"T1": 3, "T2": 1, "T3": 2}, "W3": {"T1": 1, "T2": 3, "T3": 2}}
TASKS = {"T1": {"W1": 2, "W2": 1, "W3": 3}, "T2": {"W1": 2, "W2": 3, "W3": 1}, "T3": {"W1": 1, "W2": 2, "W3": 3}}


def near(values, *expected):
    sequence = list(values) if isinstance(values, list | tuple) else [values]
    assert sequence == pytest.approx(list(expected), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (toolbox.proportion(7, 10), {"estimate": 0.7, "low": 0.396778, "high": 0.892209}),
        (toolbox.proportion_difference(8, 10, 3, 10),
         {"estimate": 0.5, "low": 0.066476, "high": 0.739759, "p": 0.069779}),
        (toolbox.mean(VALUES, CLUSTERS), {"estimate": 4.5, "se": 1.428869, "low": -0.047299, "high": 9.047299}),
        (toolbox.bootstrap(ROWS, lambda drawn: fmean(row["y"] for row in drawn), "c"), {"low": 2.25, "high": 6.75}),
        (toolbox.pearson([0.5, 0.6, 0.7, 0.8, 0.9], [0.50, 0.52, 0.61, 0.60, 0.70]),
         {"estimate": 0.950169, "low": 0.419936, "high": 0.996809, "p": 0.013253}),
        (toolbox.spearman(PRIORITIES, [5, 4, 3, 3, 0, 1, 2, 0]), {"estimate": 0.707710, "p": 0.049543}),
        (toolbox.spearman(PRIORITIES, [1, 1, 0, 1, 0, 0, 0, 0]), {"estimate": 0.536656, "p": 0.170274}),
        (toolbox.paired([0.80, 0.60, 0.70, 0.90, 0.75], [0.70, 0.55, 0.72, 0.60, 0.65]),
         {"estimate": 0.106, "low": -0.041857, "high": 0.253857, "t": 1.990457, "p": 0.117389}),
        (toolbox.balance([[12, 8], [9, 11], [15, 5]]), {"chi2": 3.75, "df": 2, "p": 0.153355, "cramers_v": 0.25}),
        (toolbox.smd([21, 25, 30, 34, 40], [22, 35, 38, 41, 44]), {"estimate": -0.75}),
        (toolbox.mde(sd=0.2, n1=50, n2=50), {"estimate": 0.113176}),
        (toolbox.kappa([1] * 25 + [0] * 25, [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15),
         {"estimate": 0.4, "agreement": 0.7, "expected": 0.5, "n": 50}),
        (econevals.implied_rate([101, 105, 110, 115, 120], [0, 0.1, 0.6, 0.9, 1], years=1),
         {"rate": 0.072, "reliability": 0.88}),
        (econevals.task_allocation(P=(80000, 600), eq=(72000, 0), eff=(103000, 3000)),
         {"litmus": 0.257526, "alternate": 0.058065}),
        (econevals.duopoly(1), {"nash": 1.472927, "collusive": 1.924981}),
    ],
)  # fmt: skip
def test_small_cases_of_the_specification(result, expected):
    assert {key: result[key] for key in expected} == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (toolbox.holm([0.01, 0.04, 0.03, 0.20]), [0.04, 0.09, 0.09, 0.20]),
        (toolbox.replicator([[2, 0, 2], [3, 1, 1], [2, 1, 2]], steps=1)["population"], [0.325968, 0.337016, 0.337016]),
        (toolbox.replicator([[5, 0], [3, 3]], steps=1)["population"], [0.487503, 0.512497]),
        (toolbox.deviation_ratings([[2, 0, 2], [3, 1, 1], [2, 1, 2]]), [-0.5, -0.5, 0]),
        (toolbox.deviation_ratings([[5, 0], [3, 3]]), [-1.2, -1.2]),
        (toolbox.deviation_ratings([[2, 0], [3, 1]]), [-1, 0]),
        ([rating / 1e6 for rating in toolbox.deviation_ratings([[2e6, 0], [3e6, 1e6]])], [-1, 0]),
        (toolbox.deviation_ratings([[5, 0, 0], [3, 3, 3], [3, 3, 3]]), [-1.2, -1.2, -1.2]),
        # Public goods of three: not contributing (1) gains half a point regardless of the others.
        (toolbox.deviation_ratings(
            [[[0.5 * (3 - a - b - c) + a for c in (0, 1)] for b in (0, 1)] for a in (0, 1)]), [-0.5, 0]),
        (toolbox.survival([1, 2, 2, 4], [True, True, False, True])["share"], [0.75, 0.5, 0]),
        (coopeval.discounted([2, 0, 3, 1], 0.5), [1.5]),
        (econevals.duopoly_litmus(1.7, 1), [0.502314]),
        (econevals.expected_blocking(WORKERS, TASKS), [2 / 3]),
        (econevals.scheduling_score(1, WORKERS, TASKS), [-0.5]),
    ],
)  # fmt: skip
def test_small_cases_with_several_values(values, expected):
    near(values, *expected)


def test_least_squares():
    result = toolbox.ols(DESIGN, "e", {"d": 0.9, "p": "x"})
    terms = {term["term"]: term for term in result["terms"]}
    near([terms["Intercept"]["estimate"], result["df"], result["r2"]], 0.916970, 4, 0.971658)
    for name, *expected in (("d=0.8", -0.164333, -0.110909, -0.057485), ("p=y", -0.178052, -0.116364, -0.054675),
                            ("p=z", -0.278146, -0.211515, -0.144884)):  # fmt: skip
        near([terms[name][key] for key in ("low", "estimate", "high")], *expected)
    robust = toolbox.ols(DESIGN, "e", {"d": 0.9, "p": "x"}, covariance="HC1")
    near({term["term"]: term for term in robust["terms"]}["d=0.8"]["se"], 0.013849)


def test_dynamics_converge_to_the_better_reply():
    result = toolbox.replicator([[2, 0], [3, 1]])
    assert result["population"] == pytest.approx([0, 1], abs=1e-5)
    assert result["average"] == pytest.approx(1, abs=1e-4)
    assert result["steps"] < 1000
    assert toolbox.pure_nash([[2, 0], [3, 1]], [[2, 3], [0, 1]]) == [(1, 1)]


def test_ratings_put_the_winner_first():
    pytest.importorskip("openskill")
    result = toolbox.plackett_luce([{"A": 9, "B": 3, "C": 3}] * 3)
    assert result["A"]["mu"] > result["B"]["mu"] == pytest.approx(result["C"]["mu"])


def test_trueskill_of_a_win_and_a_draw():
    pytest.importorskip("trueskill")
    result = toolbox.trueskill([{"A": 9, "B": 3, "C": 3}])
    assert (result["A"]["mu"], result["A"]["sigma"]) == pytest.approx((30.109, 6.735), abs=0.01)
    assert (result["B"]["mu"], result["C"]["sigma"]) == pytest.approx((22.445, 5.973), abs=0.01)


def test_contests_and_auctions():
    result = econarena.contest([30, 20, 50, 120, 10], upper=100)
    near(result["target"], 18.333333)
    assert (result["winners"], result["fouls"], result["deviations"]) == ([2], [4], [0.3, 0.2, 0.5, None, 0.1])
    result = econarena.vickrey(bids=[60, 50, 55], values=[50, 52, 48], assets=100)
    assert (result["final"], result["ne_final"]) == ([95, 100, 100], [100, 102, 100])
    near(result["deviations"], 0.05, 0.019608, 0)
    result = aucarena.increments(bids=[("A", 1000), ("B", 1250), ("A", 1400)], start=1000)
    assert (result["own"], result["standing"]) == (pytest.approx([0, 25, 40]), pytest.approx([0, 25, 12]))
    assert (aucarena.corrected_failure_rate(1, 7), aucarena.corrected_failure_rate(0, 0)) == (0.125, None)


def test_designs():
    assert coopeval.design_quality("prisoners_dilemma", contract={"D": -2}) == {"ns": True, "wd": True}
    assert coopeval.design_quality("public_goods", mediator={1: "D", 2: "C", 3: "C"}) == {"ns": False, "wd": False}
    assert coopeval.design_quality("stag_hunt", contract={"S": 1, "H": -1}) == {"ns": True, "wd": False}
    assert coopeval.design_quality("matching_pennies")["ns"] is None


def test_pairs_are_compared_with_the_mean_over_pairs():
    rows = [
        {"y": base + effect, "a": a, "b": b, "d": d}
        for (a, b), effect in {("x", "x"): 0.0, ("x", "z"): 0.2, ("z", "x"): -0.2, ("z", "z"): 0.4}.items()
        for d, base in ((1, 0.5), (2, 0.7))
    ]
    result = glee.pair_effects(rows, "y", "a", "b", {"d": 1})["effects"]
    near((result["x", "x"], result["z", "z"]), -0.1, 0.3)


# ---- compared with libraries, and with their definitions ---------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_regressions_agree_with_the_formulas_of_statsmodels(seed):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {"g": rng.choice(["a", "b", "c"], 60), "h": rng.choice(["u", "v"], 60), "c": rng.integers(0, 12, 60)}
    )
    data["y"] = rng.normal(size=60) + (data["g"] == "b")
    model = smf.ols("y ~ C(g) + C(h)", data)
    for options, kind in (
        ({}, {}),
        ({"covariance": "HC1"}, {"cov_type": "HC1", "use_t": True}),
        ({"clusters": "c"}, {"cov_type": "cluster", "cov_kwds": {"groups": data["c"]}, "use_t": True}),
    ):
        terms, fit = (
            toolbox.ols(data.to_dict("records"), "y", {"g": "a", "h": "u"}, **options)["terms"],
            model.fit(**kind),
        )
        for key, values in (("estimate", fit.params), ("se", fit.bse), ("p", fit.pvalues), ("low", fit.conf_int()[0])):
            assert [term[key] for term in terms] == pytest.approx(values.tolist(), rel=1e-9)


def test_clustered_errors_are_those_of_their_definition():
    """CR1: G/(G-1) · (n-1)/(n-k) · (X'X)⁻¹ Σ X_g'e_g e_g'X_g (X'X)⁻¹."""
    rng = np.random.default_rng(8)
    group, arm, y = rng.integers(0, 9, 50), rng.integers(0, 2, 50), rng.normal(size=50)
    x = np.column_stack([np.ones(50), arm])
    bread, residuals = np.linalg.inv(x.T @ x), y - x @ np.linalg.lstsq(x, y)[0]
    scores = np.array([x[group == g].T @ residuals[group == g] for g in range(9)])
    errors = np.sqrt(np.diag(9 / 8 * 49 / 48 * bread @ scores.T @ scores @ bread))
    rows = [{"y": a, "arm": b, "g": c} for a, b, c in zip(y, arm.tolist(), group.tolist(), strict=True)]
    assert [t["se"] for t in toolbox.ols(rows, "y", {"arm": 0}, "g")["terms"]] == pytest.approx(errors, rel=1e-9)


def test_collinear_columns_are_dropped_and_listed():
    rows = [{"y": float(i), "a": i % 2, "b": i % 2, "c": i % 3} for i in range(12)]
    result = toolbox.ols(rows, "y", {"a": 0, "b": 0, "c": 7})
    assert result["dropped"] == ["b=1"]
    assert [warning.partition(";")[0] for warning in result["warnings"]] == ["c: 7 does not occur"]


def test_welch_agrees_with_its_definition():
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=20), rng.normal(1, 2, size=30)
    u, v, result = a.var(ddof=1) / 20, b.var(ddof=1) / 30, toolbox.welch(list(a), list(b))
    df, t = (u + v) ** 2 / (u**2 / 19 + v**2 / 29), (a.mean() - b.mean()) / (u + v) ** 0.5
    half = stats.t.ppf(0.975, df) * (u + v) ** 0.5
    near(
        [result[key] for key in ("t", "df", "low", "p")], t, df, a.mean() - b.mean() - half, 2 * stats.t.sf(abs(t), df)
    )


@pytest.mark.parametrize(
    "result",
    [
        toolbox.proportion(0, 0), toolbox.mean([]), toolbox.mean([None, float("nan"), 3]),
        toolbox.mean([1, 2], clusters="aa"), toolbox.paired([1], [2]), toolbox.paired([1, 2], [0, 1]),
        toolbox.welch([1, 1], [1, 1]), toolbox.pearson([1, 1, 1], [1, 2, 3]), toolbox.spearman([1, 2], [1, 2]),
        toolbox.balance([[1, 2]]), toolbox.smd([1], [2]), toolbox.mde(0, 10, 10), toolbox.survival([], []),
        toolbox.ols([], "y", {}), toolbox.ols([{"y": 1, "c": 1}] * 3, "y", {}, "c"),
        toolbox.kappa([None, 1], [1, None]),
        toolbox.kappa([True, True], [True, True]), toolbox.mean_from_sums(0, 0.0, 0.0),
        toolbox.mean_from_sums(1, 2.0, 4.0), toolbox.correlation_difference(1.0, 10, 0.5, 10),
        toolbox.bootstrap([{"y": 1, "c": 1}], lambda rows: rows[0]["y"], "c"),
    ],
)  # fmt: skip
def test_undefined_results_are_none_with_a_note(result):
    assert result["note"]
    assert all(value is None or value == value for value in result.values())


def test_missing_p_values_stay_missing_and_do_not_count():
    assert toolbox.holm([None, 0.01]) == [None, 0.01]
    assert toolbox.holm([None]) == [None]


@pytest.mark.parametrize("df", [1, 2, 3, 30, 199, 200, 201, 100_000])
def test_quantiles_of_t_need_no_library(df):
    for level in (0.5, 0.9, 0.95, 0.999):
        assert two_sided(level, df) == pytest.approx(stats.t.ppf((1 + level) / 2, df), rel=1e-9)


@pytest.mark.parametrize(("values", "share", "bounds"), [
    ([1.5, 2.0, 7.25, 3.0, 2.5], False, (None, None)), ([0.2, 0.9, 1.0, 0.4, 0.7], False, (0.0, 1.0)),
    ([1.0] * 5, False, (0.0, 1.0)), ([1.0, 2.0, 1.0, 3.0, 1.0], False, (0.0, None)), ([2.0] * 5, False, (None, None)),
    ([1, 1, 0, 1, 0, 1, 1], True, (None, None)), ([1, 1, 1, 1, 1], True, (None, None)),
])  # fmt: skip
def test_intervals_from_sums_are_those_of_independent_units(values, share, bounds):
    result = toolbox.mean_from_sums(len(values), sum(values), sum(v**2 for v in values), share=share, bounds=bounds)
    found = estimates(
        pd.DataFrame({"y": np.array(values, dtype=float), "cluster": range(len(values)), "all": "all"}),
        ["all"], "y", share=share, level=0.95, bounds=bounds,
    ).iloc[0]  # fmt: skip
    for key in ("estimate", "se", "low", "high"):
        assert result[key] is None if pd.isna(found[key]) else result[key] == pytest.approx(found[key], rel=1e-6)
    assert result.get("note", "") == found["note"]
