"""The columns of a study's matches: parameters, roles, results and fields of moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import games.play
from games import registry
from games.errors import GameError
from games.interface import Game
from matches.forms import Field, fields_of

_SEEDS = (0, 1, 2)
_MAX_MOVES = 2000


@dataclass(frozen=True)
class Shape:
    """The variable part of the tables' headers, which depends on the games alone and not on the data.

    Attributes:
        config: parameters by name.
        moves: fields of moves by name.
        metrics, seat_metrics, records: an example value per metric of a match, of a seat, and per column of the
            game's records (None where no trial match gave one).
        meanings: descriptions of the metrics, if the game gives any; names are separate for each table.
    """

    games: tuple[str, ...]
    config: Mapping[str, Field]
    roles: Mapping[str, str]
    metrics: Mapping[str, Any]
    meanings: Mapping[str, str]
    moves: Mapping[str, Field]
    seat_metrics: Mapping[str, Any] = field(default_factory=dict)
    seat_meanings: Mapping[str, str] = field(default_factory=dict)
    records: Mapping[str, Any] = field(default_factory=dict)
    record_meanings: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def choices(self) -> frozenset[str]:
        """Fields of moves that hold the game's own words, never a player's."""
        return frozenset(name for name, field in self.moves.items() if field.kind == "choice")


def of_configurations(configurations: Iterable[tuple[str, Mapping[str, Any]]]) -> Shape:
    """Return the union over (game, configuration) pairs, in their order.

    Raises:
        GameError: a configuration that this code cannot play.
    """
    keys: dict[str, None] = {}
    config: dict[str, Field] = {}
    roles: dict[str, str] = {}
    results = _Results()
    meanings: dict[str, str] = {}
    seat_meanings: dict[str, str] = {}
    record_meanings: dict[str, str] = {}
    moves: dict[str, Field] = {}
    tried: set[tuple[Any, ...]] = set()
    for key, values in configurations:
        game = games.play.configure(registry.get(key), values)
        if (structure := _structure(game)) in tried:
            continue
        tried.add(structure)
        keys[key] = None
        for parameter in fields_of(game.Config):
            config.setdefault(parameter.name, parameter)
        for role in game.roles():
            roles.setdefault(role, game.role_title(role))
        meanings |= game.metric_meanings
        seat_meanings |= game.seat_metric_meanings
        record_meanings |= game.record_meanings
        _try_out(game, results, moves)
    return Shape(
        games=tuple(keys),
        config=config,
        roles=roles,
        metrics=results.metrics,
        meanings=meanings,
        moves=moves,
        seat_metrics=results.seats,
        seat_meanings=seat_meanings,
        records=results.records,
        record_meanings=record_meanings,
    )


def _structure(game: Game[Any, Any]) -> tuple[Any, ...]:
    """Return the parameters that can change fields and results: all but amounts, probabilities and seeds."""
    return (game.key, *(_part(name, value) for name, value in game.config.model_dump(mode="json").items()))


def _part(name: str, value: Any) -> Any:
    if isinstance(value, float) or name.endswith("seed"):
        return name
    if isinstance(value, list):
        return name, len(value)
    return name, repr(sorted(value) if isinstance(value, dict) else value)


@dataclass
class _Results:
    """An example value of each result, from trial matches."""

    metrics: dict[str, Any] = field(default_factory=dict)
    seats: dict[str, Any] = field(default_factory=dict)
    records: dict[str, Any] = field(default_factory=dict)

    def add(self, play: games.play.Play) -> None:
        game, state = play.game, play.state
        rows = [(self.metrics, game.metrics(state)), *((self.records, row) for row in game.records(state))]
        rows += [(self.seats, game.seat_metrics(state, role)) for role in game.roles()]
        for examples, row in rows:
            for name, value in row.items():
                if examples.get(name) is None:
                    examples[name] = value


def _try_out(game: Game[Any, Any], results: _Results, moves: dict[str, Field]) -> None:
    """Add a game's results and fields of moves, found by playing scripted trial matches."""
    for script in sorted(game.scripts):
        for seed in _SEEDS:
            try:
                play, _events = games.play.start(game, seed)
                for _move in range(_MAX_MOVES):
                    if play.over:
                        break
                    role = play.waiting_for()[0]
                    for form in play.forms(role):
                        for field in fields_of(form.model):
                            _add_field(moves, field)
                    play, _events = games.play.submit(play, role, games.play.script_move(play, role, script))
            except GameError:
                continue
            if play.finished:
                results.add(play)


def _add_field(moves: dict[str, Field], field: Field) -> None:
    """Store a field; if two forms share a name, the one that takes free text counts."""
    if field.name not in moves or field.kind in ("text", "data"):
        moves[field.name] = field
