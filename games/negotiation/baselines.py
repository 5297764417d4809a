"""Scripts for negotiation. Each uses only what its role may know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from games.interface import MoveData, Role
from games.negotiation.roles import BUYER, SELLER, at_least_as_good
from games.negotiation.state import NegotiationCore as Negotiation
from games.negotiation.state import Rounds
from games.scripts import by_name
from games.words import gettext as _

ACCEPT: MoveData = {"decision": "accept"}
REJECT: MoveData = {"decision": "reject"}
WALK_AWAY: MoveData = {"decision": "walk_away"}


def _offer(game: Negotiation, price: float, message: str | None = None) -> MoveData:
    if message and game.config.messages_allowed:
        return {"price": price, "message": message}
    return {"price": price}


def _current_round(state: Rounds) -> int:
    """Return the current round, from 1."""
    return len(state.proposals) + (state.on_table is None)


def _price_with_margin(game: Negotiation, role: Role, margin: float) -> float:
    """Return the price that earns the role a share `margin` of its own value; in cents unless rounding makes a loss."""
    value = game.value(role)
    price = value * (1 + margin if role == SELLER else 1 - margin)
    in_cents = round(price, 2)
    return in_cents if at_least_as_good(role, in_cents, value) else price


# ---- equilibrium ---------------------------------------------------------------------------------

FIRST_MARGIN = 0.1
"""The first margin asked for when the other's value is unknown, as a share of the role's own value."""
PATIENCE = 8
"""Offers before giving up when neither the other's value nor the number of rounds is known."""


def equilibrium_price(seller_value: float, buyer_value: float, rounds: int | None) -> float:
    """Return the equilibrium price when both know that there is a surplus.

    Finite: without discounting, waiting hurts nobody, so by backward induction the player who names the last
    price gets the whole surplus: the seller (odd number of rounds) sells at the buyer's value, the buyer buys
    at the seller's. Infinite: every division of the surplus is an equilibrium; this is the equal one, to which
    alternating offers converge as both sides become patient (Rubinstein 1982).
    """
    if rounds is None:
        return seller_value / 2 + buyer_value / 2
    return buyer_value if rounds % 2 else seller_value


def equilibrium(game: Negotiation, state: Rounds, role: Role, rng: Random) -> MoveData:
    """Play the subgame-perfect equilibrium of a finite game under complete information; otherwise approximate it.

    Accept when indifferent. Without a surplus, name its own value and walk away from losses. If the other's value
    is unknown, ask for a margin over its own value that halves with each offer, and for none in the last round.
    """
    own_value, other_value = game.value(role), game.value_of_other(role)
    if other_value is None:
        return _with_unknown_value(game, state, role)
    if not at_least_as_good(role, other_value, own_value):
        return _without_surplus(game, state, role)
    seller_value, buyer_value = (own_value, other_value) if role == SELLER else (other_value, own_value)
    price = equilibrium_price(seller_value, buyer_value, game.config.rounds)
    if state.on_table is None:
        return {"price": price}
    acceptable = own_value if game.ends_with(_current_round(state)) else price
    return ACCEPT if at_least_as_good(role, state.on_table.price, acceptable) else REJECT


def _without_surplus(game: Negotiation, state: Rounds, role: Role) -> MoveData:
    own_value = game.value(role)
    if state.on_table is None:
        return {"price": own_value}
    if at_least_as_good(role, state.on_table.price, own_value):
        return ACCEPT
    return WALK_AWAY if game.config.outside_option else REJECT


def _with_unknown_value(game: Negotiation, state: Rounds, role: Role) -> MoveData:
    own_value, offers_made = game.value(role), state.made_by(role)
    is_last_round = game.ends_with(_current_round(state))
    if state.on_table is None:
        return {"price": own_value if is_last_round else _price_with_margin(game, role, FIRST_MARGIN / 2**offers_made)}
    # The next offer would ask for this much; after the last round there is nothing to wait for.
    acceptable = own_value if is_last_round else _price_with_margin(game, role, FIRST_MARGIN / 2**offers_made)
    if at_least_as_good(role, state.on_table.price, acceptable):
        return ACCEPT
    out_of_patience = game.config.rounds is None and offers_made >= PATIENCE
    return WALK_AWAY if out_of_patience and game.config.outside_option else REJECT


# ---- haggler -------------------------------------------------------------------------------------

HAGGLE_FROM, HAGGLE_STEP = 0.5, 0.1
"""The haggler first asks for a gain of half its own value, then for a tenth of that value less with each offer."""


def haggler(game: Negotiation, state: Rounds, role: Role, rng: Random) -> MoveData:
    """Ask for a lot, concede step by step to its own value with friendly messages, and never accept a loss."""
    offers_made = state.made_by(role)
    # Counted down in tenths, so that it reaches exactly 0.
    margin = max(0, round(HAGGLE_FROM / HAGGLE_STEP) - offers_made) * HAGGLE_STEP
    demand = _price_with_margin(game, role, margin)
    offer = state.on_table
    if offer is not None:
        is_last_round = game.ends_with(_current_round(state))
        is_gain = at_least_as_good(role, offer.price, game.value(role)) and offer.price != game.value(role)
        return ACCEPT if at_least_as_good(role, offer.price, demand) or (is_last_round and is_gain) else REJECT
    sentences = OPENINGS if offers_made == 0 else CONCESSIONS if margin else LAST_OFFERS
    return _offer(game, demand, rng.choice(sentences[role])())


# Sentences are translated only when used: looking them all up costs more than the move.
Sentences = Mapping[Role, tuple[Callable[[], str], ...]]
OPENINGS: Sentences = {
    SELLER: (
        lambda: _("Hello! It's a fine product, and this is where I'd like to start."),
        lambda: _("Nice to meet you. You'll enjoy it; here is my first price."),
        lambda: _("Good to have you here. Let me start with this price and hear what you think."),
    ),
    BUYER: (
        lambda: _("Hello! I like your product, and this is where I'd like to start."),
        lambda: _("Nice to meet you. Let me start with this price and hear what you think."),
        lambda: _("Thank you for your time. Here is my first price."),
    ),
}
CONCESSIONS: Sentences = {
    SELLER: (
        lambda: _("I've come down a step for you. Will you come up one for me?"),
        lambda: _("This is better for you than my last price. What do you say?"),
        lambda: _("Let's meet in the middle; I've lowered my price."),
    ),
    BUYER: (
        lambda: _("I've come up a step for you. Will you come down one for me?"),
        lambda: _("This is better for you than my last price. What do you say?"),
        lambda: _("Let's meet in the middle; I've raised my price."),
    ),
}
LAST_OFFERS: Sentences = {
    SELLER: (
        lambda: _("I can't go any lower: there would be nothing left in it for me."),
        lambda: _("That's as low as I can go. I hope it works for you."),
    ),
    BUYER: (
        lambda: _("I can't go any higher: there would be nothing left in it for me."),
        lambda: _("That's as much as I can pay. I hope it works for you."),
    ),
}


# ---- random --------------------------------------------------------------------------------------

WALK_AWAY_CHANCE = 0.1


def random(game: Negotiation, state: Rounds, role: Role, rng: Random) -> MoveData:
    """Name any price up to twice its own value, in cents; answer by a coin toss, or sometimes walk away."""
    if state.on_table is None:
        return {"price": round(rng.random() * 2 * game.value(role), 2)}
    if game.config.outside_option and rng.random() < WALK_AWAY_CHANCE:
        return WALK_AWAY
    return rng.choice((ACCEPT, REJECT))


SCRIPTS = by_name(equilibrium, haggler, random)
