"""Golden playthroughs of games with simultaneous moves or many seats: whole matches stored verbatim."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import games.play
from games import registry


def playthrough(key: str, match: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a match shows: its log, its result, and the first two seats' texts before, during and after it.

    Args:
        match: {config, seed, scripts: each seat's script, in order}.
    """
    game = games.play.configure(registry.get(key), match["config"])
    scripts = dict(zip(game.roles(), match["scripts"], strict=True))
    play, new_events = games.play.start(game, match["seed"])
    events, readers = list(new_events), game.roles()[:2]
    shown_blocks = {role: [[repr(block) for block in play.view(role)]] for role in readers}
    while not play.over:
        role = play.waiting_for()[0]
        before = play
        play, new_events = games.play.submit(play, role, games.play.script_move(play, role, scripts[role]))
        events += new_events
        if play.step > before.step:
            for reader in readers:
                shown_blocks[reader].append([repr(block) for block in play.view(reader)])
    return {
        **match,
        "instructions": {role: game.instructions(role) for role in readers},
        "events": [event.as_dict() for event in events],
        "seen": shown_blocks,
        "payoffs": play.payoffs(),
        "metrics": play.metrics(),
    }


def stored(folder: Path, name: str) -> dict[str, Any]:
    """Return the playthrough stored under this name."""
    match: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return match


def write(folder: Path, key: str, matches: Mapping[str, Mapping[str, Any]]) -> None:
    """Write all playthroughs again: check the difference, and raise `rules_version` if an old log would differ."""
    folder.mkdir(exist_ok=True)
    for name, match in matches.items():
        text = json.dumps(playthrough(key, match), indent=1, ensure_ascii=False)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
