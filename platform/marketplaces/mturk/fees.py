"""What Mechanical Turk takes: 20 % of rewards and bonuses, 40 % of the rewards of tasks with ten assignments or more.

Source: its published prices for requesters; at least a cent for each assignment and each bonus. Amounts are
US dollars in whole cents.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")
SMALL, LARGE = Decimal("0.20"), Decimal("0.40")
LARGE_FROM = 10
"""Assignments from which on a task is a large one."""


def share_of(assignments: int) -> Decimal:
    """The fee on each reward of a task with so many assignments, as a share of the reward."""
    return LARGE if assignments >= LARGE_FROM else SMALL


def of_reward(reward: Decimal, *, assignments: int) -> Decimal:
    """The fee on one reward."""
    return _fee(reward, share_of(assignments))


def of_bonus(amount: Decimal) -> Decimal:
    """The fee on one bonus."""
    return _fee(amount, SMALL)


def of_task(reward: Decimal, *, assignments: int) -> Decimal:
    """What a whole task costs when all its assignments are approved: rewards and fees, without bonuses."""
    return assignments * (reward + of_reward(reward, assignments=assignments))


def _fee(amount: Decimal, share: Decimal) -> Decimal:
    return max(CENT, (amount * share).quantize(CENT, rounding=ROUND_HALF_UP))
