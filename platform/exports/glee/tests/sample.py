"""Synthetic trees in the published layout, for tests, for benchmarks and for trying out the import.

Scripts play. The trees vary in the same ways as the published data: both generations of config.json, people
and models, the order of columns, missing message columns, and the spelling of empty cells and numbers.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from exports.glee import layout, writing
from exports.glee.cells import table
from exports.glee.families import ADAPTERS
from exports.glee.published import ALICE, ROLES, PublishedGame
from games import registry
from games.grids import published
from games.interface import Json
from games.play import configure, script_move, start, submit

PLAYS_PER_FAMILY = 150
"""Plays per family; a larger tree repeats them under other ids and in other spellings."""

_MODELS = ("gpt-4o", "vertex_ai/gemini-1.5-flash", "xai/grok-2-1212", "mistral/large", "human")
_NAMES = ("Maya", "Jürgen", "Ana Lucía", "李娜", "O'Neil")
_ID = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def write_sample(
    root: Path, games: int, seed: int, *, families: Iterable[str] | None = None, broken: Iterable[str] = ()
) -> dict[str, str]:
    """Write `games` games below `root`, and one more for each kind in `broken`.

    Args:
        root: created if missing.
        games: number of complete games.
        seed: the same seed writes the same tree.
        families: families to write; None: all for which we have rules.
        broken: kinds of `BROKEN`.

    Returns:
        {folder (relative to `root`): kind} for the broken games.
    """
    rng = random.Random(seed)
    keys = [family for family in families or ADAPTERS if family in registry.keys()]
    plays = {
        family: [_played_game(family, rng) for _ in range(min(PLAYS_PER_FAMILY, games // len(keys) + 1))]
        for family in keys
    }

    def write(number: int, family: str) -> Path:
        game = replace(rng.choice(plays[family]), game_id="".join(rng.choices(_ID, k=11)) + f"{number:05d}")
        return _variant(game, rng).save(root)

    for number in range(games):
        write(number, keys[number % len(keys)])
    folders = {}
    for number, kind in enumerate(broken, start=games):
        family, damage = BROKEN[kind]
        folder = write(number, family)
        damage(folder)
        folders[folder.relative_to(root).as_posix()] = kind
    return folders


def _played_game(family: str, rng: random.Random) -> PublishedGame:
    rules = registry.get(family)
    tables = published(family)
    assert tables is not None
    game = configure(rules, {key: rng.choice(values) for key, values in tables.TABLES["glee"].items()})
    scripts = {role: rng.choice(sorted(rules.scripts)) for role in ROLES}
    play, events = start(game, rng.getrandbits(32))
    log = list(events)
    while not play.over:
        (role,) = play.waiting_for()
        play, events = submit(play, role, script_move(play, role, scripts[role]))
        log += events
    config: dict[str, Json] = game.config.model_dump(mode="json")
    return writing.from_log("X", family, config, {}, log)


def _variant(game: PublishedGame, rng: random.Random) -> writing.GameFiles:
    """Return the game's files in one of the variants found in published data."""
    has_people = rng.random() < 0.2
    person = rng.choice(ROLES)
    players = {role: rng.choice(_MODELS[:-1]) for role in ROLES}
    if has_people:
        players = {role: "human" if role == person else "gemini-1.5-flash" for role in ROLES}
    files = dict(writing.game_files(replace(game, players=players)).files)
    config = json.loads(files[layout.CONFIG])
    if has_people:
        number = 1 if person == ALICE else 2
        other_number = 3 - number
        config[f"player_{other_number}_type"] = config[f"player_{other_number}_args"]["model_name"] = "otree_LLM"
    name = rng.choice(_NAMES) if has_people and rng.random() < 0.5 else None
    if name:
        config[f"player_{number}_args"]["public_name"] = name
    args = config["game_args"]
    if "delta_1" in args and rng.random() < 0.5:
        for player in (1, 2):
            config[f"player_{player}_args"]["delta"] = args.pop(f"delta_{player}")
    if args.get("max_rounds") == 99 and rng.random() < 0.5 and len(game.moves) <= 40:
        args["max_rounds"] = 25
    files[layout.CONFIG] = json.dumps(config, indent=rng.choice((None, 4)), ensure_ascii=False)
    files[layout.GAME] = _vary_table(files[layout.GAME], rng, {person.capitalize(): name} if name else {})
    return writing.GameFiles(layout.folder_of(game.family, game.game_id), files)


