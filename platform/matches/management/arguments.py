"""Shared by simulate, replay and show: strict arguments, and one-line errors with exit code 2."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from games import registry
from games.errors import GameError
from games.interface import Game, Json, MoveData, Role
from games.play import configure
from llm_agents.errors import AgentError


class PureCommand(BaseCommand):
    """A command that needs no database, broker, migration or static files."""

    requires_system_checks: list[str] = []
    requires_migrations_checks = False


def wrong(reason: object) -> CommandError:
    """Return the error for an invalid argument: one line on stderr, exit code 2."""
    return CommandError(" ".join(str(reason).split()), returncode=2)


@contextmanager
def explained() -> Iterator[None]:
    """Convert errors of games and agents into command errors."""
    try:
        yield
    except (GameError, AgentError) as error:
        raise wrong(error) from None


def read_json(text: str, what: str) -> Json:
    """Parse `text` as JSON without NaN and Infinity."""

    def refuse(constant: str) -> Json:
        raise ValueError(f"{constant} is not JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise wrong(f"{what} is not valid JSON: {error}") from None


def read_file(path: str) -> Json:
    """Return the content of the JSON file at `path`."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise wrong(f"Could not read {path}: {getattr(error, 'strerror', None) or error}") from None
    return read_json(text, path)


def configured(key: str, config: Json) -> Game[Any, Any]:
    """Return the game `key` with this configuration."""
    if not isinstance(config, dict):
        raise wrong("The configuration must be a JSON object.")
    with explained():
        return configure(registry.get(key), config)


@dataclass(frozen=True)
class Played:
    """A file's content: moves and, in a replay file, the game, its configuration and seed."""

    moves: list[tuple[Role, MoveData]]
    game: str | None = None
    config: Mapping[str, Json] | None = None
    seed: int | None = None


def read_played(path: str) -> Played:
    """Read a replay file {game, config, seed, moves}, or just a list of moves."""
    held = read_file(path)
    if isinstance(held, list):
        return Played(_moves(held))
    if not isinstance(held, dict) or "moves" not in held or "game" not in held:
        raise wrong(f"{path} must be an object with game, config, seed and moves.")
    game, config, seed = held["game"], held.get("config", {}), held.get("seed", 0)
    if not isinstance(game, str):
        raise wrong("The game must be a name.")
    if type(seed) is not int:
        raise wrong("The seed must be a whole number.")
    return Played(_moves(held["moves"]), game, config, seed)


def _moves(held: Json) -> list[tuple[Role, MoveData]]:
    if not isinstance(held, list):
        raise wrong("The moves must be a list.")
    for number, entry in enumerate(held, start=1):
        if not isinstance(entry, dict) or entry.keys() != {"role", "move"} or not isinstance(entry["role"], str):
            raise wrong(f"Move {number} must be an object with role and move.")
    return [(entry["role"], entry["move"]) for entry in held]
