"""Configurations of the item auction for the contract tests, and pairs that a bidder cannot tell apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.examples import Examples, Pair
from games.item_auction.state import Auction

LOTS = [{"name": "Lot 1", "start_price": 100}, {"name": "Lot 2", "start_price": 250, "true_value": 300}]


def _auction(percents: list[int], *true_values: int) -> Mapping[str, Any]:
    items = [
        {"name": f"Lot {number}", "start_price": 500, "true_value": true_value}
        for number, true_value in enumerate(true_values, 1)
    ]
    return {"items": items, "overestimate_percents": percents, "budgets": [4000, 5000, 6000]}


def _sells(game: Any, before: Auction, moves: Mapping[str, Any], after: Auction, role: str) -> bool:
    """Return whether a step reveals a true value."""
    return len(after.sold()) > len(before.sold())


EQUAL_FOR_ALL = (_auction([10, 10, 10], 3000, 1000), _auction([0, 0, 0], 3300, 1100))
EQUAL_FOR_ONE = {
    "p1": (_auction([10, 20, 30], 3000, 1000), _auction([0, -10, 50], 3300, 1100)),
    "p3": (_auction([5, -20, 50], 2000, 600), _auction([9, 100, 200], 1000, 300)),
}
"""By bidder: two auctions with different true values and overestimates but the same estimates for that bidder."""

EXAMPLES = Examples(
    configs=(
        {"players": 2, "items": LOTS, "budget": 400, "discount_unsold": True, "order": "listed"},
        {"players": 4, "items": LOTS, "budgets": [100, 300, 500, 900], "objectives": ["items", "profit"] * 2},
        {
            "items": LOTS,
            "budget": 600,
            "overestimate_percents": [0, 10, -50],
            "notes": False,
            "tie_break": "first_seat",
        },
        {"items": LOTS, "budget": 900, "values": "drawn", "players": 3, "minimum_button": True},
        {"items": LOTS, "budget": 500, "people_plan": True, "order": "descending", "increment_percent": 40},
    ),
    reveals=_sells,
    pairs=(
        *(Pair(role, *EQUAL_FOR_ALL) for role in ("p1", "p2", "p3")),
        *(Pair(role, *pair) for role, pair in EQUAL_FOR_ONE.items()),
    ),
)
