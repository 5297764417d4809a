"""Amounts of money as the players of a negotiation read them."""

from __future__ import annotations

from games.words import gettext as _
from games.words import money

MOST_IN_FULL = 1e15
"""Amounts from here on are written with a power of ten: any finite price may be named."""


def dollars(amount: float) -> str:
    """`amount` in dollars and cents; with four digits where it is less than a dollar and not in cents.

    >>> dollars(12000), dollars(0.004), dollars(2e20)
    ('$12,000', '$0.004', '$2e+20')
    """
    sign = "-" if amount < 0 else ""
    if abs(amount) >= MOST_IN_FULL:
        return f"{sign}${abs(amount):.4g}"
    if abs(amount) < 1 and abs(round(amount, 2) - amount) > 1e-9:
        return f"{sign}${abs(amount):.4g}"
    return money(amount)


def earnings(gain: float) -> str:
    """What a trade would bring, in words that cannot be mistaken: "you would lose $5"."""
    size = dollars(abs(gain))
    if size == dollars(0):
        return _("you would earn nothing")
    words = _("you would earn {amount}") if gain > 0 else _("you would lose {amount}")
    return words.format(amount=size)
