"""What a trader is told as GLEE's program tells its models: rounds, prices and options, and no computed gains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.glee import other
from games.interface import Block, Role, Said, Talk, Text, Told, View
from games.negotiation.roles import SELLER
from games.negotiation.state import NegotiationCore as Negotiation
from games.negotiation.state import Rounds
from games.words import gettext as _


def view(game: Negotiation, state: Rounds, role: Role) -> View:
    """Return the round and, if there is one, the price to answer."""
    turn, offer = game.turn(state), state.on_table
    if turn is None or role not in turn.forms:
        return ()
    return _price(game, state, role) if offer is not None and offer.by != role else _round(game, state)


def notices(game: Negotiation, before: Rounds, moves: Mapping[Role, Any], after: Rounds, role: Role) -> View:
    """Return a new price, or a rejection and the next round."""
    ((mover, _move),) = moves.items()
    if game.turn(after) is None:
        return ()
    if after.on_table:
        return () if mover == role else _price(game, after, role)
    rejected = _("{name} rejected your price.").format(name=game.role_title(mover))
    return _round(game, after) if mover == role else (Text("answer", rejected),)


def _round(game: Negotiation, state: Rounds) -> tuple[Block, ...]:
    """Return the round, unless nobody knows how many there are."""
    if game.config.rounds is None:
        return ()
    return (Text("round", _("Round {number}.").format(number=game.round_of(state))),)


def _price(game: Negotiation, state: Rounds, role: Role) -> tuple[Block, ...]:
    """Return the round, the price, and what each answer leads to."""
    offer = state.on_table
    assert offer is not None
    name, price = game.role_title(offer.by), game.money(offer.price)
    words = _("{name} asks for {price}.") if role != SELLER else _("{name} offers you {price}.")
    message = (Talk("message", "", (Said(name, offer.message),)),) if offer.message else ()
    return (
        *_round(game, state),
        Text("offer", words.format(name=name, price=price)),
        *message,
        _options(game, state, role),
    )


def _options(game: Negotiation, state: Rounds, role: Role) -> Text:
    """Return the consequence of each answer."""
    value, name = game.money(game.value(role)), game.role_title(other(role))
    if role == SELLER:
        trade, john = _("you sell the product to {name} at this price"), _("you sell the product to John for {value}")
    else:
        trade, john = _("you buy the product from {name} at this price"), _("you buy the product from John for {value}")
    rejecting = _("you name the next price")
    if game.ends_with(game.round_of(state)):
        rejecting = john if game.config.outside_option else _("there is no trade")
    options = {"accept": trade, "reject": rejecting, **({"walk_away": john} if game.config.outside_option else {})}
    lines = (f"{answer}: {words.format(name=name, value=value)}." for answer, words in options.items())
    return Text("options", "\n".join(lines))


TOLD = Told(view, notices)
