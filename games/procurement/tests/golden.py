"""Golden playthroughs, rewritten by `python -m games.procurement.tests.golden`."""

from pathlib import Path
from typing import Any

from games.tests import goldens

KEY = "procurement"
FOLDER = Path(__file__).parent / "golden"
MATCHES: dict[str, dict[str, Any]] = {
    "first": {"config": {"level": "small", "periods": 4, "instance_seed": 1}, "seed": 1, "scripts": ["greedy"]},
    "practice": {"config": {"level": "small", "periods": 2, "practice": True}, "seed": 2, "scripts": ["random"]},
}

if __name__ == "__main__":
    goldens.write(FOLDER, KEY, MATCHES)
