"""Economics Arena: measures of contests and second-price auctions (section 3; equations 1 to 4)."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

TIE_TOLERANCE = 1e-9


def contest(answers: Sequence[float | None], upper: float, fraction: float = 2 / 3, prize: float = 1) -> dict[str, Any]:
    """Return the results of one run of the beauty contest.

    Returns:
        target (None without a valid number), winners (seats from 1), payoffs, fouls (seats from 1), deviations
        (answer / upper; None for a foul).
    """
    given = [answer if answer is not None and 0 <= answer <= upper else None for answer in answers]
    numbers = {seat: answer for seat, answer in enumerate(given, start=1) if answer is not None}
    target = fraction * fmean(numbers.values()) if numbers else None
    distances = {} if target is None else {seat: abs(answer - target) for seat, answer in numbers.items()}
    limit = min(distances.values(), default=0) + TIE_TOLERANCE * upper
    winners = [seat for seat, distance in distances.items() if distance <= limit]
    seats = range(1, len(answers) + 1)
    return {
        "target": target,
        "winners": winners,
        "payoffs": [prize / len(winners) if seat in winners else 0.0 for seat in seats],
        "fouls": [seat for seat in seats if seat not in numbers],
        "deviations": [None if answer is None else answer / upper for answer in given],
    }


def vickrey(
    bids: Sequence[float | None], values: Sequence[float], assets: float, foul_fee: float = 0
) -> dict[str, Any]:
    """Return the results of one run of the sealed second-price auction.

    Returns:
        final assets by seat, ne_final (final assets when all bid their value), assets_ratio = final / assets,
        payoff_ratio = final / ne_final, deviations = |payoff_ratio - 1|, winner (seat from 1), price, fouls.
    """
    given = [bid if bid is not None and 0 <= bid <= assets else None for bid in bids]
    winner, price = _winner_and_price(given)
    final = [
        assets - price + values[seat] if seat == winner else assets - (foul_fee if bid is None else 0)
        for seat, bid in enumerate(given)
    ]
    best, second = _winner_and_price(list(values))
    ne_final = [assets - second + values[seat] if seat == best else assets for seat in range(len(values))]
    ratios = [amount / reference for amount, reference in zip(final, ne_final, strict=True)]
    return {
        "final": final,
        "ne_final": ne_final,
        "assets_ratio": [amount / assets for amount in final],
        "payoff_ratio": ratios,
        "deviations": [abs(ratio - 1) for ratio in ratios],
        "winner": None if winner is None else winner + 1,
        "price": None if winner is None else price,
        "fouls": [seat for seat, bid in enumerate(given, start=1) if bid is None],
    }


def _winner_and_price(bids: Sequence[float | None]) -> tuple[int | None, float]:
    """Return the winner (from 0; ties go to the lowest seat) and the second-highest bid (0 if there is none)."""
    ranked = sorted((-bid, seat) for seat, bid in enumerate(bids) if bid is not None)
    if not ranked:
        return None, 0.0
    return ranked[0][1], -ranked[1][0] if len(ranked) > 1 else 0.0
