"""Golden playthroughs; `python -m games.item_auction.tests.golden` writes them again."""

from pathlib import Path
from typing import Any

from games.tests import goldens

KEY = "item_auction"
FOLDER = Path(__file__).parent / "golden"
LOTS = [
    {"name": "Lot 1", "description": "The first.", "start_price": 500},
    {"name": "Lot 2", "start_price": 300, "true_value": 310},
    {"name": "Lot 3", "start_price": 900},
]
MATCHES: dict[str, dict[str, Any]] = {
    "standard": {"config": {"items": LOTS, "budget": 2000}, "seed": 1, "scripts": ["rule", "estimate", "random"]},
    "objectives": {
        "config": {
            "players": 2,
            "items": LOTS,
            "budgets": [1500, 700],
            "objectives": ["profit", "items"],
            "overestimate_percents": [-20, 30],
            "order": "descending",
            "people_plan": True,
        },
        "seed": 2,
        "scripts": ["estimate", "greedy"],
    },
    "discount": {
        "config": {"players": 2, "items": LOTS[:1], "budget": 200, "discount_unsold": True, "tie_break": "first_seat"},
        "seed": 3,
        "scripts": ["greedy", "withdraw"],
    },
}

if __name__ == "__main__":
    goldens.write(FOLDER, KEY, MATCHES)
