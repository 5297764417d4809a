"""Arithmetic that several games need: distributions to draw from, means, and sums of exponentials."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, exp, log, log1p
from random import Random
from statistics import fmean


def geometric(p: float, rng: Random) -> int:
    """Draw from Geom(p) on 1, 2, 3…: the number of trials up to the first success."""
    return max(1, ceil(log1p(-rng.random()) / log1p(-p))) if p < 1 else 1


def cents(amount: float) -> float:
    """Round an amount of money to cents."""
    return round(amount, 2)


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are known; None if there are none."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def log_sum(logs: Sequence[float]) -> float:
    """Return the logarithm of a sum of exponentials, given their exponents, which may be of any size."""
    highest = max(logs)
    return highest + log(sum(exp(value - highest) for value in logs))
