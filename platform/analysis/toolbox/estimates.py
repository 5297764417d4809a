"""Shares, means, their differences, correlations and counts, with intervals and tests.

The server counts agreement, shares and means live, so `kappa`, `proportion` and `mean_from_sums` need no library.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from functools import lru_cache
from math import atanh, cos, inf, isfinite, pi, sin, sqrt, tan, tanh
from statistics import NormalDist, fmean, variance

from analysis.toolbox.dependence import FEWEST_ON_A_SIDE, NO_VARIATION, TOO_FEW_HERE, limited, wilson
from analysis.toolbox.numbers import Result, Value, known, known_pairs, undefined

LEVEL = 0.95
MIN_DF_FOR_EXPANSION = 200
"""From this number of degrees of freedom, the expansion around the normal quantile is accurate to ten digits."""


# ---- shares and means --------------------------------------------------------------------------------------


def proportion(successes: int, n: int, *, level: float = LEVEL) -> Result:
    """Return a share with Wilson's interval (Wilson 1927)."""
    if n <= 0:
        return undefined("estimate low high", "no observations", n=n)
    low, high = wilson(successes / n, n, NormalDist().inv_cdf((1 + level) / 2))
    return {"estimate": successes / n, "low": float(low), "high": float(high), "n": n}


def proportion_difference(k1: int, n1: int, k2: int, n2: int, *, level: float = LEVEL) -> Result:
    """Return share 1 minus share 2 with Newcombe's hybrid score interval, and Fisher's exact test."""
    if n1 <= 0 or n2 <= 0:
        return undefined("estimate low high p", "a group has no observations", n=n1 + n2)
    from scipy.stats import fisher_exact

    first, second = proportion(k1, n1, level=level), proportion(k2, n2, level=level)
    p1, p2 = k1 / n1, k2 / n2
    below = sqrt((p1 - first["low"]) ** 2 + (second["high"] - p2) ** 2)
    above = sqrt((first["high"] - p1) ** 2 + (p2 - second["low"]) ** 2)
    p = fisher_exact([[k1, n1 - k1], [k2, n2 - k2]]).pvalue
    return {"estimate": p1 - p2, "low": p1 - p2 - below, "high": p1 - p2 + above, "p": float(p), "n": n1 + n2}


def mean(values: Sequence[Value], clusters: Sequence[Hashable] | None = None, *, level: float = LEVEL) -> Result:
    """Return a mean with its standard error and t interval (n-1 degrees of freedom).

    Args:
        clusters: each value's cluster; the standard error is then cluster-robust (CR1), with G-1 degrees of freedom.
    """
    labels = range(len(values)) if clusters is None else clusters
    pairs = [(number, label) for value, label in zip(values, labels, strict=False) for number in known([value])]
    n, n_clusters = len(pairs), len({label for _value, label in pairs})
    if n == 0:
        return undefined("estimate se low high", "no observations", n=0, clusters=0)
    estimate = fmean(value for value, _label in pairs)
    if n_clusters < 2:
        return undefined("se low high", "fewer than two clusters", estimate=estimate, n=n, clusters=n_clusters)
    from scipy.special import stdtrit

    sums: dict[Hashable, float] = {}
    for value, label in pairs:
        sums[label] = sums.get(label, 0.0) + value - estimate
    # CR1: G/(G-1) · (n-1)/(n-k) with k = 1; of values that stand alone, it is the usual error.
    se = sqrt(n_clusters / (n_clusters - 1) * sum(total**2 for total in sums.values())) / n
    half = float(stdtrit(n_clusters - 1, (1 + level) / 2)) * se
    return {"estimate": estimate, "se": se, "low": estimate - half, "high": estimate + half, "n": n,
            "clusters": n_clusters}  # fmt: skip


