"""Mechanical Turk's fees on single payments, in US dollars and whole cents; `recruiters.terms` has the numbers."""

from __future__ import annotations

from decimal import Decimal

from recruiters.terms import CENT, MTURK_BASIC_SHARE, MTURK_LARGE_FROM, MTURK_LARGE_SHARE, fee_on

LARGE_FROM = MTURK_LARGE_FROM


def reward_share(assignments: int) -> Decimal:
    """Return the fee on each reward as a share of the reward, for a task with this many assignments."""
    return MTURK_LARGE_SHARE if assignments >= MTURK_LARGE_FROM else MTURK_BASIC_SHARE


def reward_fee(reward: Decimal, *, assignments: int) -> Decimal:
    """Return the fee on one reward."""
    return fee_on(reward, reward_share(assignments), CENT)


def bonus_fee(amount: Decimal) -> Decimal:
    """Return the fee on one bonus."""
    return fee_on(amount, MTURK_BASIC_SHARE, CENT)
