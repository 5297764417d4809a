"""The toolbox compared with the specification's small cases, and with libraries on random data."""

from __future__ import annotations

from statistics import fmean

import numpy as np
import pytest
from scipy import stats

from analysis import toolbox
from analysis.published import aucarena, coopeval, econarena, econevals, glee
from analysis.toolbox.estimates import two_sided

VALUES, CLUSTERS = [1, 2, 3, 3, 5, 6, 8, 8], "aabbccdd"


def near(values, *expected):
    sequence = list(values) if isinstance(values, list | tuple) else [values]
    assert sequence == pytest.approx(list(expected), rel=1e-5, abs=1e-6)


def test_wilson_and_newcombe_intervals_of_shares():
    share = toolbox.proportion(7, 10)
    near((share["estimate"], share["low"], share["high"]), 0.7, 0.396778, 0.892209)
    difference = toolbox.proportion_difference(8, 10, 3, 10)
    near(
        (difference["estimate"], difference["low"], difference["high"], difference["p"]),
        0.5,
        0.066476,
        0.739759,
        0.069779,
    )


def test_a_mean_over_clusters():
    result = toolbox.mean(VALUES, clusters=CLUSTERS)
    near((result["estimate"], result["se"], result["low"], result["high"]), 4.5, 1.428869, -0.047299, 9.047299)


def test_the_bootstrap_draws_whole_clusters():
    rows = [{"y": value, "c": cluster} for value, cluster in zip(VALUES, CLUSTERS, strict=True)]
    result = toolbox.bootstrap(rows, lambda drawn: fmean(row["y"] for row in drawn), "c")
    near((result["low"], result["high"]), 2.25, 6.75)


def test_least_squares():
    rows = [
        {"d": d, "p": p, "e": e}
        for d, p, e in zip(
            [0.9] * 4 + [0.8] * 4, "xyzxxyzy", [0.90, 0.80, 0.70, 0.94, 0.80, 0.72, 0.60, 0.66], strict=True
        )
    ]
    result = toolbox.ols(rows, "e", {"d": 0.9, "p": "x"})
    terms = {term["term"]: term for term in result["terms"]}
    near(terms["Intercept"]["estimate"], 0.916970)
    for name, low, middle, high in (
        ("d=0.8", -0.164333, -0.110909, -0.057485),
        ("p=y", -0.178052, -0.116364, -0.054675),
        ("p=z", -0.278146, -0.211515, -0.144884),
    ):
        near((terms[name]["low"], terms[name]["estimate"], terms[name]["high"]), low, middle, high)
    assert result["df"] == 4
    near(result["r2"], 0.971658)
    robust = toolbox.ols(rows, "e", {"d": 0.9, "p": "x"}, covariance="HC1")
    near({term["term"]: term for term in robust["terms"]}["d=0.8"]["se"], 0.013849)


def test_correlations():
    result = toolbox.pearson([0.5, 0.6, 0.7, 0.8, 0.9], [0.50, 0.52, 0.61, 0.60, 0.70])
    near((result["estimate"], result["low"], result["high"], result["p"]), 0.950169, 0.419936, 0.996809, 0.013253)
    priorities = [3, 3, 2, 2, 1, 1, 3, 2]
    for other, rho, p in (
        ([5, 4, 3, 3, 0, 1, 2, 0], 0.707710, 0.049543),
        ([1, 1, 0, 1, 0, 0, 0, 0], 0.536656, 0.170274),
    ):
        result = toolbox.spearman(priorities, other)
        near((result["estimate"], result["p"]), rho, p)


def test_holm_keeps_the_order_given():
    near(toolbox.holm([0.01, 0.04, 0.03, 0.20]), 0.04, 0.09, 0.09, 0.20)
    assert toolbox.holm([None, 0.01]) == [None, 0.01]


def test_pairs():
    result = toolbox.paired([0.80, 0.60, 0.70, 0.90, 0.75], [0.70, 0.55, 0.72, 0.60, 0.65])
    near(
        (result["estimate"], result["low"], result["high"], result["t"], result["p"]),
        0.106, -0.041857, 0.253857, 1.990457, 0.117389,
    )  # fmt: skip


def test_balance_and_standardised_differences():
    result = toolbox.balance([[12, 8], [9, 11], [15, 5]])
    near((result["chi2"], result["df"], result["p"], result["cramers_v"]), 3.75, 2, 0.153355, 0.25)
    near(toolbox.smd([21, 25, 30, 34, 40], [22, 35, 38, 41, 44])["estimate"], -0.75)


def test_the_smallest_detectable_effect():
    near(toolbox.mde(sd=0.2, n1=50, n2=50)["estimate"], 0.113176)


