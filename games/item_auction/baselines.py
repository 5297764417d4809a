"""Scripts for the item auction. Each uses only what its seat may know; none writes notes."""

from __future__ import annotations

from random import Random

from games.interface import MoveData, Role
from games.item_auction.core import ItemAuctionCore as ItemAuction
from games.item_auction.state import Auction
from games.scripts import by_name

WITHDRAW: MoveData = {"bid": None}


def _lowest_up_to(game: ItemAuction, state: Auction, role: Role, limit: int) -> MoveData:
    """Return the lowest legal bid if it is within `limit` and the budget, otherwise a withdrawal."""
    lowest = game.lowest_bid(state)
    return {"bid": lowest} if lowest <= min(limit, game.budget_left(state, role)) else WITHDRAW


def random(game: ItemAuction, state: Auction, role: Role, rng: Random) -> MoveData:
    """Withdraw half of the time; otherwise make the lowest legal bid if possible."""
    if rng.random() < 0.5:
        return WITHDRAW
    return greedy(game, state, role, rng)


def rule(game: ItemAuction, state: Auction, role: Role, rng: Random) -> MoveData:
    """Make the lowest legal bid, at most `rule_limit` times per item (AucArena, section 4.1)."""
    assert state.lot is not None
    bids_made = sum(bidding_round.answers.get(role) is not None for bidding_round in state.lot.rounds)
    return WITHDRAW if bids_made >= game.config.rule_limit else greedy(game, state, role, rng)


def estimate(game: ItemAuction, state: Auction, role: Role, rng: Random) -> MoveData:
    """Make the lowest legal bid, up to the bidder's estimate of the item."""
    assert state.lot is not None
    return _lowest_up_to(game, state, role, game.estimate(state, role, state.lot.item))


def greedy(game: ItemAuction, state: Auction, role: Role, rng: Random) -> MoveData:
    """Make the lowest legal bid as long as the money lasts."""
    return _lowest_up_to(game, state, role, game.budget_left(state, role))


def withdraw(game: ItemAuction, state: Auction, role: Role, rng: Random) -> MoveData:
    """Never bid."""
    return WITHDRAW


SCRIPTS = by_name(random, rule, estimate, greedy, withdraw)
