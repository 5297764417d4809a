"""Golden playthroughs, rewritten by `python -m games.patience.tests.golden`."""

from pathlib import Path
from typing import Any

from games.tests import goldens

KEY = "patience"
FOLDER = Path(__file__).parent / "golden"
MATCHES: dict[str, dict[str, Any]] = {
    "first": {"config": {"amounts": [101, 103, 105, 110]}, "seed": 1, "scripts": ["five_percent"]},
}

if __name__ == "__main__":
    goldens.write(FOLDER, KEY, MATCHES)