def mean_from_sums(
    n: int,
    total: float,
    squares: float,
    *,
    share: bool = False,
    bounds: tuple[float | None, float | None] = (None, None),
    level: float = LEVEL,
) -> Result:
    """Return a mean or share of independent values with its standard error and interval.

    Without a library, the intervals are those that analyses give independent units (`dependence.mean_intervals`).

    Args:
        total, squares: sums of the values and of their squares.
        bounds: the smallest and largest possible value, None if there is none.
    """
    if n <= 0:
        return undefined("estimate se low high", "no observations", n=n)
    estimate = total / n
    if n < FEWEST_ON_A_SIDE:
        return undefined("se low high", TOO_FEW_HERE, estimate=estimate, n=n)
    se, t = sqrt(max(0.0, squares - n * estimate**2) / (n - 1) / n), two_sided(level, n - 1)
    bottom, top = (end if own is None else own for own, end in zip(bounds, (-inf, inf), strict=True))
    if share:
        low, high = wilson(estimate, n - 1 if 0 < estimate < 1 else n, t)
    elif se == 0 and estimate in bounds and isfinite(top - bottom):
        low, high = (bottom + end * (top - bottom) for end in wilson((estimate - bottom) / (top - bottom), n, t))
    elif se == 0:
        return undefined("se low high", NO_VARIATION, estimate=estimate, n=n)
    else:
        low, high = limited(estimate, t * se, bottom, top)
    return {"estimate": estimate, "se": se, "low": float(low), "high": float(high), "n": n}


def paired(a: Sequence[Value], b: Sequence[Value], *, level: float = LEVEL) -> Result:
    """Return the mean of a minus the mean of b over pairs, with the paired t test."""
    x, y = known_pairs(a, b)
    if len(x) < 2:
        return undefined("estimate low high t df p", "fewer than two pairs", n=len(x))
    differences = [first - second for first, second in zip(x, y, strict=True)]
    if variance(differences) == 0:
        return undefined("low high t df p", "no variation", estimate=fmean(differences), n=len(x))
    from scipy.stats import ttest_rel

    return _tested(fmean(differences), ttest_rel(x, y), len(x), level)


def welch(a: Sequence[Value], b: Sequence[Value], *, level: float = LEVEL) -> Result:
    """Return the mean of a minus the mean of b, with Welch's t test for unequal variances."""
    x, y = known(a), known(b)
    n = len(x) + len(y)
    if len(x) < 2 or len(y) < 2:
        return undefined("estimate low high t df p", "fewer than two values in a group", n=n)
    if variance(x) + variance(y) == 0:
        return undefined("low high t df p", "no variation", estimate=fmean(x) - fmean(y), n=n)
    from scipy.stats import ttest_ind

    return _tested(fmean(x) - fmean(y), ttest_ind(x, y, equal_var=False), n, level)


def _tested(difference: float, test: object, n: int, level: float) -> Result:
    """Return a difference with its interval and scipy's t test."""
    low, high = test.confidence_interval(level)  # type: ignore[attr-defined]
    found = {"t": test.statistic, "df": test.df, "p": test.pvalue}  # type: ignore[attr-defined]
    return {"estimate": difference, "low": float(low), "high": float(high), **{k: float(v) for k, v in found.items()},
            "n": n}  # fmt: skip


