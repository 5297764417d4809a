"""EconEvals: measures that no game computes with: implied rates, the duopoly's litmus score, the scheduling score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from games.duopoly.market import Market
from games.patience.rates import best_fit, reliabilities
from games.scheduling.blocking import expected_blocking

MARKET = {"quality": 2.0, "outside": 0.0, "cost": 1.0, "mu": 0.25, "size": 100.0}
"""Parameters of the published duopoly."""


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
    market = Market(alpha, **MARKET)
    return {"nash": market.nash_price, "collusive": market.collusive_price, "monopoly": market.monopoly_price}


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
