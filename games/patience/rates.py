"""The interest rate implied by choices between money now and later (EconEvals, section 4.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from analysis.measures.econevals import best_rates, reliabilities

Horizon = Literal["1 month", "6 months", "1 year", "5 years"]
YEARS: Mapping[str, float] = {"1 month": 1 / 12, "6 months": 0.5, "1 year": 1.0, "5 years": 5.0}
Compounding = Literal["continuous", "annual"]


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
    best = best_rates(fits)
    return None if best is None else ImpliedRates(*best)
