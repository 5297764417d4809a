"""Published games, read from one folder or, on all cores, from a whole tree.

config.json comes in two generations: older ones keep the discount factors with the players. Anything that
the layout cannot hold is in game_args under `parley`, where `writing` put it: {"config": our keys that
differ from the layout, "players": names that differ, "defused": text is marked; true: at its beginning;
"within": also after separators}.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from analysis.parallel import in_order
from exports.glee import layout, players
from exports.glee.arguments import Arguments
from exports.glee.cells import rows
from exports.glee.families import ADAPTERS
from exports.glee.published import ROLES, PublishedGame, replay_game
from exports.published import Imported, Unreadable, UnreadableRecord
from games.interface import Json, Role


def read_tree(root: str | os.PathLike[str], *, processes: int | None = None) -> Iterator[Imported | Unreadable]:
    """Yield every game below `root`, read and replayed, in the order of the folders.

    Args:
        root: the folder that contains the families' folders.
        processes: number of processes; None: one per core, or only this one for a few games.

    Raises:
        OSError: `root` is not a readable folder.
    """
    os.scandir(root).close()
    folders = ((str(root), str(folder)) for folder in layout.game_folders(root))
    return in_order(_replay_folder, folders, processes=processes)


def _replay_folder(root_and_folder: tuple[str, str]) -> Imported | Unreadable:
    root, folder = root_and_folder
    try:
        return replay_game(read_game(folder))
    except UnreadableRecord as error:
        return Unreadable(Path(os.path.relpath(folder, root)).as_posix(), str(error))


def read_game(folder: str | os.PathLike[str]) -> PublishedGame:
    """Return the game in `folder`.

    Raises:
        UnreadableRecord: with what to fix.
    """
    folder = Path(folder)
    config, game = (_text(folder / name) for name in (layout.CONFIG, layout.GAME))
    family = next((part.lower() for part in reversed(folder.parts) if part.lower() in ADAPTERS), None)
    return read(folder.name, config, game, family=family)


def read(game_id: str, config_text: str, game_text: str, *, family: str | None = None) -> PublishedGame:
    """Return the game in the texts of config.json and game.csv.

    Args:
        game_id: the name of the game's folder.
        family: the family to assume if config.json has no game_type.

    Raises:
        UnreadableRecord: with what to fix.
    """
    published = _object(config_text)
    family = str(published.get("game_type") or family or "").strip().lower()
    adapter = ADAPTERS.get(family)
    if adapter is None:
        raise UnreadableRecord(f"config.json: game_type is “{family[:40]}”; expected one of {', '.join(ADAPTERS)}.")
    args = _mapping(published, "game_args")
    parley_args = _mapping(args, "parley", optional=True)
    config = adapter.config(Arguments(args, *(players.arguments(published, number) for number in (1, 2))))
    config |= _mapping(parley_args, "config", optional=True)
    marked_within = parley_args.get("defused") == "within"
    table = rows(
        game_text,
        adapter.required_columns,
        marked=parley_args.get("defused") is True or marked_within,
        marked_within=marked_within,
    )
    reading = adapter.read(table, config)
    return PublishedGame(
        game_id=game_id,
        family=family,
        config={**reading.config, **config},
        players=_players(published, _mapping(parley_args, "players", optional=True)),
        moves=tuple(reading.moves),
        names=players.names(published, (row.cells.get("player", "") for row in table)),
        remarks=reading.remarks,
    )


def _players(published: Mapping[str, Json], overrides: Mapping[Role, Json]) -> dict[Role, str]:
    return {role: players.player(published, number, overrides.get(role)) for number, role in enumerate(ROLES, start=1)}


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise UnreadableRecord(f"{path.name} is missing.") from None
    except UnicodeDecodeError as error:
        raise UnreadableRecord(f"{path.name} is not valid UTF-8 (byte {error.start}).") from None
    except OSError as error:
        raise UnreadableRecord(f"{path.name} cannot be read: {error.strerror}.") from None


def _object(text: str) -> Mapping[str, Json]:
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableRecord(f"config.json is not JSON: {error}.") from None
    if not isinstance(content, dict):
        raise UnreadableRecord("config.json is not a JSON object.")
    return content


def _mapping(container: Mapping[str, Json], key: str, *, optional: bool = False) -> dict[str, Json]:
    value = container.get(key, {} if optional else None)
    if not isinstance(value, dict):
        raise UnreadableRecord(f"config.json: {key} is not a JSON object.")
    return value
