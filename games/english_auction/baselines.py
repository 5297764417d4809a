"""Scripts for the English auction. Each script knows only its seat's value."""

from __future__ import annotations

from random import Random

from games.english_auction.state import Bidding
from games.english_auction.state import EnglishAuctionCore as EnglishAuction
from games.interface import MoveData, Role, Script
from games.scripts import by_name


def random(game: EnglishAuction, state: Bidding, role: Role, rng: Random) -> MoveData:
    """Toss a coin between the lowest bid allowed and dropping out."""
    return {"bid": game.lowest(state) if rng.random() < 0.5 else None}


def stay_in(share: float) -> Script:
    """Return a script that makes the lowest bid allowed while it is at most this share of its value."""

    def move(game: EnglishAuction, state: Bidding, role: Role, rng: Random) -> MoveData:
        lowest = game.lowest(state)
        return {"bid": lowest if lowest is not None and lowest <= share * game.value(state, role) else None}

    return move


def drop_out(game: EnglishAuction, state: Bidding, role: Role, rng: Random) -> MoveData:
    """Never bid."""
    return {"bid": None}


SCRIPTS = by_name(random, rational=stay_in(1.0), overbidder=stay_in(1.2), underbidder=stay_in(0.8), drop_out=drop_out)
