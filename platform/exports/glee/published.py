"""A published game in our terms, and its replay under our rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from exports.published import Imported, UnreadableRecord, imported
from games import registry
from games.errors import BadConfig, Refused
from games.interface import Json, MoveData, Role
from games.play import configure, record_moves

ALICE, BOB = "alice", "bob"
ROLES: tuple[Role, Role] = (ALICE, BOB)
"""Player 1 and player 2 in every family."""
SEED = 0
"""Random seed of every replayed game; its configuration already contains all draws."""


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


def replay_game(game: PublishedGame) -> Imported:
    """Return `game` replayed under our rules, with results by the paper's formulas.

    A move beyond one of our limits (a wrong sum, a message that is too long) is kept as it is.

    Raises:
        UnreadableRecord: the configuration is invalid, a move is out of turn, or the game is not over.
    """
    if game.family not in registry.keys():
        raise UnreadableRecord(f"Parley has no game “{game.family}”.")
    try:
        play, events, refusal = record_moves(configure(registry.get(game.family), game.config), SEED, game.moves)
        unverified = refusal or next(iter(game.remarks), None)
        return imported(game.game_id, play, events, game.players, seed=SEED, unverified=unverified, names=game.names)
    except (BadConfig, Refused) as error:
        raise UnreadableRecord(str(error)) from None
    except ArithmeticError:
        raise UnreadableRecord("The amounts in this game are too large or too small to compute with.") from None
