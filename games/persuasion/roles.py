"""Who sells and who buys, and what a product can be."""

from __future__ import annotations

from typing import Literal

from games.interface import Role

SELLER, BUYER = "alice", "bob"
Quality = Literal["high", "low"]
HIGH: Quality = "high"
LOW: Quality = "low"


def other(role: Role) -> Role:
    """The player on the other side."""
    return BUYER if role == SELLER else SELLER
