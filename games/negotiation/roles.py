"""Seller and buyer, and how each of them judges a price."""

from __future__ import annotations

from games.interface import Role

SELLER, BUYER = "alice", "bob"


def other(role: Role) -> Role:
    """The player across the table."""
    return BUYER if role == SELLER else SELLER


def gain(role: Role, price: float, value: float) -> float:
    """What a trade at `price` earns the role to whom the product is worth `value`; negative for a loss."""
    return price - value if role == SELLER else value - price


def at_least_as_good(role: Role, price: float, than: float) -> bool:
    """Whether the role likes `price` no less than the price `than`; exact, where differences of floats are not."""
    return price >= than if role == SELLER else price <= than
