"""Writing games in the published layout, in the newer generation of config.json.

Reading them gives the same configuration, players, moves and results. Anything that the layout cannot hold is
kept in game_args under `parley`; see `reading`. The one difference: persuasion's `qualities` come back as
drawn if the configuration had left them to chance.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from analysis.formulas import mark_within
from exports.glee import layout
from exports.glee.arguments import Arguments
from exports.glee.cells import needs_mark, table, with_mark
from exports.glee.families import ADAPTERS
from exports.glee.players import player, player_config
from exports.glee.published import ROLES, PublishedGame
from games import registry
from games.interface import Event, Json, Role
from games.play import configure


@dataclass(frozen=True)
class GameFiles:
    """A game's files.

    Attributes:
        folder: the files' folder, relative to the root.
        files: texts by file name, to be written in UTF-8 with unchanged line endings.
    """

    folder: PurePosixPath
    files: Mapping[str, str]

    def save(self, root: Path) -> Path:
        """Write the files below `root` and return their folder."""
        folder = root / self.folder
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.files.items():
            (folder / name).write_bytes(text.encode("utf-8", "backslashreplace"))
        return folder


def from_log(
    game_id: str, family: str, config: Mapping[str, Json], players: Mapping[Role, str], events: Iterable[Event]
) -> PublishedGame:
    """Return a match's log as a published game.

    Args:
        game_id: name of the game's folder: letters, digits, ".", "_" and "-".
        family: key of the game.
        config: our configuration keys; missing keys have their defaults.
        players: "human" or a model's name, by role.
        events: the whole log.
    """
    events = list(events)
    drawn = [event.data["value"] for event in events if event.kind == "draw" and event.data["name"] == "quality"]
    moves = tuple((event.data["role"], event.data["move"]) for event in events if event.kind == "move")
    if len(drawn) > len(config.get("qualities") or ()):
        config = {**config, "qualities": drawn}
    return PublishedGame(game_id, family, config, players, moves)


def game_files(game: PublishedGame) -> GameFiles:
    """Return the files of a finished `game`.

    Raises:
        KeyError: the layout has no such family.
        ValueError: the id cannot name a folder, or a persuasion game does not give its draws.
        BadConfig: the configuration is invalid.
    """
    adapter = ADAPTERS[game.family]
    config = configure(registry.get(game.family), game.config).config.model_dump(mode="json")
    lines = adapter.write(config, game.moves)
    messages = [line.get("message", "") for line in lines]
    marked_within = any(mark_within(message) != message for message in messages)
    marked = marked_within or any(needs_mark(message) for message in messages)
    if marked:
        lines = [{**line, "message": with_mark(line.get("message", ""))} for line in lines]
    game_args = adapter.game_args(config)
    parley_args: dict[str, Json] = {}
    if lost := _lost_keys(game, config, game_args):
        parley_args["config"] = lost
    if marked:
        parley_args["defused"] = "within" if marked_within else True
    seats = {role: player_config(game.players[role], role.capitalize()) for role in ROLES}
    published: dict[str, Json] = {}
    for number, role in enumerate(ROLES, start=1):
        published[f"player_{number}_type"] = seats[role][0]
    for number, role in enumerate(ROLES, start=1):
        published[f"player_{number}_args"] = seats[role][1]
    reread = {role: player(published, number) for number, role in enumerate(ROLES, start=1)}
    if renamed := {role: game.players[role] for role in ROLES if reread[role] != game.players[role]}:
        parley_args["players"] = renamed
    published["game_type"] = game.family
    published["game_args"] = game_args | ({"parley": parley_args} if parley_args else {})
    return GameFiles(
        layout.folder_of(game.family, game.game_id),
        {
            layout.CONFIG: json.dumps(published, indent=4, ensure_ascii=False) + "\n",
            layout.GAME: table(adapter.columns(config, game.moves), lines),
        },
    )


def _lost_keys(game: PublishedGame, config: Mapping[str, Json], game_args: Mapping[str, Json]) -> dict[str, Json]:
    """Return the keys of `config` that reading `game_args` and the table would not restore."""
    restored = ADAPTERS[game.family].config(Arguments(game_args, {}, {}))
    if "qualities" in config:
        rounds = sum("decision" in move for _role, move in game.moves)
        restored["qualities"] = (config["qualities"] or [])[:rounds]
    reread = configure(registry.get(game.family), {}).config.model_dump(mode="json") | restored
    return {key: value for key, value in config.items() if reread[key] != value}
