"""What sellers and buyers are told as GLEE's program tells its models: no computed gains, and counts of sales."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.interface import Block, Role, Said, Talk, Text, Told, View
from games.persuasion.roles import BUYER, HIGH, SELLER, Quality
from games.persuasion.state import Market, Round
from games.persuasion.state import PersuasionCore as Persuasion
from games.words import gettext as _


def view(game: Persuasion, state: Market, role: Role) -> View:
    """Return the current round; to a buyer without memory, also the products sold so far."""
    if state.now is None:
        return ()
    if role == SELLER:
        return _product(game, state)
    statistics = () if game.remembers(BUYER) else (_statistics(state),)
    return (*statistics, *(_pitch(game, state) if state.now.offered else ()))


def notices(game: Persuasion, before: Market, moves: Mapping[Role, Any], after: Market, role: Role) -> View:
    """Return a message, or the outcome of a round and the seller's next product."""
    if after.now is not None and after.now.offered:
        return _pitch(game, after) if role == BUYER else ()
    if not game.remembers(role):
        return ()
    blocks: tuple[Block, ...] = (_outcome(game, after.played[-1], role),)
    return (*blocks, *_product(game, after)) if role == SELLER and after.now is not None else blocks


def _round(state: Market) -> str:
    return _("Round {number}.").format(number=len(state.rounds))


def _quality(quality: Quality) -> str:
    return _("high") if quality == HIGH else _("low")


def _product(game: Persuasion, state: Market) -> tuple[Block, ...]:
    assert state.now is not None
    words = _("The quality of this round's product is {quality}.").format(quality=_quality(state.now.quality))
    return (Text("product", f"{_round(state)} {words}"),)


def _pitch(game: Persuasion, state: Market) -> tuple[Block, ...]:
    """Return the seller's message or recommendation; the round only to a buyer who remembers earlier ones."""
    now, name = state.now, game.role_title(SELLER)
    assert now is not None
    number = (Text("round", _round(state)),) if game.remembers(BUYER) else ()
    if now.message is not None:
        return (*number, Talk("pitch", "", (Said(name, now.message),)))
    advised = now.recommendation == "yes"
    words = _("{name} recommends the product.") if advised else _("{name} does not recommend the product.")
    return (*number, Text("pitch", words.format(name=name)))


def _outcome(game: Persuasion, past_round: Round, role: Role) -> Text:
    name = game.role_title(BUYER)
    if role == SELLER:
        words = _("{name} bought the product.") if past_round.bought else _("{name} did not buy the product.")
        return Text("outcome", words.format(name=name))
    bought = _("You bought the product.") if past_round.bought else _("You did not buy the product.")
    if not game.revealed(past_round):
        return Text("outcome", bought)
    worth = game.config.price + game.gain(past_round.quality)
    quality = _("Its quality was {quality}, and it was worth {worth} to you.").format(
        quality=_quality(past_round.quality), worth=game.money(worth)
    )
    return Text("outcome", f"{bought} {quality}")


def _statistics(state: Market) -> Text:
    """Return how many products were sold, and how many of these were of high quality."""
    sold = [past_round for past_round in state.played if past_round.bought]
    high = sum(past_round.quality == HIGH for past_round in sold)
    words = _("Products bought so far: {sold}. Of these, of high quality: {high}.")
    return Text("statistics", words.format(sold=len(sold), high=high))


TOLD = Told(view, notices)