def test_meta_games():
    payoffs = [[2, 0, 2], [3, 1, 1], [2, 1, 2]]
    near(toolbox.replicator(payoffs, steps=1)["population"], 0.325968, 0.337016, 0.337016)
    near(toolbox.deviation_ratings(payoffs), -0.5, -0.5, 0)
    near(toolbox.replicator([[5, 0], [3, 3]], steps=1)["population"], 0.487503, 0.512497)
    near(toolbox.deviation_ratings([[5, 0], [3, 3]]), -1.2, -1.2)
    assert toolbox.pure_nash([[2, 0], [3, 1]], [[2, 3], [0, 1]]) == [(1, 1)]


def test_dynamics_converge_to_the_better_reply():
    result = toolbox.replicator([[2, 0], [3, 1]])
    assert result["population"] == pytest.approx([0, 1], abs=1e-5)
    assert result["average"] == pytest.approx(1, abs=1e-4)
    assert result["steps"] < 1000


def test_a_dominated_type_is_rated_below_the_dominant_one():
    near(toolbox.deviation_ratings([[2, 0], [3, 1]]), -1, 0)
    near([rating / 1e6 for rating in toolbox.deviation_ratings([[2e6, 0], [3e6, 1e6]])], -1, 0)


def test_copies_of_a_type_do_not_change_ratings():
    near(toolbox.deviation_ratings([[5, 0, 0], [3, 3, 3], [3, 3, 3]]), -1.2, -1.2, -1.2)


def test_three_seat_ratings_are_gains_at_the_equilibrium():
    # Public goods: not contributing (1) gains half a point regardless of the others.
    payoffs = [[[0.5 * (3 - a - b - c) + a for c in (0, 1)] for b in (0, 1)] for a in (0, 1)]
    near(toolbox.deviation_ratings(payoffs), -0.5, 0)


def test_trueskill_of_a_win_and_a_draw():
    pytest.importorskip("trueskill")
    result = toolbox.trueskill([{"A": 9, "B": 3, "C": 3}])
    assert (result["A"]["mu"], result["A"]["sigma"]) == pytest.approx((30.109, 6.735), abs=0.01)
    assert (result["B"]["mu"], result["C"]["sigma"]) == pytest.approx((22.445, 5.973), abs=0.01)


def test_ratings_put_the_winner_first():
    pytest.importorskip("openskill")
    result = toolbox.plackett_luce([{"A": 9, "B": 3, "C": 3}] * 3)
    assert result["A"]["mu"] > result["B"]["mu"] == pytest.approx(result["C"]["mu"])


def test_survival_censors_unanswered_turns():
    result = toolbox.survival([1, 2, 2, 4], [True, True, False, True])
    assert result["times"] == [1, 2, 4]
    near(result["share"], 0.75, 0.5, 0)


def test_contests_and_auctions():
    result = econarena.contest([30, 20, 50, 120, 10], upper=100)
    near(result["target"], 18.333333)
    assert (result["winners"], result["fouls"]) == ([2], [4])
    assert result["deviations"] == [0.3, 0.2, 0.5, None, 0.1]
    result = econarena.vickrey(bids=[60, 50, 55], values=[50, 52, 48], assets=100)
    assert (result["final"], result["ne_final"]) == ([95, 100, 100], [100, 102, 100])
    near(result["deviations"], 0.05, 0.019608, 0)


def test_bid_increments_and_failure_rates():
    result = aucarena.increments(bids=[("A", 1000), ("B", 1250), ("A", 1400)], start=1000)
    near(result["own"], 0, 25, 40)
    near(result["standing"], 0, 25, 12)
    assert aucarena.corrected_failure_rate(1, 7) == 0.125
    assert aucarena.corrected_failure_rate(0, 0) is None


def test_designs():
    assert coopeval.design_quality("prisoners_dilemma", contract={"D": -2}) == {"ns": True, "wd": True}
    assert coopeval.design_quality("public_goods", mediator={1: "D", 2: "C", 3: "C"}) == {"ns": False, "wd": False}
    assert coopeval.design_quality("stag_hunt", contract={"S": 1, "H": -1}) == {"ns": True, "wd": False}
    assert coopeval.design_quality("matching_pennies")["ns"] is None
    near(coopeval.discounted([2, 0, 3, 1], 0.5), 1.5)


def test_litmus_tests():
    result = econevals.implied_rate([101, 105, 110, 115, 120], [0, 0.1, 0.6, 0.9, 1], years=1)
    near((result["rate"], result["reliability"]), 0.072, 0.88)
    result = econevals.task_allocation(P=(80000, 600), eq=(72000, 0), eff=(103000, 3000))
    near((result["litmus"], result["alternate"]), 0.257526, 0.058065)
    near(econevals.duopoly_litmus(1.7, 1), 0.502314)
    near(tuple(econevals.duopoly(1).values())[:2], 1.472927, 1.924981)


