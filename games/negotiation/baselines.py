"""Scripted players. Each uses only what its role may know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import TYPE_CHECKING

from games.interface import MoveData, Role, Script
from games.negotiation.roles import BUYER, SELLER, at_least_as_good
from games.words import gettext as _

if TYPE_CHECKING:
    from games.negotiation.rules import Negotiation, Rounds

ACCEPT: MoveData = {"decision": "accept"}
REJECT: MoveData = {"decision": "reject"}
WALK_AWAY: MoveData = {"decision": "walk_away"}


def _offer(game: Negotiation, price: float, message: str | None = None) -> MoveData:
    if message and game.config.messages_allowed:
        return {"price": price, "message": message}
    return {"price": price}


def _number(state: Rounds) -> int:
    """The round being played; counts from 1."""
    return len(state.proposals) + (state.on_table is None)


def _own_offers(state: Rounds, role: Role) -> int:
    """How many prices the role has named."""
    return sum(proposal.by == role for proposal in state.proposals)


def _better_than_own_value(game: Negotiation, role: Role, by: float) -> float:
    """The price that earns the role a share `by` of its own value, in cents where that makes no loss of it."""
    value = game.value(role)
    price = value * (1 + by if role == SELLER else 1 - by)
    in_cents = round(price, 2)
    return in_cents if at_least_as_good(role, in_cents, value) else price


# ---- equilibrium ---------------------------------------------------------------------------------

FIRST_MARGIN = 0.1
"""Where the other's value is not known: what is asked for beyond one's own at first, as a share of it."""
PATIENCE = 8
"""Offers after which one stops hoping, where neither the other's value nor an end is known."""


def equilibrium_price(seller_value: float, buyer_value: float, rounds: int | None) -> float:
    """The price both sides expect, where both know that there is something to share.

    Finite: without discounting nobody is hurt by waiting, so by backward induction whoever names the last
    price gets everything: the seller (odd number of rounds) the buyer's value, the buyer the seller's.
    Infinite: every division of the surplus is an equilibrium; this is the equal one, which alternating
    offers come near to as both sides become patient (Rubinstein 1982).
    """
    if rounds is None:
        return seller_value / 2 + buyer_value / 2
    return buyer_value if rounds % 2 else seller_value


def equilibrium(game: Negotiation, state: Rounds, role: Role, rng: Random) -> MoveData:
    """Subgame-perfect play of finite horizons under complete information; else as near to it as one can know.

    Accepts when indifferent. Where there is nothing to share it offers its own value and walks away from
    losses. Without knowing the other's value it asks for a margin above its own, half as large with each of
    its offers, and in the last round for none.
    """
    own, theirs = game.value(role), game.value_of_other(role)
    if theirs is None:
        return _without_knowing(game, state, role)
    if not at_least_as_good(role, theirs, own):
        return _nothing_to_share(game, state, role)
    seller_value, buyer_value = (own, theirs) if role == SELLER else (theirs, own)
    price = equilibrium_price(seller_value, buyer_value, game.config.rounds)
    if state.on_table is None:
        return {"price": price}
    enough = own if game.ends_with(_number(state)) else price
    return ACCEPT if at_least_as_good(role, state.on_table.price, enough) else REJECT


def _nothing_to_share(game: Negotiation, state: Rounds, role: Role) -> MoveData:
    own = game.value(role)
    if state.on_table is None:
        return {"price": own}
    if at_least_as_good(role, state.on_table.price, own):
        return ACCEPT
    return WALK_AWAY if game.config.outside_option else REJECT


def _without_knowing(game: Negotiation, state: Rounds, role: Role) -> MoveData:
    own, made = game.value(role), _own_offers(state, role)
    last_chance = game.ends_with(_number(state))
    if state.on_table is None:
        return {"price": own if last_chance else _better_than_own_value(game, role, FIRST_MARGIN / 2**made)}
    # The next offer would ask for this much; nothing is worth waiting for after the last round.
    enough = own if last_chance else _better_than_own_value(game, role, FIRST_MARGIN / 2**made)
    if at_least_as_good(role, state.on_table.price, enough):
        return ACCEPT
    hopeless = game.config.rounds is None and made >= PATIENCE
    return WALK_AWAY if hopeless and game.config.outside_option else REJECT


# ---- haggler -------------------------------------------------------------------------------------

HAGGLE_FROM, HAGGLE_STEP = 0.5, 0.1
"""The haggler asks for half its own value as a gain, and for a tenth of it less with each of its offers, to none."""


def haggler(game: Negotiation, state: Rounds, role: Role, rng: Random) -> MoveData:
    """Asks for much, concedes step by step to its own value, writes friendly words, and never takes a loss."""
    made = _own_offers(state, role)
    # Counted from the end of the way down, in tenths that are exact at 0.
    margin = max(0, round(HAGGLE_FROM / HAGGLE_STEP) - made) * HAGGLE_STEP
    demand = _better_than_own_value(game, role, margin)
    offer = state.on_table
    if offer is not None:
        last_chance = game.ends_with(_number(state))
        gains = at_least_as_good(role, offer.price, game.value(role)) and offer.price != game.value(role)
        return ACCEPT if at_least_as_good(role, offer.price, demand) or (last_chance and gains) else REJECT
    sentences = OPENINGS if made == 0 else CONCESSIONS if margin else LAST_WORDS
    return _offer(game, demand, rng.choice(sentences[role])())


# Sentences are translated one at a time, when they are said: looking all of them up costs more than the move.
Sentences = Mapping[Role, tuple[Callable[[], str], ...]]
OPENINGS: Sentences = {
    SELLER: (
        lambda: _("Hello! It is a fine product, and this is where I would like to start."),
        lambda: _("Nice to meet you. You will enjoy it; here is my first price."),
        lambda: _("Good to have you here. Let me begin with this price and hear what you think."),
    ),
    BUYER: (
        lambda: _("Hello! I like your product, and this is what I would start with."),
        lambda: _("Nice to meet you. Let me begin with this price and hear what you think."),
        lambda: _("Thank you for your time. Here is a first price from my side."),
    ),
}
CONCESSIONS: Sentences = {
    SELLER: (
        lambda: _("I have come down a step for you. Will you come up one for me?"),
        lambda: _("This is kinder to you than my last price. What do you say?"),
        lambda: _("Let us find the middle together; I have made it cheaper."),
    ),
    BUYER: (
        lambda: _("I have come up a step for you. Will you come down one for me?"),
        lambda: _("This is kinder to you than my last price. What do you say?"),
        lambda: _("Let us find the middle together; I have raised my price."),
    ),
}
LAST_WORDS: Sentences = {
    SELLER: (
        lambda: _("I cannot go lower than this: there is nothing left in it for me."),
        lambda: _("That is as low as I can sell it. I hope that it suits you."),
    ),
    BUYER: (
        lambda: _("I cannot go higher than this: there is nothing left in it for me."),
        lambda: _("That is as much as I can pay. I hope that it suits you."),
    ),
}


# ---- random --------------------------------------------------------------------------------------

WALKS_AWAY = 0.1


def random(game: Negotiation, state: Rounds, role: Role, rng: Random) -> MoveData:
    """Any price up to twice its own value, in cents; a coin toss for an answer, and now and then it walks away."""
    if state.on_table is None:
        return {"price": round(rng.random() * 2 * game.value(role), 2)}
    if game.config.outside_option and rng.random() < WALKS_AWAY:
        return WALK_AWAY
    return rng.choice((ACCEPT, REJECT))


SCRIPTS: Mapping[str, Script] = {"equilibrium": equilibrium, "haggler": haggler, "random": random}
