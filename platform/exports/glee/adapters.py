"""What a family provides so that its published games can be read and written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from exports.glee.arguments import Arguments
from exports.glee.cells import Row
from games.interface import Json, MoveData, Role

Moves = Sequence[tuple[Role, MoveData]]
Config = Mapping[str, Json]


@dataclass(frozen=True)
class Reading:
    """The contents of a table.

    Attributes:
        moves: (role, move), in order.
        config: configuration keys that only the table contains.
        remarks: what our rules do not cover, as sentences.
    """

    moves: Moves
    config: Config = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Adapter:
    """One family in the published layout; all functions are pure.

    Attributes:
        family: key of the game.
        required_columns: columns required to read a table.
        config: game_args → our configuration keys.
        read: (rows, configuration) → the moves played.
        game_args: our configuration → game_args.
        columns: (configuration, moves) → the table's columns, in the order of writing.
        write: (configuration, moves) → the table's rows, with all cells as text and messages unchanged.
    """

    family: str
    required_columns: tuple[str, ...]
    config: Callable[[Arguments], dict[str, Json]]
    read: Callable[[Sequence[Row], Config], Reading]
    game_args: Callable[[Config], dict[str, Json]]
    columns: Callable[[Config, Moves], tuple[str, ...]]
    write: Callable[[Config, Moves], list[dict[str, str]]]
