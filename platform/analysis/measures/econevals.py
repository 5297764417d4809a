"""EconEvals: implied interest rates, litmus scores and the scheduling score (sections 3 and 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from operator import mul
from statistics import fmean, median
from typing import Any

RATES = tuple(round(0.1 * step, 1) for step in range(201))
"""Candidate interest rates, in percent per year."""
NOW = 100.0
AMOUNT_TOLERANCE, FIT_TOLERANCE = 1e-9, 1e-12
QUALITY, OUTSIDE, COST, MU = 2.0, 0.0, 1.0, 0.25
"""Parameters of the published duopoly; prices are α times those at α = 1."""
Point = tuple[float, float]


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
    best = best_rates(fits)
    if best is None:
        return {"rate": None, "rate_low": None, "rate_high": None, "reliability": None, "note": "no answers"}
    rates, reliability = best
    return {
        "rate": median(rates) / 100,
        "rate_low": rates[0] / 100,
        "rate_high": rates[-1] / 100,
        "reliability": reliability,
    }


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


def best_rates(fits: Mapping[float, float | None]) -> tuple[tuple[float, ...], float] | None:
    """Return the best-fitting rates in ascending order and how well they fit; None if no rate can be fitted."""
    defined = {rate: fit for rate, fit in fits.items() if fit is not None}
    if not defined:
        return None
    best = max(defined.values())
    return tuple(rate for rate, fit in defined.items() if fit >= best - FIT_TOLERANCE), best


def _fit(points: Sequence[tuple[float, float]], indifferent: float) -> float | None:
    distances = [
        abs((amount > indifferent) - share) for amount, share in points if abs(amount - indifferent) > AMOUNT_TOLERANCE
    ]
    return 1 - fmean(distances) if distances else None


def task_allocation(P: Point, eq: Point, eff: Point) -> dict[str, Any]:
    """Return where a result (revenue, inequality) lies between equality (0) and efficiency (1), and its distance.

    Returns:
        litmus: position along the line; alternate: distance from the line, relative to that of the point with the
        revenue of equality and the inequality of efficiency.
    """
    across = (eq[0] - eff[0], eq[1] - eff[1])
    length = across[0] ** 2 + across[1] ** 2
    if length == 0:
        return {"litmus": None, "alternate": None, "note": "equality and efficiency coincide"}
    along = ((eq[0] - P[0]) * across[0] + (eq[1] - P[1]) * across[1]) / length

    def distance(point: Point) -> float:
        return abs(across[0] * (eq[1] - point[1]) - (eq[0] - point[0]) * across[1])

    worst = distance((eq[0], eff[1]))
    return {"litmus": min(max(along, 0.0), 1.0), "alternate": distance(P) / worst if worst else None}


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


def expected_blocking(worker_ranks: Any, task_ranks: Any) -> float | None:
    """Return the expected number of blocking pairs in a uniform random matching.

    It is Σ (n - rank_w(t))(n - rank_t(w)) / (n(n-1)).

    Args:
        worker_ranks: rank of each task by each worker, from 1, as rows or {worker: {task: rank}}.
        task_ranks: rank of each worker by each task, in the same form.
    """
    by_worker, by_task = _rows(worker_ranks), _rows(task_ranks)
    n = len(by_worker)
    if n < 2:
        return None
    # Σ (n - a)(n - b) = Σ ab - n³, because every row of ranks contains 1 to n exactly once.
    ranks_by_tasks = zip(*by_task, strict=True)  # for each worker, the ranks that all tasks give to the worker
    total = sum(sum(map(mul, row, ranks)) for row, ranks in zip(by_worker, ranks_by_tasks, strict=True)) - n**3
    return total / (n * (n - 1))


def _rows(ranks: Any) -> list[list[int]]:
    if isinstance(ranks, Mapping):
        return [list(row.values()) if isinstance(row, Mapping) else list(row) for row in ranks.values()]
    return [list(row.values()) if isinstance(row, Mapping) else list(row) for row in ranks]


def scheduling_score(blocking: int, worker_ranks: Any, task_ranks: Any) -> float | None:
    """Return 1 - blocking pairs / expected blocking pairs in a uniform random matching; 1 if none are expected."""
    expected = expected_blocking(worker_ranks, task_ranks)
    if expected is None:
        return None
    return 1 - blocking / expected if expected else 1.0
