"""Seller and buyer, and the two qualities of a product."""

from __future__ import annotations

from typing import Literal

from games.interface import Role

SELLER, BUYER = "alice", "bob"
Quality = Literal["high", "low"]
HIGH: Quality = "high"
LOW: Quality = "low"


def other(role: Role) -> Role:
    """Return the other player's role."""
    return BUYER if role == SELLER else SELLER
