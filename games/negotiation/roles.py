"""Seller and buyer, and how each compares prices."""

from __future__ import annotations

from games.glee import ALICE, BOB
from games.interface import Role

SELLER, BUYER = ALICE, BOB


def gain(role: Role, price: float, value: float) -> float:
    """Return what a trade at `price` earns a role that values the product at `value`; negative for a loss."""
    return price - value if role == SELLER else value - price


def at_least_as_good(role: Role, price: float, other_price: float) -> bool:
    """Return whether `price` is at least as good for the role as `other_price`; exact, unlike differences of floats."""
    return price >= other_price if role == SELLER else price <= other_price
