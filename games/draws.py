"""Distributions that games draw from."""

from __future__ import annotations

from math import ceil, log1p
from random import Random


def geometric(p: float, rng: Random) -> int:
    """Draw from Geom(p) on 1, 2, 3…: the number of trials up to the first success."""
    return max(1, ceil(log1p(-rng.random()) / log1p(-p))) if p < 1 else 1


def cents(amount: float) -> float:
    """Round an amount of money to cents."""
    return round(amount, 2)
