"""Amounts of money as shown to the players of a negotiation."""

from __future__ import annotations

from games.words import Amounts, money, points
from games.words import gettext as _

MAX_IN_FULL = 1e15
"""Larger amounts are written with a power of ten, since any finite price may be named."""


def dollars(amount: float) -> str:
    """Return `amount` in dollars and cents; with four digits if it is less than a dollar and not in whole cents.

    >>> dollars(12000), dollars(0.004), dollars(2e20)
    ('$12,000', '$0.004', '$2e+20')
    """
    sign = "-" if amount < 0 else ""
    if abs(amount) >= MAX_IN_FULL:
        return f"{sign}${abs(amount):.4g}"
    if abs(amount) < 1 and abs(round(amount, 2) - amount) > 1e-9:
        return f"{sign}${abs(amount):.4g}"
    return money(amount)


def formatted(amount: float, amounts: Amounts) -> str:
    """Return `amount` in the study's unit, points or dollars."""
    return points(amount) if amounts == "points" else dollars(amount)


def earnings(gain: float, amounts: Amounts = "dollars") -> str:
    """Return what a trade would earn, as an unmistakable clause: "you would lose $5"."""
    size = formatted(abs(gain), amounts)
    if size == formatted(0, amounts):
        return _("you would earn nothing")
    sentence = _("you would earn {amount}") if gain > 0 else _("you would lose {amount}")
    return sentence.format(amount=size)
