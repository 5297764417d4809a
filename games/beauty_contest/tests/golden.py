"""Golden playthroughs, rewritten by `python -m games.beauty_contest.tests.golden`."""

from pathlib import Path
from typing import Any

from games.tests import goldens

KEY = "beauty_contest"
FOLDER = Path(__file__).parent / "golden"
MATCHES: dict[str, dict[str, Any]] = {
    "one_run": {"config": {}, "seed": 1, "scripts": ["rational", "level_1", "level_2", "level_3", "random"]},
    "history": {
        "config": {"players": 3, "runs": 4, "history_depth": 2, "told_of_others": "similar"},
        "seed": 2,
        "scripts": ["adaptive", "fouler", "no_answer"],
    },
}

if __name__ == "__main__":
    goldens.write(FOLDER, KEY, MATCHES)
