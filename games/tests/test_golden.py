"""Golden playthroughs: whole matches stored verbatim, so that no rule or text changes unnoticed.

A match is a file `games/<game>/tests/golden/<name>.json` with config, seed and each seat's script.
`PYTHONPATH=platform:. python -m games.tests.test_golden` plays all of them and writes the rest again.
Check the difference, and raise `rules_version` if an old log would replay differently.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import games.play
from games import registry
from games.tests.ours import OURS

FOLDER = Path(__file__).parents[1]
FILES = sorted(FOLDER.glob("*/tests/golden/*.json"))


def playthrough(path: Path) -> tuple[Any, Any]:
    """Return a stored match, and what it shows today: its log, its result, and what the first two seats read."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    match = {key: stored[key] for key in ("config", "seed", "scripts")}
    game = games.play.configure(registry.get(path.relative_to(FOLDER).parts[0]), match["config"])
    scripts = dict(zip(game.roles(), match["scripts"], strict=True))
    play, new_events = games.play.start(game, match["seed"])
    events, readers = list(new_events), game.roles()[:2]
    seen = {role: [[repr(block) for block in play.view(role)]] for role in readers}
    while not play.over:
        role, before = play.waiting_for()[0], play
        play, new_events = games.play.submit(play, role, games.play.script_move(play, role, scripts[role]))
        events += new_events
        if play.step > before.step:
            for reader in readers:
                seen[reader].append([repr(block) for block in play.view(reader)])
    return stored, {
        **match,
        "instructions": {role: game.instructions(role) for role in readers},
        "events": [event.as_dict() for event in events],
        "seen": seen,
        "payoffs": play.payoffs(),
        "metrics": play.metrics(),
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.relative_to(FOLDER).parts[0]}-{path.stem}")
def test_match_equals_its_stored_playthrough(path: Path) -> None:
    stored, played = playthrough(path)
    assert json.loads(json.dumps(played)) == stored


def test_every_game_has_a_golden_playthrough() -> None:
    assert {path.relative_to(FOLDER).parts[0] for path in FILES} == set(OURS)


if __name__ == "__main__":
    for path in FILES:
        text = json.dumps(playthrough(path)[1], indent=1, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")
