"""The columns of a study's matches: parameters, roles, moves and results, as its games declare them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pydantic import BaseModel

import games.play
from games import registry
from matches.forms import Field, fields_of


@dataclass(frozen=True)
class Shape:
    """The variable part of the tables' headers, which depends on the games alone and not on the data.

    Attributes:
        config, moves: parameters and fields of moves by name.
        metrics, seat_metrics, records: results of a match and of a seat, and parts of the game's records, by name.
    """

    games: tuple[str, ...] = ()
    config: Mapping[str, Field] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    moves: Mapping[str, Field] = field(default_factory=dict)
    metrics: Mapping[str, Field] = field(default_factory=dict)
    seat_metrics: Mapping[str, Field] = field(default_factory=dict)
    records: Mapping[str, Field] = field(default_factory=dict)

    @cached_property
    def choices(self) -> frozenset[str]:
        """Fields of moves that hold the game's own words, never a player's."""
        return frozenset(name for name, field in self.moves.items() if field.kind == "choice")


def of_configurations(configurations: Iterable[tuple[str, Mapping[str, Any]]]) -> Shape:
    """Return the union over (game, configuration) pairs, in their order.

    Raises:
        GameError: a configuration that this code cannot play.
    """
    played = [games.play.configure(registry.get(key), values) for key, values in configurations]
    roles: dict[str, str] = {}
    for game in played:
        for role in game.roles():
            roles.setdefault(role, game.role_title(role))
    return Shape(
        games=tuple(dict.fromkeys(game.key for game in played)),
        config=_union(game.Config for game in played),
        roles=roles,
        moves=_union(model for game in played for model in game.move_types),
        metrics=_union(game.Results for game in played),
        seat_metrics=_union(game.SeatResults for game in played),
        records=_union(game.Record for game in played),
    )


def _union(models: Iterable[type[BaseModel]]) -> dict[str, Field]:
    """Return the fields of all models; of those with the same name, one that can hold the values of each."""
    union: dict[str, Field] = {}
    for model in dict.fromkeys(models):
        for one in fields_of(model):
            union[one.name] = _wider(union.get(one.name, one), one)
    return union


def _wider(one: Field, other: Field) -> Field:
    lows, highs, kinds = (one.minimum, other.minimum), (one.maximum, other.maximum), {one.kind, other.kind}
    kind = one.kind
    if len(kinds) > 1:
        kind = "number" if kinds == {"integer", "number"} else "data" if "data" in kinds else "text"
    return replace(
        one,
        kind=kind,
        nullable=one.nullable or other.nullable,
        choices=tuple(dict.fromkeys((*one.choices, *other.choices))) if len(kinds) == 1 else (),
        minimum=None if None in lows else min(lows),
        maximum=None if None in highs else max(highs),
        unit=one.unit if one.unit == other.unit else "",
    )