def _vary_table(text: str, rng: random.Random, names_by_player: Mapping[str, str]) -> str:
    """Return the table with another order of columns, other empty cells and numbers, and people's chosen names."""
    header, *lines = csv.reader(io.StringIO(text, newline=""))
    order = list(range(len(header)))
    if rng.random() < 0.5:
        rng.shuffle(order)
    empty = rng.choice(("", "None", "nan"))
    integer = rng.random() < 0.3
    player = header.index("player")
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header[index] for index in order)
    for line in lines:
        line[player] = names_by_player.get(line[player], line[player])
        cells = [cell.removesuffix(".0") if integer and header[i] != "message" else cell for i, cell in enumerate(line)]
        writer.writerow(cells[index] or empty for index in order)
    return buffer.getvalue()


# ---- ways to break a game ----------------------------------------------------------------------


def _no_json(folder: Path) -> None:
    (folder / layout.CONFIG).write_text('{"game_type": "bargaining", ', encoding="utf-8")


def _no_game(folder: Path) -> None:
    (folder / layout.GAME).unlink()


def _no_config(folder: Path) -> None:
    (folder / layout.CONFIG).unlink()


def _unknown_family(folder: Path) -> None:
    config = json.loads((folder / layout.CONFIG).read_bytes())
    (folder / layout.CONFIG).write_text(json.dumps(config | {"game_type": "auction"}), encoding="utf-8")


def _no_column(folder: Path) -> None:
    lines = _lines(folder)
    _save(folder, [{key: cell for key, cell in line.items() if key != "decision"} for line in lines])


def _no_decision(folder: Path) -> None:
    *lines, last = _lines(folder)
    _save(folder, [*lines, last | {"decision": "perhaps"}])


def _truncated(folder: Path) -> None:
    _save(folder, _lines(folder)[:-1])


def _wrong_sum(folder: Path) -> None:
    money = json.loads((folder / layout.CONFIG).read_bytes())["game_args"]["money_to_divide"]
    first, *lines = _lines(folder)
    _save(folder, [first | {"alice_gain": str(float(first["alice_gain"]) + money / 10)}, *lines])


def _long_message(folder: Path) -> None:
    config = json.loads((folder / layout.CONFIG).read_bytes())
    config["game_args"]["messages_allowed"] = True
    (folder / layout.CONFIG).write_text(json.dumps(config), encoding="utf-8")
    first, *lines = [{"message": "", **line} for line in _lines(folder)]
    _save(folder, [first | {"message": "word " * 600}, *lines])


def _lines(folder: Path) -> list[dict[str, str]]:
    text = (folder / layout.GAME).read_bytes().decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def _save(folder: Path, lines: list[dict[str, str]]) -> None:
    (folder / layout.GAME).write_bytes(table(tuple(lines[0]), lines).encode())


BROKEN: Mapping[str, tuple[str, Callable[[Path], None]]] = {
    "no JSON": ("bargaining", _no_json),
    "no game.csv": ("bargaining", _no_game),
    "no config.json": ("bargaining", _no_config),
    "unknown family": ("negotiation", _unknown_family),
    "missing column": ("negotiation", _no_column),
    "unknown decision": ("bargaining", _no_decision),
    "truncated": ("bargaining", _truncated),
    "wrong sum": ("bargaining", _wrong_sum),
    "long message": ("bargaining", _long_message),
}
"""Kinds of broken games: the family, and what breaks a complete game. The last two can be read but not verified."""
