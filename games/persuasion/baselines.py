"""Scripted players. Each uses only what its role may know.

Sellers: `honest`, `always_yes`, `commitment`, `random`. Buyers: `bayesian`, `trusting`, `never`,
`random`. In the other seat `honest` and `trusting` are the same player, `always_yes` buys always,
`never` recommends nothing, `commitment` buys like `bayesian`, and `bayesian` sells like `commitment`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING

from games.interface import MoveData, Role, Script
from games.persuasion.roles import BUYER, HIGH, LOW
from games.words import gettext as _

if TYPE_CHECKING:
    from games.persuasion.rules import Market, Persuasion, Round

# Sentences are translated one at a time, when they are said: looking all of them up costs more than the move.
Sentences = tuple[Callable[[], str], ...]
PRAISE: Sentences = (
    lambda: _("This is a product of high quality. I recommend it."),
    lambda: _("I have looked at it closely: it is a good one. Yes, buy it."),
    lambda: _("You will be glad of this one. My recommendation is yes."),
)
WARNINGS: Sentences = (
    lambda: _("I cannot recommend this one: its quality is low."),
    lambda: _("Not this time. It is not a good product."),
    lambda: _("Do not buy this one; the next may be better."),
)
_AGAINST = re.compile(
    r"\b(no|not|none|nothing|never|nor|\w+n['’]t|cannot|low|bad|poor|avoid|skip|unfortunately|wait)\b", re.IGNORECASE
)


# A buyer who counts reads all earlier messages again in every round.
@lru_cache(maxsize=1024)
def recommends(words: str) -> bool:
    """Whether a message speaks for a product: it does unless a word in it speaks against."""
    return _AGAINST.search(words) is None


def spoke_for(said: Round) -> bool:
    """Whether the seller recommended this round's product, in one way or the other."""
    return said.recommendation == "yes" if said.message is None else recommends(said.message)


def _say(game: Persuasion, yes: bool, rng: Random) -> MoveData:
    if game.config.message_type == "binary":
        return {"recommendation": "yes" if yes else "no"}
    return {"message": rng.choice(PRAISE if yes else WARNINGS)()}


def _buy(yes: bool) -> MoveData:
    return {"decision": "yes" if yes else "no"}


def honest(game: Persuasion, state: Market, role: Role, rng: Random) -> MoveData:
    """Recommends high quality and nothing else; as a buyer it believes."""
    now = state.rounds[-1]
    return _buy(spoke_for(now)) if role == BUYER else _say(game, now.quality == HIGH, rng)


def always_yes(game: Persuasion, state: Market, role: Role, rng: Random) -> MoveData:
    """Recommends everything; as a buyer it buys everything."""
    return _buy(True) if role == BUYER else _say(game, True, rng)


def commitment_rate(game: Persuasion) -> float:
    """How often the best committed seller recommends a low-quality product: q = min{p(v-1)/((1-p)(1-u)), 1}.

    Recommended products are then worth their price to a buyer who only just buys (GLEE, section 2.3,
    for u = 0; Kamenica and Gentzkow 2011). A seller who does not know v and u stays honest: 0.
    """
    config = game.config
    if not config.complete_information:
        return 0.0
    if config.prior == 1:
        return 1.0
    return min(config.prior * (config.high_value - 1) / ((1 - config.prior) * (1 - config.low_value)), 1.0)


def commitment(game: Persuasion, state: Market, role: Role, rng: Random) -> MoveData:
    """Recommends all high quality and as much of the low as a rational buyer just puts up with."""
    if role == BUYER:
        return bayesian(game, state, role, rng)
    high = state.rounds[-1].quality == HIGH
    return _say(game, high or rng.random() < commitment_rate(game), rng)


def bayesian(game: Persuasion, state: Market, role: Role, rng: Random) -> MoveData:
    """Buys when the product is expected to be worth its price, given how often the seller's words were true.

    It counts the qualities that followed the same recommendation, and begins with two imagined
    products, of which the share that the prior says was high. A buyer who forgets counts what the
    statistics tell instead: how many products were bought, and how many of these were low.
    """
    if role != BUYER:
        return commitment(game, state, role, rng)
    now = state.rounds[-1]
    high, count = 2 * game.config.prior, 2.0
    for past in state.played:
        if game.myopic:
            counts = past.bought
        else:
            counts = game.revealed(past) and spoke_for(past) == spoke_for(now)
        if counts:
            high, count = high + (past.quality == HIGH), count + 1
    chance = high / count
    return _buy(chance * game.gain(HIGH) + (1 - chance) * game.gain(LOW) >= 0)


def trusting(game: Persuasion, state: Market, role: Role, rng: Random) -> MoveData:
    """Buys what is recommended; as a seller it is honest."""
    return honest(game, state, role, rng)


def never(game: Persuasion, state: Market, role: Role, rng: Random) -> MoveData:
    """Buys nothing; as a seller it recommends nothing."""
    return _buy(False) if role == BUYER else _say(game, False, rng)


def random(game: Persuasion, state: Market, role: Role, rng: Random) -> MoveData:
    """A coin toss."""
    yes = rng.random() < 0.5
    return _buy(yes) if role == BUYER else _say(game, yes, rng)


SCRIPTS: Mapping[str, Script] = {
    "honest": honest,
    "always_yes": always_yes,
    "commitment": commitment,
    "bayesian": bayesian,
    "trusting": trusting,
    "never": never,
    "random": random,
}
