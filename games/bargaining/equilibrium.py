"""Theoretical predictions for GLEE's games."""

from __future__ import annotations

from functools import lru_cache


def proposer_share(own: float, other: float, rounds_left: int | None) -> float:
    """Return the proposer's share of the money in the subgame-perfect equilibrium of alternating offers.

    Args:
        own, other: discount factors of the proposer and of the responder.
        rounds_left: rounds that can still be played, including this one; None for an infinite horizon.

    Infinite horizon: (1-δ_other)/(1-δ_own·δ_other), or one half if both are 1 (Rubinstein 1982). Finite horizon:
    backward induction from the last round, in which the proposer keeps everything.
    """
    if rounds_left is None:
        return 0.5 if own == other == 1 else (1 - other) / (1 - own * other)
    return _finite_share(own, other, rounds_left)


@lru_cache(maxsize=4096)
def _finite_share(own: float, other: float, rounds_left: int) -> float:
    """Return the share by backward induction: the responder is offered the discounted value of proposing next."""
    first_keeps, second_keeps = 1.0, 1.0
    for _remaining in range(rounds_left - 1):
        first_keeps, second_keeps = 1 - other * second_keeps, 1 - own * first_keeps
    return first_keeps
