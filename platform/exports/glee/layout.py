"""Paths of games in the published layout: `<root>/<family>/<c1>/<c2>/<c3>/<game id>/`.

c1, c2 and c3 are the first three characters of the game's id, which keeps folders small.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

CONFIG = "config.json"
GAME = "game.csv"
FILES = frozenset({CONFIG, GAME, "log_player_1.csv", "log_player_2.csv"})

LEVELS = 3
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def is_id(text: str) -> bool:
    """Return whether this text can name a game's folder."""
    return _ID.fullmatch(text) is not None


def folder_of(family: str, game_id: str) -> PurePosixPath:
    """Return a game's folder, relative to the root.

    Raises:
        ValueError: the id cannot name a folder.
    """
    if not is_id(game_id):
        raise ValueError(f"not the name of a folder: {game_id!r}")
    return PurePosixPath(family, *game_id[:LEVELS].upper().replace(".", "_"), game_id)


def game_folders(root: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the folders of games below `root`, at any depth, in order of their names, searching lazily.

    A folder with any of a game's files counts as a game, complete or not: the reader reports what is
    missing. Links to folders are not followed.

    Raises:
        OSError: `root` is not a readable folder.
    """
    with os.scandir(root) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
    if any(entry.name in FILES and entry.is_file() for entry in listed):
        yield Path(root)
        return
    for entry in listed:
        if entry.is_dir(follow_symlinks=False):
            yield from game_folders(entry.path)
