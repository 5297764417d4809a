"""A dataset's matches in the published GLEE layout, beside its tables."""

from __future__ import annotations

from collections.abc import Iterable

from exports.errors import UnknownFormat
from exports.folder import Folder
from exports.glee import layout
from exports.glee.families import ADAPTERS
from exports.glee.writing import from_log, written
from exports.ways import Played
from games.interface import Event

TREE = "glee"
"""The folder of the layout within a dataset."""
LISTING = "glee.sha256"
"""SHA-256 and path of every file in it, a line each."""


def refuse_other_games(games: Iterable[str]) -> None:
    """Raises UnknownFormat where the layout has no place for a game."""
    if others := sorted(set(games) - set(ADAPTERS)):
        raise UnknownFormat(f"The GLEE layout holds {', '.join(ADAPTERS)}, not {', '.join(others)}.")


def write_game(match: Played, target: Folder) -> None:
    """Write one match's two files and list them."""
    events = [
        Event(event["number"], event["kind"], {k: v for k, v in event.items() if k not in ("number", "kind")})
        for event in match.events
    ]
    players = {role: match.player(role) for role in match.seats}
    game_id = match.place.name if layout.is_id(match.place.name) else match.uid
    if (target.path / TREE / layout.folder_of(match.match.game, game_id)).exists():
        game_id = match.uid  # two imported games of one name
    files = written(from_log(game_id, match.match.game, match.match.config, players, events))
    for name, text in files.files.items():
        target.write_below(f"{TREE}/{files.folder}/{name}", text.encode("utf-8", "backslashreplace"), listed_in=LISTING)
