"""Quantiles of Student's t without a library, for the server's live statistics."""

from __future__ import annotations

from functools import lru_cache
from math import cos, pi, sin, sqrt, tan
from statistics import NormalDist

MIN_DF_FOR_EXPANSION = 200
"""From this number of degrees of freedom, the expansion around the normal quantile is accurate to ten digits."""


@lru_cache(maxsize=1024)
def two_sided(level: float, df: int) -> float:
    """Return the value that |T| does not exceed with probability `level`, for a t-distributed T.

    Source: Abramowitz & Stegun, 26.7.3 and 26.7.4 (finite sums), 26.7.5 (expansion).
    """
    if df > MIN_DF_FOR_EXPANSION:
        return _expanded(NormalDist().inv_cdf((1 + level) / 2), df)
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


def _expanded(x: float, df: int) -> float:
    terms = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + sum(term / df**power for power, term in enumerate(terms, start=1))
