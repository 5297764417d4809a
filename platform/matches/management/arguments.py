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


class StandaloneCommand(BaseCommand):
    """A command that needs no database, broker, migration or static files."""

    requires_system_checks: list[str] = []
    requires_migrations_checks = False


def invalid_argument(reason: object) -> CommandError:
    """Return the error for an invalid argument: one line on stderr, exit code 2."""
    return CommandError(" ".join(str(reason).split()), returncode=2)


@contextmanager
def as_command_error(*errors: type[Exception]) -> Iterator[None]:
    """Convert errors of games and agents, and these, into command errors."""
    expected: tuple[type[Exception], ...] = (GameError, AgentError, *errors)
    try:
        yield
    except expected as error:
        raise invalid_argument(error) from None


def read_json(text: str, source: str) -> Json:
    """Parse `text` as JSON without NaN and Infinity."""

    def refuse(constant: str) -> Json:
        raise ValueError(f"{constant} is not JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise invalid_argument(f"{source} is not valid JSON: {error}") from None


def read_file(path: str) -> Json:
    """Return the content of the JSON file at `path`."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise invalid_argument(f"Could not read {path}: {getattr(error, 'strerror', None) or error}") from None
    return read_json(text, path)


def configured(key: str, config: Json) -> Game[Any, Any]:
    """Return the game `key` with this configuration."""
    if not isinstance(config, dict):
        raise invalid_argument("The configuration must be a JSON object.")
    with as_command_error():
        return configure(registry.get(key), config)


@dataclass(frozen=True)
class MoveFile:
    """A file's content: moves and, in a replay file, the game, its configuration and seed."""

    moves: list[tuple[Role, MoveData]]
    game: str | None = None
    config: Mapping[str, Json] | None = None
    seed: int | None = None


def read_move_file(path: str) -> MoveFile:
    """Read a replay file {game, config, seed, moves}, or just a list of moves."""
    content = read_file(path)
    if isinstance(content, list):
        return MoveFile(_moves(content))
    if not isinstance(content, dict) or "moves" not in content or "game" not in content:
        raise invalid_argument(f"{path} must be an object with game, config, seed and moves.")
    game, config, seed = content["game"], content.get("config", {}), content.get("seed", 0)
    if not isinstance(game, str):
        raise invalid_argument("The game must be a name.")
    if type(seed) is not int:
        raise invalid_argument("The seed must be a whole number.")
    return MoveFile(_moves(content["moves"]), game, config, seed)


def _moves(entries: Json) -> list[tuple[Role, MoveData]]:
    if not isinstance(entries, list):
        raise invalid_argument("The moves must be a list.")
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict) or entry.keys() != {"role", "move"} or not isinstance(entry["role"], str):
            raise invalid_argument(f"Move {number} must be an object with role and move.")
    return [(entry["role"], entry["move"]) for entry in entries]
