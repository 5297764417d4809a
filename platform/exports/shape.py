"""Which columns the matches of a study have: parameters, roles, results and fields of moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import games.play
from games import registry
from games.errors import GameError
from games.interface import Game
from matches.forms import Field, fields_of

_SEEDS = (0, 1, 2)
_MOST_MOVES = 2000


@dataclass(frozen=True)
class Shape:
    """The changing part of the tables' headers, which follows from the games alone and not from the data.

    Attributes:
        config: parameters by name.
        moves: fields of moves by name.
        metrics: an example value per metric (None where no trial match gave one).
        meanings: what a metric is, for games that say so in `metric_meanings`.
    """

    games: tuple[str, ...]
    config: Mapping[str, Field]
    roles: Mapping[str, str]
    metrics: Mapping[str, Any]
    meanings: Mapping[str, str]
    moves: Mapping[str, Field]

    @cached_property
    def choices(self) -> frozenset[str]:
        """Fields of moves whose words are the game's own, never a player's."""
        return frozenset(name for name, blank in self.moves.items() if blank.kind == "choice")


def of_configurations(configurations: Iterable[tuple[str, Mapping[str, Any]]]) -> Shape:
    """The union over (game, configuration) pairs, in their order.

    Raises:
        GameError: a configuration that this code cannot play.
    """
    keys: dict[str, None] = {}
    config: dict[str, Field] = {}
    roles: dict[str, str] = {}
    metrics: dict[str, Any] = {}
    meanings: dict[str, str] = {}
    moves: dict[str, Field] = {}
    tried: set[tuple[Any, ...]] = set()
    for key, values in configurations:
        game = games.play.configure(registry.get(key), values)
        if (structure := _structure(game)) in tried:
            continue
        tried.add(structure)
        keys[key] = None
        for blank in fields_of(game.Config):
            config.setdefault(blank.name, blank)
        for role in game.roles():
            roles.setdefault(role, game.role_title(role))
        meanings |= getattr(game, "metric_meanings", {})
        met_metrics, met_moves = _trial(game)
        for name, value in met_metrics.items():
            if metrics.get(name) is None:
                metrics[name] = value
        for blank in met_moves.values():
            _keep(moves, blank)
    return Shape(games=tuple(keys), config=config, roles=roles, metrics=metrics, meanings=meanings, moves=moves)


def _structure(game: Game[Any, Any]) -> tuple[Any, ...]:
    """What can change which fields and results there are: every parameter but amounts and probabilities."""
    config = game.config.model_dump(mode="json")
    return (game.key, *(name if isinstance(value, float) else (name, repr(value)) for name, value in config.items()))


def _trial(game: Game[Any, Any]) -> tuple[dict[str, Any], dict[str, Field]]:
    """What scripted trial matches show of a game's metrics and forms."""
    metrics: dict[str, Any] = {}
    moves: dict[str, Field] = {}
    for script in sorted(game.scripts):
        for seed in _SEEDS:
            try:
                play, _events = games.play.start(game, seed)
                for _move in range(_MOST_MOVES):
                    if play.over:
                        break
                    role = play.waiting_for()[0]
                    for form in play.forms(role):
                        for blank in fields_of(form.model):
                            _keep(moves, blank)
                    play, _events = games.play.submit(play, role, games.play.script_move(play, role, script))
            except GameError:
                continue
            for name, value in play.metrics().items():
                if metrics.get(name) is None:
                    metrics[name] = value
    return metrics, moves


def _keep(moves: dict[str, Field], blank: Field) -> None:
    """Remember a field; where two forms share a name, the one that takes free text counts."""
    if blank.name not in moves or blank.kind in ("text", "data"):
        moves[blank.name] = blank
