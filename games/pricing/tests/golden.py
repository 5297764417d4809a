"""Golden playthroughs, rewritten by `python -m games.pricing.tests.golden`."""

from pathlib import Path
from typing import Any

from games.tests import goldens

KEY = "pricing"
FOLDER = Path(__file__).parent / "golden"
MATCHES: dict[str, dict[str, Any]] = {
    "first": {"config": {"periods": 4, "instance_seed": 1}, "seed": 1, "scripts": ["climb"]},
}

if __name__ == "__main__":
    goldens.write(FOLDER, KEY, MATCHES)
