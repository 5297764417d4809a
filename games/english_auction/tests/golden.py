"""Golden playthroughs, rewritten by `python -m games.english_auction.tests.golden`."""

from pathlib import Path
from typing import Any

from games.tests import goldens

KEY = "english_auction"
FOLDER = Path(__file__).parent / "golden"
MATCHES: dict[str, dict[str, Any]] = {
    "rational": {
        "config": {"players": 3, "assets": 100, "values": [80, 65, 20]},
        "seed": 1,
        "scripts": ["rational", "rational", "rational"],
    },
    "start_price": {
        "config": {"players": 4, "start_price": 300, "increment": 25, "told_of_others": "rational"},
        "seed": 2,
        "scripts": ["drop_out", "overbidder", "random", "underbidder"],
    },
    "nobody_bids": {"config": {"players": 2}, "seed": 3, "scripts": ["drop_out", "drop_out"]},
}

if __name__ == "__main__":
    goldens.write(FOLDER, KEY, MATCHES)
