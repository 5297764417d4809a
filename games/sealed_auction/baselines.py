"""Scripts for the sealed auction. Each script knows only its seat's value."""

from __future__ import annotations

from random import Random

from games.interface import MoveData, Role, Script
from games.scripts import by_name
from games.sealed_auction.state import SealedAuctionCore as SealedAuction
from games.sessions import Session


def random(game: SealedAuction, state: Session, role: Role, rng: Random) -> MoveData:
    """Make a random bid within the assets, all equally likely."""
    return {"bid": rng.uniform(0, game.config.assets)}


def bid_share(share: float) -> Script:
    """Return a script that bids this share of its value, at most its assets."""

    def move(game: SealedAuction, state: Session, role: Role, rng: Random) -> MoveData:
        return {"bid": min(share * game.value(state, role), game.config.assets)}

    return move


truthful = bid_share(1.0)


def shade(game: SealedAuction, state: Session, role: Role, rng: Random) -> MoveData:
    """Bid value·(n - 1)/n: the equilibrium under the first-price rule with uniform values."""
    n = game.config.players
    return {"bid": game.value(state, role) * (n - 1) / n}


def rational(game: SealedAuction, state: Session, role: Role, rng: Random) -> MoveData:
    """Bid its value, a dominant strategy under the second-price rule; `shade` under the first-price rule."""
    return (truthful if game.config.price_rule == "second" else shade)(game, state, role, rng)


def no_answer(game: SealedAuction, state: Session, role: Role, rng: Random) -> MoveData:
    """Make no bid."""
    return {"bid": None}


SCRIPTS = by_name(
    random,
    truthful=truthful,
    rational=rational,
    shade=shade,
    overbidder=bid_share(1.2),
    underbidder=bid_share(0.8),
    no_answer=no_answer,
)
