"""Seller and buyer, and the two qualities of a product."""

from __future__ import annotations

from typing import Literal

from games.glee import ALICE, BOB

SELLER, BUYER = ALICE, BOB
Quality = Literal["high", "low"]
HIGH: Quality = "high"
LOW: Quality = "low"
