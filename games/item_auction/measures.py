"""Bid increments and rank correlations of an auction (AucArena, section 4.3 and appendix B)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from games.interface import Role
from games.item_auction.state import Lot

MIN_RANKED = 3
"""The fewest pairs for which a rank correlation is computed."""


def increments(lot: Lot, role: Role) -> Iterator[tuple[float, float]]:
    """Yield for each of the role's bids on this item: percent above its own preceding bid, and above the standing bid.

    If there was none, percent above the current start price.
    """
    own_bid: int | None = None
    standing_bid: int | None = None
    for bidding_round in lot.rounds:
        bid = bidding_round.answers.get(role)
        if bid is not None:
            yield _percent_above(bid, own_bid or lot.start_price), _percent_above(bid, standing_bid or lot.start_price)
            own_bid = bid
        standing_bid = bidding_round.standing


def _percent_above(bid: int, base: int) -> float:
    return 100 * (bid / base - 1)


def rank_correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Return Spearman's rho with average ranks; None for fewer than three pairs or if either side is constant.

    >>> round(rank_correlation((3, 1, 2, 2), (5, 0, 1, 3)), 6)
    0.948683
    """
    if len(x) < MIN_RANKED or len(set(x)) == 1 or len(set(y)) == 1:
        return None
    a, b = _ranks(x), _ranks(y)
    mean_rank = (len(x) + 1) / 2
    covariance = sum((p - mean_rank) * (q - mean_rank) for p, q in zip(a, b, strict=True))
    variances = [sum((p - mean_rank) ** 2 for p in ranks) for ranks in (a, b)]
    return float(covariance / (variances[0] * variances[1]) ** 0.5)


def _ranks(values: Sequence[float]) -> list[float]:
    """Return average ranks from 1."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) + 1) / 2 for value in values]
