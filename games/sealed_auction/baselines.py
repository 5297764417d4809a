"""Scripted bidders of the sealed auction. Each knows its own value alone."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import TYPE_CHECKING

from games.interface import MoveData, Role, Script
from games.sessions import Session

if TYPE_CHECKING:
    from games.sealed_auction.rules import SealedAuction


def random(game: SealedAuction, state: Session, role: Role, rng: Random) -> MoveData:
    """Any bid within the assets, all equally likely."""
    return {"bid": rng.uniform(0, game.config.assets)}


def bids(share: float) -> Script:
    """Bids this share of its value, at most the assets."""

    def move(game: SealedAuction, state: Session, role: Role, rng: Random) -> MoveData:
        return {"bid": min(share * game.value(state, role), game.config.assets)}

    return move


truthful = bids(1.0)


def shade(game: SealedAuction, state: Session, role: Role, rng: Random) -> MoveData:
    """Bids value·(n - 1)/n: the equilibrium of the first-price rule where values are uniform."""
    n = game.config.players
    return {"bid": game.value(state, role) * (n - 1) / n}


def rational(game: SealedAuction, state: Session, role: Role, rng: Random) -> MoveData:
    """Bids its value, which no other bid beats under the second-price rule; `shade` under the first-price rule."""
    return (truthful if game.config.price_rule == "second" else shade)(game, state, role, rng)


def no_answer(game: SealedAuction, state: Session, role: Role, rng: Random) -> MoveData:
    """No number."""
    return {"bid": None}


SCRIPTS: Mapping[str, Script] = {
    "random": random,
    "truthful": truthful,
    "rational": rational,
    "shade": shade,
    "overbidder": bids(1.2),
    "underbidder": bids(0.8),
    "no_answer": no_answer,
}
