"""Scripted bidders of the English auction. Each knows its own value alone."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import TYPE_CHECKING

from games.interface import MoveData, Role, Script

if TYPE_CHECKING:
    from games.english_auction.rules import Bidding, EnglishAuction


def random(game: EnglishAuction, state: Bidding, role: Role, rng: Random) -> MoveData:
    """A coin toss between the lowest bid allowed and dropping out."""
    return {"bid": game.lowest(state) if rng.random() < 0.5 else None}


def stays(share: float) -> Script:
    """Makes the lowest bid allowed while that is at most this share of its value."""

    def move(game: EnglishAuction, state: Bidding, role: Role, rng: Random) -> MoveData:
        lowest = game.lowest(state)
        return {"bid": lowest if lowest is not None and lowest <= share * game.value(state, role) else None}

    return move


def drop_out(game: EnglishAuction, state: Bidding, role: Role, rng: Random) -> MoveData:
    """Never bids."""
    return {"bid": None}


SCRIPTS: Mapping[str, Script] = {
    "random": random,
    "rational": stays(1.0),
    "overbidder": stays(1.2),
    "underbidder": stays(0.8),
    "drop_out": drop_out,
}
