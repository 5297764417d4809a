"""Scripts for persuasion. Each uses only what its role may know.

Sellers: `honest`, `always_yes`, `commitment`, `random`. Buyers: `bayesian`, `trusting`, `never`,
`random`. Each also plays the other role: `honest` buys like `trusting` and `trusting` sells like `honest`,
`always_yes` always buys, `never` recommends nothing, `commitment` buys like `bayesian`, and `bayesian`
sells like `commitment`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from games.catalogues import SOURCE
from games.interface import MoveData, Role
from games.persuasion.roles import BUYER, HIGH, LOW
from games.persuasion.state import Market, Round
from games.persuasion.state import PersuasionCore as Persuasion
from games.scripts import by_name
from games.words import cached_by_language, language
from games.words import gettext as _

# Sentences are translated only when used: looking them all up costs more than the move.
Sentences = tuple[Callable[[], str], ...]
PRAISE: Sentences = (
    lambda: _("This is a product of high quality. I recommend it."),
    lambda: _("I have looked at it closely: it is a good one. Yes, buy it."),
    lambda: _("You will be happy with this one. My recommendation is yes."),
)
WARNINGS: Sentences = (
    lambda: _("I cannot recommend this one: its quality is low."),
    lambda: _("Not this time. It is not a good product."),
    lambda: _("Do not buy this one; the next may be better."),
)
_NEGATIVE_WORDS = {
    "en": r"\b(no|not|none|nothing|never|nor|\w+n['’]t|cannot|low|bad|poor|avoid|skip|unfortunately|wait)\b",
    "de": r"\b(nein|nicht|nichts|kein\w*|nie|niemals|niedrig\w*|schlecht\w*|leider|abraten|warten)\b",
    "es": r"\b(no|nada|nunca|ningun[oa]?|ningún|ni|baj[oa]|mal[oa]?|evite|evitar|desgraciadamente|espere)\b",
}


# Cached, since the Bayesian buyer reads all earlier messages again in every round.
@cached_by_language
def recommends(message: str) -> bool:
    """Return whether a message recommends a product: true unless it contains a negative word."""
    return re.search(_NEGATIVE_WORDS.get(language(), _NEGATIVE_WORDS[SOURCE]), message, re.IGNORECASE) is None


def recommended(this_round: Round) -> bool:
    """Return whether the seller recommended this round's product, by message or by recommendation."""
    return this_round.recommendation == "yes" if this_round.message is None else recommends(this_round.message)


def _say(game: Persuasion, yes: bool, rng: Random) -> MoveData:
    if game.config.message_type == "binary":
        return {"recommendation": "yes" if yes else "no"}
    return {"message": rng.choice(PRAISE if yes else WARNINGS)()}


def _buy(yes: bool) -> MoveData:
    return {"decision": "yes" if yes else "no"}


def honest(game: Persuasion, state: Market, role: Role, rng: Random) -> MoveData:
    """Recommend high quality only; as a buyer, buy what is recommended."""
    current = state.rounds[-1]
    return _buy(recommended(current)) if role == BUYER else _say(game, current.quality == HIGH, rng)


def always_yes(game: Persuasion, state: Market, role: Role, rng: Random) -> MoveData:
    """Recommend everything; as a buyer, buy everything."""
    return _buy(True) if role == BUYER else _say(game, True, rng)


def commitment_rate(game: Persuasion) -> float:
    """Return how often the optimal committed seller recommends low quality: q = min{p(v-1)/((1-p)(1-u)), 1}.

    A buyer is then just willing to buy recommended products (GLEE, section 2.3, for u = 0; Kamenica and
    Gentzkow 2011). A seller who does not know v and u stays honest: 0.
    """
    config = game.config
    if not config.complete_information:
        return 0.0
    if config.prior == 1:
        return 1.0
    return min(config.prior * (config.high_value - 1) / ((1 - config.prior) * (1 - config.low_value)), 1.0)


def commitment(game: Persuasion, state: Market, role: Role, rng: Random) -> MoveData:
    """Recommend all high quality, and as much low quality as a rational buyer is just willing to accept."""
    if role == BUYER:
        return bayesian(game, state, role, rng)
    is_high = state.rounds[-1].quality == HIGH
    return _say(game, is_high or rng.random() < commitment_rate(game), rng)


def bayesian(game: Persuasion, state: Market, role: Role, rng: Random) -> MoveData:
    """Buy if the product's expected value is at least its price, given how often the seller told the truth.

    Counts the qualities that followed the same recommendation, starting from two pseudo-observations split
    according to the prior. A myopic buyer counts what the statistics show instead: how many products were
    bought, and how many of these were of low quality.
    """
    if role != BUYER:
        return commitment(game, state, role, rng)
    current = state.rounds[-1]
    high, count = 2 * game.config.prior, 2.0
    for past_round in state.played:
        if game.myopic:
            is_counted = past_round.bought
        else:
            is_counted = game.revealed(past_round) and recommended(past_round) == recommended(current)
        if is_counted:
            high, count = high + (past_round.quality == HIGH), count + 1
    chance = high / count
    return _buy(chance * game.gain(HIGH) + (1 - chance) * game.gain(LOW) >= 0)


def trusting(game: Persuasion, state: Market, role: Role, rng: Random) -> MoveData:
    """Buy what is recommended; as a seller, be honest."""
    return honest(game, state, role, rng)


def never(game: Persuasion, state: Market, role: Role, rng: Random) -> MoveData:
    """Buy nothing; as a seller, recommend nothing."""
    return _buy(False) if role == BUYER else _say(game, False, rng)


def random(game: Persuasion, state: Market, role: Role, rng: Random) -> MoveData:
    """Toss a coin."""
    yes = rng.random() < 0.5
    return _buy(yes) if role == BUYER else _say(game, yes, rng)


SCRIPTS = by_name(honest, always_yes, commitment, bayesian, trusting, never, random)
