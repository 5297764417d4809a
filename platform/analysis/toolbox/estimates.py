"""Shares, means and their differences, with confidence intervals."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import sqrt
from statistics import NormalDist, fmean, variance
from typing import Any

from analysis.toolbox.numbers import Result, Value, known, known_pairs, undefined
from analysis.toolbox.students_t import two_sided

LEVEL = 0.95


def proportion(successes: int, n: int, *, level: float = LEVEL) -> Result:
    """Return a share with Wilson's interval (Wilson 1927)."""
    if n <= 0:
        return undefined("estimate low high", "no observations", n=n)
    share, z = successes / n, NormalDist().inv_cdf((1 + level) / 2)
    scale = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / scale
    half_width = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale
    return {"estimate": share, "low": max(0.0, centre - half_width), "high": min(1.0, centre + half_width), "n": n}


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
    if clusters is None:
        numbers = known(values)
        groups: list[Hashable] = list(range(len(numbers)))
    else:
        pairs = [(number, label) for value, label in zip(values, clusters, strict=False) for number in known([value])]
        numbers, groups = [value for value, _cluster in pairs], [cluster for _value, cluster in pairs]
    n, n_clusters = len(numbers), len(set(groups))
    if n == 0:
        return undefined("estimate se low high", "no observations", n=0, clusters=0)
    estimate = fmean(numbers)
    if n_clusters < 2:
        return undefined("se low high", "fewer than two clusters", estimate=estimate, n=n, clusters=n_clusters)
    if clusters is None:
        se = sqrt(variance(numbers) / n)
    else:
        sums: dict[Hashable, float] = {}
        for value, cluster in zip(numbers, groups, strict=True):
            sums[cluster] = sums.get(cluster, 0.0) + value - estimate
        # CR1: G/(G-1) · (n-1)/(n-k) with k = 1.
        se = sqrt(n_clusters / (n_clusters - 1) * sum(total**2 for total in sums.values())) / n
    half = _t(level, n_clusters - 1) * se
    low, high = estimate - half, estimate + half
    return {"estimate": estimate, "se": se, "low": low, "high": high, "n": n, "clusters": n_clusters}


def mean_from_sums(n: int, total: float, squares: float, *, level: float = LEVEL) -> Result:
    """Return a mean with its standard error and t interval, from the number, sum and sum of squares of the values.

    This needs no library, and if the sums are stored, its cost does not depend on the number of values.
    """
    if n <= 0:
        return undefined("estimate se low high", "no observations", n=n)
    estimate = total / n
    if n < 2:
        return undefined("se low high", "fewer than two observations", estimate=estimate, n=n)
    se = sqrt(max(0.0, squares - n * estimate**2) / (n - 1) / n)
    half = two_sided(level, n - 1) * se
    return {"estimate": estimate, "se": se, "low": estimate - half, "high": estimate + half, "n": n}


def _t(level: float, df: float) -> float:
    from scipy.stats import t

    return float(t.ppf((1 + level) / 2, df))


def paired(a: Sequence[Value], b: Sequence[Value], *, level: float = LEVEL) -> Result:
    """Return the mean of a minus the mean of b over pairs, with the paired t test."""
    x, y = known_pairs(a, b)
    n = len(x)
    if n < 2:
        return undefined("estimate low high t df p", "fewer than two pairs", n=n)
    differences = [first - second for first, second in zip(x, y, strict=True)]
    return _tested(fmean(differences), sqrt(variance(differences) / n), n - 1, n, level)


def welch(a: Sequence[Value], b: Sequence[Value], *, level: float = LEVEL) -> Result:
    """Return the mean of a minus the mean of b, with Welch's t test for unequal variances."""
    x, y = known(a), known(b)
    if len(x) < 2 or len(y) < 2:
        return undefined("estimate low high t df p", "fewer than two values in a group", n=len(x) + len(y))
    u, v = variance(x) / len(x), variance(y) / len(y)
    difference, n = fmean(x) - fmean(y), len(x) + len(y)
    if u + v == 0:
        return undefined("low high t df p", "no variation", estimate=difference, n=n)
    df = (u + v) ** 2 / (u**2 / (len(x) - 1) + v**2 / (len(y) - 1))
    return _tested(difference, sqrt(u + v), df, n, level)


def _tested(difference: float, se: float, df: float, n: int, level: float) -> dict[str, Any]:
    """Return a difference with its interval and a two-sided t test."""
    if se == 0:
        return undefined("low high t df p", "no variation", estimate=difference, n=n)
    from scipy.stats import t

    half, statistic = _t(level, df) * se, difference / se
    return {
        "estimate": difference,
        "low": difference - half,
        "high": difference + half,
        "t": statistic,
        "df": df,
        "p": float(2 * t.sf(abs(statistic), df)),
        "n": n,
    }
