"""Scripted bidders. Each uses only what its seat may know; none makes notes."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import TYPE_CHECKING

from games.interface import MoveData, Role, Script

if TYPE_CHECKING:
    from games.item_auction.rules import ItemAuction
    from games.item_auction.state import Auction

WITHDRAW: MoveData = {"bid": None}


def _lowest_up_to(game: ItemAuction, state: Auction, role: Role, limit: int) -> MoveData:
    """The lowest legal bid where it is within `limit` and the budget, else a withdrawal."""
    lowest = game.lowest_bid(state)
    return {"bid": lowest} if lowest <= min(limit, game.budget_left(state, role)) else WITHDRAW


def random(game: ItemAuction, state: Auction, role: Role, rng: Random) -> MoveData:
    """Withdraws half of the time, else bids the lowest legal amount if it can."""
    if rng.random() < 0.5:
        return WITHDRAW
    return greedy(game, state, role, rng)


def rule(game: ItemAuction, state: Auction, role: Role, rng: Random) -> MoveData:
    """The lowest legal bid, at most `rule_limit` times an item (AucArena, section 4.1)."""
    assert state.lot is not None
    made = sum(played.answers.get(role) is not None for played in state.lot.rounds)
    return WITHDRAW if made >= game.config.rule_limit else greedy(game, state, role, rng)


def estimate(game: ItemAuction, state: Auction, role: Role, rng: Random) -> MoveData:
    """The lowest legal bid up to what it believes the item is worth."""
    assert state.lot is not None
    return _lowest_up_to(game, state, role, game.estimate(role, state.lot.item))


def greedy(game: ItemAuction, state: Auction, role: Role, rng: Random) -> MoveData:
    """The lowest legal bid as long as the money lasts."""
    return _lowest_up_to(game, state, role, game.budget_left(state, role))


def withdraw(game: ItemAuction, state: Auction, role: Role, rng: Random) -> MoveData:
    """Never bids."""
    return WITHDRAW


SCRIPTS: Mapping[str, Script] = {
    "random": random,
    "rule": rule,
    "estimate": estimate,
    "greedy": greedy,
    "withdraw": withdraw,
}
