"""Correlations, contingency tables, and standardised differences between groups."""

from __future__ import annotations

from collections.abc import Sequence
from math import atanh, sqrt, tanh
from statistics import NormalDist, fmean, variance

from analysis.toolbox.numbers import Result, Value, known, known_pairs, undefined

FEWEST_FOR_INTERVAL = 4
"""Minimum number of pairs for an interval, because the standard error of Fisher's z is 1/√(n-3)."""


def pearson(x: Sequence[Value], y: Sequence[Value], *, level: float = 0.95) -> Result:
    """Return Pearson's correlation with its test and Fisher's z interval."""
    a, b = known_pairs(x, y)
    if note := _why_undefined(a, b):
        return undefined("estimate low high p", note, n=len(a))
    from scipy.stats import pearsonr

    test = pearsonr(a, b)
    r, n = float(test.statistic), len(a)
    result: Result = {"estimate": r, "low": None, "high": None, "p": float(test.pvalue), "n": n}
    if n >= FEWEST_FOR_INTERVAL and abs(r) < 1:
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
    """Return why a correlation is undefined; empty if it is defined."""
    if len(a) < 3:
        return "fewer than three pairs"
    if len(set(a)) == 1 or len(set(b)) == 1:
        return "a variable is constant"
    return ""


def correlation_difference(r1: float | None, n1: int, r2: float | None, n2: int) -> Result:
    """Return the two-sided z test of Fisher's transforms for the difference of two independent correlations."""
    if r1 is None or r2 is None or abs(r1) >= 1 or abs(r2) >= 1 or min(n1, n2) <= 3:
        return undefined("z p", "a correlation is missing, is ±1, or has fewer than four pairs")
    z = (atanh(r1) - atanh(r2)) / sqrt(1 / (n1 - 3) + 1 / (n2 - 3))
    return {"z": z, "p": 2 * (1 - NormalDist().cdf(abs(z)))}


def balance(table: Sequence[Sequence[int]]) -> Result:
    """Return the χ² test of a table of counts (no continuity correction), with Cramér's V (no bias correction)."""
    rows = [list(row) for row in table if sum(row) > 0]
    columns = [column for column in zip(*rows, strict=True) if sum(column) > 0]
    if len(rows) < 2 or len(columns) < 2:
        return undefined("chi2 df p cramers_v smallest_expected", "only one row or one column", n=sum(map(sum, rows)))
    from scipy.stats import chi2_contingency

    counts = [list(row) for row in zip(*columns, strict=True)]
    test = chi2_contingency(counts, correction=False)
    n = sum(map(sum, counts))
    return {
        "chi2": float(test.statistic),
        "df": int(test.dof),
        "p": float(test.pvalue),
        "cramers_v": sqrt(test.statistic / (n * (min(len(counts), len(counts[0])) - 1))),
        "smallest_expected": float(test.expected_freq.min()),
        "n": n,
    }


def smd(a: Sequence[Value], b: Sequence[Value]) -> Result:
    """Return the standardised mean difference: (mean a - mean b) / √((var a + var b)/2), variances with n-1."""
    x, y = known(a), known(b)
    if len(x) < 2 or len(y) < 2:
        return undefined("estimate", "fewer than two values in a group", n=len(x) + len(y))
    spread = sqrt((variance(x) + variance(y)) / 2)
    if spread == 0:
        return undefined("estimate", "no variation", n=len(x) + len(y))
    return {"estimate": (fmean(x) - fmean(y)) / spread, "n": len(x) + len(y)}
