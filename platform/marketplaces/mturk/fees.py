"""Mechanical Turk's fees: 20 % of rewards and bonuses, and 40 % of rewards for tasks with ten or more assignments.

Source: its published prices for requesters. The minimum is one cent for each assignment and each bonus. Amounts are in
US dollars and whole cents.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")
BASIC_SHARE, LARGE_TASK_SHARE = Decimal("0.20"), Decimal("0.40")
LARGE_FROM = 10
"""Number of assignments from which the higher fee applies."""


def reward_share(assignments: int) -> Decimal:
    """Return the fee on each reward as a share of the reward, for a task with this many assignments."""
    return LARGE_TASK_SHARE if assignments >= LARGE_FROM else BASIC_SHARE


def reward_fee(reward: Decimal, *, assignments: int) -> Decimal:
    """Return the fee on one reward."""
    return _fee(reward, reward_share(assignments))


def bonus_fee(amount: Decimal) -> Decimal:
    """Return the fee on one bonus."""
    return _fee(amount, BASIC_SHARE)


def _fee(amount: Decimal, share: Decimal) -> Decimal:
    return max(CENT, (amount * share).quantize(CENT, rounding=ROUND_HALF_UP))
