"""Scripts for bargaining. Each uses only what its role may know."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from games.bargaining.equilibrium import proposer_share
from games.bargaining.state import BargainingCore as Bargaining
from games.bargaining.state import Rounds
from games.glee import other
from games.interface import MoveData, Role
from games.scripts import by_name
from games.words import gettext as _

INDIFFERENCE_TOLERANCE = 1e-9
"""Shares closer than this count as equal: an indifferent player accepts."""


def _own_and_assumed_factor(game: Bargaining, role: Role) -> tuple[float, float]:
    """Return the role's discount factor and the other's; an unknown one is assumed to equal the role's own."""
    own_factor = game.delta(role)
    return own_factor, game.delta(other(role)) if game.config.complete_information else own_factor


def _rounds_left(game: Bargaining, state: Rounds) -> int | None:
    """Return the number of rounds left, or None if players do not know it."""
    return None if game.config.rounds is None else game.config.rounds - game.round_of(state) + 1


def _offer(game: Bargaining, role: Role, own_part: float, message: str | None = None) -> MoveData:
    """Return an offer that keeps `own_part`, limited to the money; with a message only if messages are allowed."""
    limited = min(max(own_part, 0.0), game.config.money)
    return game.split(role, limited, message if game.config.messages_allowed else None)


def equilibrium(game: Bargaining, state: Rounds, role: Role, rng: Random) -> MoveData:
    """Play the subgame-perfect equilibrium; accept when indifferent."""
    own_factor, other_factor = _own_and_assumed_factor(game, role)
    rounds_left = _rounds_left(game, state)
    offer = state.on_table
    if offer is None:
        return _offer(game, role, game.config.money * proposer_share(own_factor, other_factor, rounds_left))
    if rounds_left == 1:
        return {"decision": "accept"}
    continuation = own_factor * proposer_share(
        own_factor, other_factor, None if rounds_left is None else rounds_left - 1
    )
    is_enough = offer.gain(role) >= game.config.money * (continuation - INDIFFERENCE_TOLERANCE)
    return {"decision": "accept" if is_enough else "reject"}


HAGGLE_FROM, HAGGLE_TO, HAGGLE_STEP = 0.8, 0.5, 0.06
"""The haggler first asks for 80% and comes down by 6 percentage points with each of its offers, to one half."""


def haggler(game: Bargaining, state: Rounds, role: Role, rng: Random) -> MoveData:
    """Ask for a lot, concede step by step with friendly messages, and accept what matches the next demand."""
    offers_made = state.made_by(role)
    demand = max(HAGGLE_TO, HAGGLE_FROM - HAGGLE_STEP * offers_made)
    offer = state.on_table
    if offer is not None:
        is_last_round = _rounds_left(game, state) == 1
        next_demand = max(HAGGLE_TO, demand - HAGGLE_STEP)
        is_enough = offer.gain(role) >= game.config.money * (next_demand - INDIFFERENCE_TOLERANCE)
        return {"decision": "accept" if is_enough or (is_last_round and offer.gain(role) > 0) else "reject"}
    own_part = round(game.config.money * demand, 2)
    sentences = OPENINGS if offers_made == 0 else LAST_OFFERS if demand == HAGGLE_TO else CONCESSIONS
    return _offer(game, role, own_part, rng.choice(sentences)())


# Sentences are translated only when used: looking them all up costs more than the move.
Sentences = tuple[Callable[[], str], ...]
OPENINGS: Sentences = (
    lambda: _("Hello! Let me start with this split and see what you think."),
    lambda: _("Nice to meet you. This is where I'd like to start."),
    lambda: _("Here is a first proposal. I'm sure we'll find something that works."),
)
CONCESSIONS: Sentences = (
    lambda: _("I've come a step towards you. Will you do the same?"),
    lambda: _("Waiting costs us both, so here is a better offer."),
    lambda: _("I gave up some of my share. What do you say?"),
    lambda: _("Let's not lose more value; this offer is better for you than my last one."),
)
LAST_OFFERS: Sentences = (
    lambda: _("Half for each of us: I can't do better than that."),
    lambda: _("Let's share equally and be done. I won't go below this."),
)


def fair(game: Bargaining, state: Rounds, role: Role, rng: Random) -> MoveData:
    """Offer half and accept half or more of the money, undiscounted."""
    offer = state.on_table
    if offer is None:
        return _offer(game, role, game.config.money / 2)
    is_enough = offer.gain(role) >= game.config.money * (0.5 - INDIFFERENCE_TOLERANCE)
    return {"decision": "accept" if is_enough else "reject"}


def random(game: Bargaining, state: Rounds, role: Role, rng: Random) -> MoveData:
    """Offer any split in cents; answer by a coin toss."""
    if state.on_table is not None:
        return {"decision": rng.choice(("accept", "reject"))}
    return _offer(game, role, round(rng.random() * game.config.money, 2))


SCRIPTS = by_name(equilibrium, haggler, fair, random)