def test_scheduling_compares_with_a_random_matching():
    workers = {"W1": {"T1": 1, "T2": 2, "T3": 3}, "W2": {"T1": 3, "T2": 1, "T3": 2}, "W3": {"T1": 1, "T2": 3, "T3": 2}}
    tasks = {"T1": {"W1": 2, "W2": 1, "W3": 3}, "T2": {"W1": 2, "W2": 3, "W3": 1}, "T3": {"W1": 1, "W2": 2, "W3": 3}}
    near(econevals.expected_blocking(workers, tasks), 2 / 3)
    near(econevals.scheduling_score(1, workers, tasks), -0.5)


def test_pairs_are_compared_with_the_mean_over_pairs():
    rows = [
        {"y": base + effect, "a": a, "b": b, "d": d}
        for (a, b), effect in {("x", "x"): 0.0, ("x", "z"): 0.2, ("z", "x"): -0.2, ("z", "z"): 0.4}.items()
        for d, base in ((1, 0.5), (2, 0.7))
    ]
    result = glee.pair_effects(rows, "y", "a", "b", {"d": 1})["effects"]
    near((result["x", "x"], result["z", "z"]), -0.1, 0.3)


# ---- compared with libraries ----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_least_squares_agree_with_statsmodels(seed):
    import pandas as pd
    import statsmodels.formula.api as smf

    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {"g": rng.choice(["a", "b", "c"], 60), "h": rng.choice(["u", "v"], 60), "c": rng.integers(0, 12, 60)}
    )
    data["y"] = rng.normal(size=60) + (data["g"] == "b")
    rows = data.to_dict("records")
    model = smf.ols("y ~ C(g) + C(h)", data).fit()
    for options, fitted in (
        ({}, model),
        ({"covariance": "HC1"}, model.get_robustcov_results("HC1", use_t=True)),
        ({"clusters": "c"}, model.get_robustcov_results("cluster", groups=data["c"].to_numpy(), use_t=True)),
    ):
        result = toolbox.ols(rows, "y", {"g": "a", "h": "u"}, **options)
        assert [term["se"] for term in result["terms"]] == pytest.approx(list(fitted.bse), rel=1e-8)
        assert [term["p"] for term in result["terms"]] == pytest.approx(list(fitted.pvalues), rel=1e-6)


def test_collinear_columns_are_dropped_and_listed():
    rows = [{"y": float(i), "a": i % 2, "b": i % 2, "c": i % 3} for i in range(12)]
    result = toolbox.ols(rows, "y", {"a": 0, "b": 0, "c": 0})
    assert result["dropped"] == ["b=1"]


def test_welch_agrees_with_scipy():
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=20), rng.normal(1, 2, size=30)
    expected = stats.ttest_ind(a, b, equal_var=False)
    result = toolbox.welch(list(a), list(b))
    near((result["t"], result["p"], result["df"]), expected.statistic, expected.pvalue, expected.df)


@pytest.mark.parametrize(
    "result",
    [
        toolbox.proportion(0, 0),
        toolbox.mean([]),
        toolbox.mean([None, float("nan"), 3]),
        toolbox.mean([1, 2], clusters="aa"),
        toolbox.paired([1], [2]),
        toolbox.welch([1, 1], [1, 1]),
        toolbox.pearson([1, 1, 1], [1, 2, 3]),
        toolbox.spearman([1, 2], [1, 2]),
        toolbox.balance([[1, 2]]),
        toolbox.smd([1], [2]),
        toolbox.mde(0, 10, 10),
        toolbox.survival([], []),
        toolbox.ols([], "y", {}),
        toolbox.correlation_difference(1.0, 10, 0.5, 10),
        toolbox.bootstrap([{"y": 1, "c": 1}], lambda rows: rows[0]["y"], "c"),
    ],
)
def test_undefined_results_are_none_with_a_note(result):
    assert result["note"]
    assert all(value is None or value == value for value in result.values())


def test_two_judges_agree_beyond_chance():
    result = toolbox.kappa([1] * 25 + [0] * 25, [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15)
    near((result["estimate"], result["agreement"], result["expected"], result["n"]), 0.4, 0.7, 0.5, 50)
    assert toolbox.kappa([True, True], [True, True])["estimate"] is None
    assert toolbox.kappa([None, 1], [1, None])["n"] == 0


@pytest.mark.parametrize("df", [1, 2, 3, 30, 199, 200, 201, 100_000])
def test_quantiles_of_t_need_no_library(df):
    from scipy.stats import t

    for level in (0.5, 0.9, 0.95, 0.999):
        assert two_sided(level, df) == pytest.approx(t.ppf((1 + level) / 2, df), rel=1e-9)


def test_mean_from_sums_equals_mean_of_values():
    values = [1.5, 2.0, 7.25, 3.0]
    result = toolbox.mean_from_sums(4, sum(values), sum(value**2 for value in values))
    expected = toolbox.mean(values)
    assert {key: result[key] for key in result} == pytest.approx({key: expected[key] for key in result})
    assert toolbox.mean_from_sums(1, 2.0, 4.0)["low"] is None
    assert toolbox.mean_from_sums(0, 0.0, 0.0)["estimate"] is None