@lru_cache(maxsize=1024)
def two_sided(level: float, df: int) -> float:
    """Return the value that |T| does not exceed with probability `level`, for a t-distributed T.

    Source: Abramowitz & Stegun, 26.7.3 and 26.7.4 (finite sums), 26.7.5 (expansion).
    """
    if df > MIN_DF_FOR_EXPANSION:
        x = NormalDist().inv_cdf((1 + level) / 2)
        terms = (
            (x**3 + x) / 4,
            (5 * x**5 + 16 * x**3 + 3 * x) / 96,
            (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
            (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
        )
        return x + sum(term / df**power for power, term in enumerate(terms, start=1))
    low, high = 0.0, pi / 2
    for _halving in range(60):
        angle = (low + high) / 2
        low, high = (angle, high) if _within(angle, df) < level else (low, angle)
    return sqrt(df) * tan((low + high) / 2)


def _within(angle: float, df: int) -> float:
    """Return P(|T| ≤ √df·tan(angle))."""
    odd, square = df % 2, cos(angle) ** 2
    term = cos(angle) if odd else 1.0
    total = term if df > 1 else 0.0
    for k in range(2 if odd else 1, df - 2 + odd, 2):
        term *= square * k / (k + 1)
        total += term
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total


# ---- correlations ------------------------------------------------------------------------------------------


def pearson(x: Sequence[Value], y: Sequence[Value], *, units: int | None = None, level: float = LEVEL) -> Result:
    """Return Pearson's correlation with its test and Fisher's z interval (from four pairs on).

    Args:
        units: number of independent units of the pairs, which then stands for their number in the interval and test.
    """
    a, b = known_pairs(x, y)
    if note := _why_undefined(a, b):
        return undefined("estimate low high p", note, n=len(a))
    from scipy.stats import pearsonr

    test = pearsonr(a, b)
    r, n = float(test.statistic), len(a)
    result: Result = {"estimate": r, "low": None, "high": None, "p": float(test.pvalue), "n": n}
    if units is not None and units < n:
        from scipy.special import stdtr

        p = None if units < 4 or abs(r) >= 1 else 2 * float(stdtr(units - 2, -abs(r) * sqrt((units - 2) / (1 - r * r))))
        result, n = result | {"p": p, "clusters": units}, units
    if n > 3 and abs(r) < 1:
        half = NormalDist().inv_cdf((1 + level) / 2) / sqrt(n - 3)
        result |= {"low": tanh(atanh(r) - half), "high": tanh(atanh(r) + half)}
    return result


def spearman(x: Sequence[Value], y: Sequence[Value]) -> Result:
    """Return Spearman's rank correlation, with average ranks for ties, and its t test."""
    a, b = known_pairs(x, y)
    if note := _why_undefined(a, b):
        return undefined("estimate p", note, n=len(a))
    from scipy.stats import spearmanr

    test = spearmanr(a, b)
    return {"estimate": float(test.statistic), "p": float(test.pvalue), "n": len(a)}


def _why_undefined(a: Sequence[float], b: Sequence[float]) -> str:
    if len(a) < 3:
        return "fewer than three pairs"
    return "a variable is constant" if len(set(a)) == 1 or len(set(b)) == 1 else ""


def correlation_difference(r1: float | None, n1: int, r2: float | None, n2: int) -> Result:
    """Return the two-sided z test of Fisher's transforms for the difference of two independent correlations."""
    if r1 is None or r2 is None or abs(r1) >= 1 or abs(r2) >= 1 or min(n1, n2) <= 3:
        return undefined("z p", "a correlation is missing, is ±1, or has fewer than four pairs")
    z = (atanh(r1) - atanh(r2)) / sqrt(1 / (n1 - 3) + 1 / (n2 - 3))
    return {"z": z, "p": 2 * (1 - NormalDist().cdf(abs(z)))}


# ---- counts, differences between groups ----------------------------------------------------------------------


def balance(table: Sequence[Sequence[int]]) -> Result:
    """Return the χ² test of a table of counts (no continuity correction), with Cramér's V (no bias correction)."""
    rows = [list(row) for row in table if sum(row) > 0]
    columns = [column for column in zip(*rows, strict=True) if sum(column) > 0]
    n = sum(map(sum, rows))
    if len(rows) < 2 or len(columns) < 2:
        return undefined("chi2 df p cramers_v smallest_expected", "only one row or one column", n=n)
    from scipy.stats import chi2_contingency

    test = chi2_contingency(list(zip(*columns, strict=True)), correction=False)
    cramers_v = sqrt(test.statistic / (n * (min(len(rows), len(columns)) - 1)))
    return {"chi2": float(test.statistic), "df": int(test.dof), "p": float(test.pvalue), "cramers_v": cramers_v,
            "smallest_expected": float(test.expected_freq.min()), "n": n}  # fmt: skip


def smd(a: Sequence[Value], b: Sequence[Value]) -> Result:
    """Return the standardised mean difference: (mean a - mean b) / √((var a + var b)/2), variances with n-1."""
    x, y = known(a), known(b)
    n = len(x) + len(y)
    if len(x) < 2 or len(y) < 2:
        return undefined("estimate", "fewer than two values in a group", n=n)
    spread = sqrt((variance(x) + variance(y)) / 2)
    if spread == 0:
        return undefined("estimate", "no variation", n=n)
    return {"estimate": (fmean(x) - fmean(y)) / spread, "n": n}


def kappa(a: Sequence[Hashable | None], b: Sequence[Hashable | None]) -> Result:
    """Return Cohen's κ for two judges' labels of the same cases, (p_o - p_e) / (1 - p_e) (Cohen 1960).

    Returns:
        estimate (None if both judges gave every case the same label), agreement (p_o), expected (p_e), n.
    """
    pairs = [(x, y) for x, y in zip(a, b, strict=False) if x is not None and y is not None]
    if not pairs:
        return undefined("estimate agreement expected", "no cases labelled by both judges", n=0)
    n = len(pairs)
    first, second = Counter(x for x, _y in pairs), Counter(y for _x, y in pairs)
    agreement = sum(x == y for x, y in pairs) / n
    expected = sum(first[label] * second[label] for label in first) / n**2
    if expected == 1:
        note = "both judges gave every case the same label"
        return undefined("estimate", note, agreement=agreement, expected=expected, n=n)
    return {"estimate": (agreement - expected) / (1 - expected), "agreement": agreement, "expected": expected, "n": n}


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Return Holm-adjusted p-values in the given order; missing ones stay missing and do not count."""
    return _adjusted(p, "holm")


def q_values(p: Sequence[float | None]) -> list[float | None]:
    """Return Benjamini and Hochberg's q-values in the given order; missing ones stay missing and do not count."""
    return _adjusted(p, "fdr_bh")


def _adjusted(p: Sequence[float | None], method: str) -> list[float | None]:
    known_ones = [value for value in p if value is not None]
    if not known_ones:
        return list(p)
    from statsmodels.stats.multitest import multipletests

    adjusted = iter(multipletests(known_ones, method=method)[1].tolist())
    return [None if value is None else next(adjusted) for value in p]


def survival(seconds: Sequence[float | None], answered: Sequence[bool | None]) -> Result:
    """Return the Kaplan–Meier estimate: the share still unanswered after each distinct time.

    Args:
        answered: True if the answer was given at that time, False if there was no answer by then.
    """
    times, ended = known_pairs(seconds, answered)
    waits = [(time, not was_answered) for time, was_answered in zip(times, ended, strict=True) if time >= 0]
    if not waits:
        return undefined("times share", "no observations", n=0)
    from scipy.stats import CensoredData, ecdf

    curve = ecdf(CensoredData.right_censored(*zip(*waits, strict=True))).sf
    return {"times": curve.quantiles.tolist(), "share": curve.probabilities.tolist(), "n": len(waits)}


def mde(
    sd: float, n1: float, n2: float, alpha: float = 0.05, power: float = 0.8, icc: float = 0, cluster_size: float = 1
) -> Result:
    """Return the minimum effect that a two-sided t test detects with this power, in units of the outcome.

    Both groups' sizes are divided by the design effect 1 + (cluster_size - 1)·icc.
    """
    effect = 1 + (cluster_size - 1) * icc
    a, b = n1 / effect, n2 / effect
    if sd <= 0 or a + b <= 2 or min(a, b) <= 0:
        return undefined("estimate", "no variation, or too few observations", n=n1 + n2)
    from numpy import nan_to_num
    from scipy.optimize import brentq
    from scipy.stats import nct, t

    df, scale = a + b - 2, sqrt(a * b / (a + b))
    critical = t.ppf(1 - alpha / 2, df)

    def shortfall(d: float) -> float:
        # Where the noncentral t cannot be computed, its upper tail is taken to be 1 and its lower tail 0.
        above, below = nct.sf(critical, df, d * scale), nct.cdf(-critical, df, d * scale)
        return float(nan_to_num(above, nan=1.0) + nan_to_num(below) - power)

    # The solver of statsmodels stops at five digits.
    highest = 4 / scale
    while shortfall(highest) < 0:
        highest *= 2
    return {"estimate": sd * float(brentq(shortfall, 1e-9, highest, xtol=1e-12)), "n": n1 + n2}
