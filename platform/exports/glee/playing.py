"""Published games, replayed under our rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from exports.glee.published import PublishedGame, UnreadableGame
from exports.published import results_of
from games import registry
from games.errors import BadConfig, Refused
from games.interface import Event, Json, Role
from games.play import configure, record_moves
from games.words import gettext as _

SEED = 0
"""Random seed of every replayed game; its configuration already contains all draws."""


@dataclass(frozen=True)
class Outcome:
    """A published game as a log of our own, with results by the paper's formulas.

    Attributes:
        game: the game as read, with every key in its configuration.
        seed: seed of the log.
        events: the log.
        payoffs: in the game's money, by role.
        metrics: results by the game's own names.
        unverified: the first thing that our rules would not have allowed; None if all is legal.
    """

    game: PublishedGame
    seed: int
    events: tuple[Event, ...]
    payoffs: Mapping[Role, float | None]
    metrics: Mapping[str, Json]
    unverified: str | None

    def as_line(self) -> dict[str, Json]:
        """Return the game as one JSON object, without messages and names."""
        return {
            "game_id": self.game.game_id,
            "family": self.game.family,
            "config": dict(self.game.config),
            "payoffs": dict(self.payoffs),
            "metrics": dict(self.metrics),
            "players": dict(self.game.players),
            "unverified": self.unverified,
        }


def replay_game(game: PublishedGame) -> Outcome:
    """Return `game` replayed under our rules.

    A move beyond one of our limits (a wrong sum, a message that is too long) is kept as it is.

    Raises:
        UnreadableGame: the configuration is invalid, a move is out of turn, or the game is not over.
    """
    if game.family not in registry.keys():
        raise UnreadableGame(_("Parley has no game “{family}”.").format(family=game.family))
    try:
        rules = configure(registry.get(game.family), game.config)
        play, events, refusal = record_moves(rules, SEED, game.moves)
        payoffs, metrics = results_of(play)
    except (BadConfig, Refused) as error:
        raise UnreadableGame(str(error)) from None
    except ArithmeticError:
        raise UnreadableGame(_("The amounts in this game are too large or too small to compute with.")) from None
    if not play.finished:
        raise UnreadableGame(
            _("The game is not over: after {moves} moves it waits for {role}.").format(
                moves=len(game.moves), role=", ".join(play.waiting_for())
            )
        )
    config: dict[str, Any] = rules.config.model_dump(mode="json")
    return Outcome(
        game=replace(game, config=config),
        seed=SEED,
        events=events,
        payoffs=payoffs,
        metrics=metrics,
        unverified=refusal or (game.remarks[0] if game.remarks else None),
    )
