"""Where games lie in the published layout: `<root>/<family>/<c1>/<c2>/<c3>/<game id>/`.

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
    """Whether this can name a game's folder."""
    return _ID.fullmatch(text) is not None


def folder_of(family: str, game_id: str) -> PurePosixPath:
    """Where a game belongs, below the root.

    Raises:
        ValueError: an id that cannot name a folder.
    """
    if not is_id(game_id):
        raise ValueError(f"not the name of a folder: {game_id!r}")
    return PurePosixPath(family, *game_id[:LEVELS].upper().replace(".", "_"), game_id)


def game_folders(root: str | os.PathLike[str]) -> Iterator[Path]:
    """The folders of games below `root`, at any depth, in the order of their names, found as they are asked for.

    A folder with any of a game's files is a game's, complete or not: what is missing is for the reader
    to say. Links to folders are not followed.

    Raises:
        OSError: `root` is no folder that can be read.
    """
    with os.scandir(root) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
    if any(entry.name in FILES and entry.is_file() for entry in listed):
        yield Path(root)
        return
    for entry in listed:
        if entry.is_dir(follow_symlinks=False):
            yield from game_folders(entry.path)
