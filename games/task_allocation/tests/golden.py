"""Golden playthroughs, rewritten by `python -m games.task_allocation.tests.golden`."""

from pathlib import Path
from typing import Any

from games.tests import goldens

KEY = "task_allocation"
FOLDER = Path(__file__).parent / "golden"
MATCHES: dict[str, dict[str, Any]] = {
    "first": {"config": {"periods": 7, "instance_seed": 1}, "seed": 1, "scripts": ["greedy_efficiency"]},
}

if __name__ == "__main__":
    goldens.write(FOLDER, KEY, MATCHES)
