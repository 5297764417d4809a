"""Golden playthroughs, rewritten by `python -m games.duopoly.tests.golden`."""

from pathlib import Path
from typing import Any

from games.tests import goldens

KEY = "duopoly"
FOLDER = Path(__file__).parent / "golden"
MATCHES: dict[str, dict[str, Any]] = {
    "first": {"config": {"periods": 4}, "seed": 1, "scripts": ["tit_for_tat", "random"]},
    "alone": {"config": {"periods": 4, "rival": False, "alpha": 3.2}, "seed": 1, "scripts": ["random"]},
}

if __name__ == "__main__":
    goldens.write(FOLDER, KEY, MATCHES)
