"""The interest rate implied by choices between money now and later (EconEvals, section 4.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp
from statistics import fmean, median
from typing import Literal

Horizon = Literal["1 month", "6 months", "1 year", "5 years"]
YEARS: Mapping[str, float] = {"1 month": 1 / 12, "6 months": 0.5, "1 year": 1.0, "5 years": 5.0}
Compounding = Literal["continuous", "annual"]
RATES = tuple(round(0.1 * step, 1) for step in range(201))
"""Candidate interest rates, in percent per year."""
NOW = 100.0
"""The money now."""
AMOUNT_TOLERANCE, FIT_TOLERANCE = 1e-9, 1e-12


@dataclass(frozen=True)
class ImpliedRates:
    """The rates that fit best, ascending in percent, and how well they fit."""

    rates: tuple[float, ...]
    reliability: float

    @property
    def rate(self) -> float:
        """The median of the rates, in percent."""
        return median(self.rates)


def implied_rate(
    amounts: Sequence[float], later: Sequence[float], years: float, *, compounding: Compounding = "continuous"
) -> ImpliedRates | None:
    """Return the rates that fit the choices best; None if there are no choices."""
    return best_fit(reliabilities(amounts, later, years, annually=compounding == "annual"))


def best_fit(fits: Mapping[float, float | None]) -> ImpliedRates | None:
    """Return the rates with the highest reliability; None if no rate has one."""
    defined = {rate: fit for rate, fit in fits.items() if fit is not None}
    if not defined:
        return None
    best = max(defined.values())
    return ImpliedRates(tuple(rate for rate, fit in defined.items() if fit >= best - FIT_TOLERANCE), best)


def mean_reliabilities(curves: Sequence[Mapping[float, float | None]]) -> dict[float, float | None]:
    """Return the reliability of every rate, averaged over horizons."""
    means: dict[float, float | None] = {}
    for rate in RATES:
        values = [value for curve in curves if (value := curve[rate]) is not None]
        means[rate] = fmean(values) if values else None
    return means


def reliabilities(
    amounts: Sequence[float], shares_later: Sequence[float | None], years: float, *, annually: bool = False
) -> dict[float, float | None]:
    """Return how well each candidate rate fits: 1 - mean over amounts of |g(x) - f(x)|, by rate in percent.

    Args:
        shares_later: f(x), the share of "later" at each amount; None if no one answered.
        annually: compound interest once a year instead of continuously.
    """
    points = [(amount, share) for amount, share in zip(amounts, shares_later, strict=False) if share is not None]

    def growth(rate: float) -> float:
        return (1 + rate / 100) ** years if annually else exp(rate / 100 * years)

    return {rate: _fit(points, NOW * growth(rate)) for rate in RATES}


def _fit(points: Sequence[tuple[float, float]], indifferent: float) -> float | None:
    distances = [
        abs((amount > indifferent) - share) for amount, share in points if abs(amount - indifferent) > AMOUNT_TOLERANCE
    ]
    return 1 - fmean(distances) if distances else None
