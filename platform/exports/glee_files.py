"""A dataset's matches in the published GLEE layout, beside its tables."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from exports.errors import UnknownFormat
from exports.glee import layout
from exports.glee.families import ADAPTERS
from exports.glee.writing import from_log, game_files
from games.interface import Event

if TYPE_CHECKING:  # models load only with the apps, which a verification needs not
    from exports.participants import PlayedMatch

TREE = "glee"
"""The folder of the layout within a dataset."""
LISTING = "glee.sha256"
"""File with the SHA-256 and path of every file in it, one per line."""


def refuse_other_games(games: Iterable[str]) -> None:
    """Raise UnknownFormat if the layout cannot hold one of the games."""
    if others := sorted(set(games) - set(ADAPTERS)):
        raise UnknownFormat(f"The GLEE layout holds {', '.join(ADAPTERS)}, not {', '.join(others)}.")


def write_game(match: PlayedMatch, target: Path) -> list[bytes]:
    """Write one match's two files into the dataset's folder and return their lines of the list."""
    events = [
        Event(event["number"], event["kind"], {k: v for k, v in event.items() if k not in ("number", "kind")})
        for event in match.events
    ]
    players = {role: match.player(role) for role in match.seats}
    name = match.place.name or ""
    game_id = name if layout.is_id(name) and name not in match.reading.source.repeated_names else match.uid
    files = game_files(from_log(game_id, match.match.game, match.match.config, players, events))
    return [
        _write(target, f"{TREE}/{files.folder}/{name}", text.encode("utf-8", "backslashreplace"))
        for name, text in files.files.items()
    ]


def _write(target: Path, name: str, data: bytes) -> bytes:
    path = target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return f"{hashlib.sha256(data).hexdigest()}  {name}\n".encode()
