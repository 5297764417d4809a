"""Golden playthroughs, rewritten by `python -m games.sealed_auction.tests.golden`."""

from pathlib import Path
from typing import Any

from games.tests import goldens

KEY = "sealed_auction"
FOLDER = Path(__file__).parent / "golden"
MATCHES: dict[str, dict[str, Any]] = {
    "one_run": {
        "config": {},
        "seed": 1,
        "scripts": ["truthful", "overbidder", "underbidder", "shade", "random"],
    },
    "values_revealed": {
        "config": {"players": 3, "runs": 3, "history_depth": 1, "history_reveals": "bids_and_values", "foul_fee": 5},
        "seed": 2,
        "scripts": ["rational", "no_answer", "random"],
    },
    "first_price": {
        "config": {"players": 2, "price_rule": "first", "told_of_others": "rational", "values": [300, 700]},
        "seed": 3,
        "scripts": ["rational", "truthful"],
    },
}

if __name__ == "__main__":
    goldens.write(FOLDER, KEY, MATCHES)
