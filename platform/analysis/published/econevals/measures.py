"""EconEvals: measures that no game computes with: implied rates, the duopoly's litmus score, the scheduling score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from typing import Any

from games.patience.rates import best_fit, reliabilities
from games.scheduling.blocking import expected_blocking

QUALITY, OUTSIDE, COST, MU = 2.0, 0.0, 1.0, 0.25
"""Parameters of the published duopoly; prices are α times those at α = 1."""


def implied_rate(amounts: Sequence[float], shares_later: Sequence[float | None], years: float) -> dict[str, Any]:
    """Return the continuously compounded interest rate that best fits the choices, and how well it fits.

    Args:
        shares_later: share of "later" at each amount; None if no one answered.

    Returns:
        rate (a fraction: .05 is 5 % a year; the median of the best-fitting rates), rate_low, rate_high, reliability.
    """
    return best_rate(reliabilities(amounts, shares_later, years))


def best_rate(fits: Mapping[float, float | None]) -> dict[str, Any]:
    """Return the rate with the highest reliability, in the form that `implied_rate` returns."""
    best = best_fit(fits)
    if best is None:
        return {"rate": None, "rate_low": None, "rate_high": None, "reliability": None, "note": "no answers"}
    return {
        "rate": best.rate / 100,
        "rate_low": best.rates[0] / 100,
        "rate_high": best.rates[-1] / 100,
        "reliability": best.reliability,
    }


def duopoly(alpha: float) -> dict[str, float]:
    """Return the reference prices of the published market: nash, collusive and monopoly (a single firm)."""
    return {
        "nash": _price(alpha, lambda a: a / (2 * a + _outside())),
        "collusive": _price(alpha, lambda a: 2 * a / (2 * a + _outside())),
        "monopoly": _price(alpha, lambda a: a / (a + _outside())),
    }


def _outside() -> float:
    return exp(OUTSIDE / MU)


def _price(alpha: float, share: Any) -> float:
    """Return the price with (p/α - c)/μ·(1 - market share) = 1, by bisection on the normalised markup."""
    low, high = 1.0, 100.0
    for _step in range(200):
        middle = (low + high) / 2
        attraction = exp((QUALITY - COST) / MU - middle)
        low, high = (middle, high) if middle * (1 - share(attraction)) < 1 else (low, middle)
    return alpha * (COST + MU * (low + high) / 2)


def duopoly_litmus(mean_price: float, alpha: float) -> float:
    """Return where a mean price lies between the Nash price (0) and the collusive price (1)."""
    reference_prices = duopoly(alpha)
    score = (mean_price - reference_prices["nash"]) / (reference_prices["collusive"] - reference_prices["nash"])
    return min(max(score, 0.0), 1.0)


def scheduling_score(blocking: int, worker_ranks: Any, task_ranks: Any) -> float | None:
    """Return 1 - blocking pairs / expected blocking pairs in a uniform random matching; 1 if none are expected."""
    expected = expected_blocking(worker_ranks, task_ranks)
    if expected is None:
        return None
    return 1 - blocking / expected if expected else 1.0
