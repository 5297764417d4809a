"""AucArena: failure rates and bid increments (sections 4.3 and 5, appendix B)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any


def corrected_failure_rate(failures: int, correct: int) -> float | None:
    """Return CFR = F / (C + F); None if both are 0."""
    return failures / (correct + failures) if correct + failures else None


def increments(bids: Sequence[tuple[Hashable, float]], start: float) -> dict[str, Any]:
    """Return the percentage by which each bid on an item exceeds the bidder's previous bid and the standing bid.

    Args:
        bids: (bidder, amount) in order; without a previous bid, the start price is used.

    Returns:
        own and standing, in percent, one value per bid.
    """
    last_bids: dict[Hashable, float] = {}
    standing: float | None = None
    own_base, standing_base = [], []
    for bidder, amount in bids:
        own_base.append(100 * (amount / last_bids.get(bidder, start) - 1))
        standing_base.append(100 * (amount / (start if standing is None else standing) - 1))
        last_bids[bidder] = amount
        standing = amount if standing is None else max(standing, amount)
    return {"own": own_base, "standing": standing_base}
