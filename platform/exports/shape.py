"""The columns of a study's matches: parameters, roles, moves and results, as its games declare them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pydantic import BaseModel

import games.play
from exports.columns import Column, Design, Kind
from exports.csvsafe import cell
from games import registry
from matches.forms import Field, fields_of

MONEY = "the game's money"
PLAYERS = "human, or the agent as script:NAME, program:NAME, openai:MODEL, anthropic:MODEL"


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
    kinds = {one.kind, other.kind}
    lows = [field.minimum for field in (one, other) if field.minimum is not None]
    highs = [field.maximum for field in (one, other) if field.maximum is not None]
    kind = one.kind
    if len(kinds) > 1:
        kind = "number" if kinds == {"integer", "number"} else "data" if "data" in kinds else "text"
    return replace(
        one,
        kind=kind,
        nullable=one.nullable or other.nullable,
        choices=tuple(dict.fromkeys((*one.choices, *other.choices))) if len(kinds) == 1 else (),
        minimum=min(lows) if len(lows) == 2 else None,
        maximum=max(highs) if len(highs) == 2 else None,
        unit=one.unit if one.unit == other.unit else "",
    )


# ---- columns -----------------------------------------------------------------------------------------------


def parameters(design: Design) -> Iterator[Column]:
    """Yield the columns of the games' parameters."""
    for name, about in design.shape.config.items():
        values = _values(about, "empty: none" if about.nullable else "")
        yield Column(name, _kind(about), f"Parameter of the game: {_sentence(about)}", values=values)


def moves(design: Design) -> Iterator[Column]:
    """Yield the columns of the fields of moves."""
    for name, about in design.shape.moves.items():
        values = _values(about, "empty if the move has no such field")
        yield Column(name, _kind(about), f"Field of the move: {_sentence(about)}", values=values)


def payoffs(design: Design) -> Iterator[Column]:
    """Yield a column for each role."""
    for role, title in design.shape.roles.items():
        yield Column(role, "number", f"Payoff of {title}.", unit=MONEY)


def players(design: Design) -> Iterator[Column]:
    """Yield the columns about who took each seat."""
    for role, title in design.shape.roles.items():
        yield Column(f"player_{role}", "choice", f"Who played {title}.", values=PLAYERS)
        yield Column(
            f"agent_{role}",
            "choice",
            f"The study's or collection's label of the agent that played {title}; empty for a person.",
        )
        yield Column(
            f"agent_{role}_hash",
            "identifier",
            "Hash of everything that affects that agent's behaviour: the same label with another hash is a different "
            "agent.",
        )
        yield Column(
            f"participant_{role}",
            "identifier",
            f"Pseudonym of the person who played {title}; empty for an agent.",
        )


def results(of: str) -> Callable[[Design], Iterator[Column]]:
    """Return what yields the columns of results: those in the shape's attribute `of`."""

    def columns(design: Design) -> Iterator[Column]:
        for name, about in getattr(design.shape, of).items():
            values = _values(about, "empty if it has no value")
            yield Column(name, _kind(about), about.help, unit=about.unit, values=values)

    return columns


def _sentence(field: Field) -> str:
    text = f"{field.label}. {field.help}".strip() if field.label != field.name else field.help or f"{field.name}."
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _kind(field: Field) -> Kind:
    return "json" if field.kind == "data" else field.kind


def _values(field: Field, absent: str) -> str:
    descriptions = []
    if field.choices:
        descriptions.append(", ".join(cell(choice) for choice in field.choices))
    elif field.kind == "boolean":
        descriptions.append("true, false")
    if field.minimum is not None:
        descriptions.append(f"from {field.minimum:g}")
    if field.maximum is not None:
        descriptions.append(f"to {field.maximum:g}")
    if field.max_length is not None:
        descriptions.append(f"at most {field.max_length} characters")
    return "; ".join([*descriptions, *([absent] if absent else [])])
