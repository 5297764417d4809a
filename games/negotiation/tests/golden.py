"""Golden playthroughs: whole matches stored verbatim, so that no rule changes unnoticed.

`python -m games.negotiation.tests.golden` writes them again; check the difference before you keep it,
and raise `rules_version` if an old log would replay differently.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import games.play
from games.negotiation.rules import Negotiation

FOLDER = Path(__file__).parent / "golden"
MATCHES: dict[str, dict[str, Any]] = {
    "last_price": {
        "config": {"seller_factor": 0.8, "buyer_factor": 1.2},
        "alice": "equilibrium",
        "bob": "equilibrium",
        "seed": 1,
    },
    "haggling": {"config": {"rounds": None, "buyer_factor": 1.2}, "alice": "haggler", "bob": "haggler", "seed": 2},
    "nothing_to_share": {
        "config": {"scale": 100, "seller_factor": 1.5, "complete_information": False, "rounds": None},
        "alice": "haggler",
        "bob": "equilibrium",
        "seed": 3,
    },
    "last_price_rejected": {
        "config": {"rounds": 2, "messages_allowed": False, "outside_option": False, "complete_information": False},
        "alice": "haggler",
        "bob": "haggler",
        "seed": 5,
    },
    "loss": {"config": {"scale": 1_000_000, "seller_factor": 1.2}, "alice": "random", "bob": "random", "seed": 11},
}


def playthrough(name: str) -> dict[str, Any]:
    """Return what the match shows: its log, its result, and both roles' texts before and after it."""
    match = MATCHES[name]
    game = games.play.configure(Negotiation, match["config"])
    play, new_events = games.play.start(game, match["seed"])
    events = list(new_events)
    while not play.over:
        (role,) = play.waiting_for()
        play, new_events = games.play.submit(play, role, games.play.script_move(play, role, match[role]))
        events += new_events
    return {
        **match,
        "instructions": {role: game.instructions(role) for role in game.roles()},
        "events": [event.as_dict() for event in events],
        "seen_at_the_end": {role: [repr(block) for block in play.view(role)] for role in game.roles()},
        "payoffs": play.payoffs(),
        "metrics": play.metrics(),
    }


def stored(name: str) -> dict[str, Any]:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in MATCHES:
        text = json.dumps(playthrough(name), indent=1, ensure_ascii=False)
        (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")
