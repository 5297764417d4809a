"""A published game in our terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from games.interface import Json, MoveData, Role

ALICE, BOB = "alice", "bob"
ROLES: tuple[Role, Role] = (ALICE, BOB)
"""Player 1 and player 2 in every family."""


@dataclass(frozen=True)
class PublishedGame:
    """One game: its players and all moves.

    Attributes:
        game_id: the name of its folder.
        family: key of the game, "bargaining".
        config: our configuration keys; missing keys have their defaults. Persuasion has the qualities drawn.
        players: "human" or a model's name, by role.
        moves: (role, move) in the order in which they were made.
        names: names that people chose, to be removed from all exports.
        remarks: what the files contain and our rules do not cover; a game with remarks cannot be verified.
    """

    game_id: str
    family: str
    config: Mapping[str, Json]
    players: Mapping[Role, str]
    moves: tuple[tuple[Role, MoveData], ...]
    names: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
