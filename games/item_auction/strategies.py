"""How models bid: each call is independent and shows what AucArena's bidders see for it (appendix A).

A bidder plans on its first turn; on its first turn for each later item it reports its beliefs about the auction
and plans again. `static` plans only once, `none` never plans.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from games.interface import Role, View
from games.item_auction import views
from games.item_auction.core import ItemAuctionCore as ItemAuction
from games.item_auction.state import Auction, Beliefs, Plans
from games.strategies import Question, Strategy

HINTS = (
    "Start at the start price or a little above it, and raise your bid step by step. Weigh the pros and cons of this "
    "item, and the money that you will need for later items."
)


# ---- when a call is due --------------------------------------------------------------------------


def _first_turn(game: ItemAuction, state: Auction, role: Role) -> bool:
    return game.config.notes and role not in state.plans and not state.has_answered(role)


def _next_item(game: ItemAuction, state: Auction, role: Role) -> bool:
    """Return whether this is the bidder's first turn on an item other than the first one."""
    return bool(game.config.notes and state.over and state.lot is not None and not state.lot.has_acted(role))


def _belief_due(game: ItemAuction, state: Auction, role: Role) -> bool:
    return _next_item(game, state, role) and state.beliefs.get(role, Beliefs()).after < len(state.over)


def _replan_due(game: ItemAuction, state: Auction, role: Role) -> bool:
    return _next_item(game, state, role) and state.plans.get(role, Plans()).after < len(state.over)


def _same_item(game: ItemAuction, earlier: Auction, now: Auction, role: Role) -> bool:
    return earlier.lot is not None and now.lot is not None and earlier.lot.item == now.lot.item


# ---- questions ---------------------------------------------------------------------------------


def _plan_words(game: ItemAuction, state: Auction, role: Role) -> str:
    return (
        "The auction begins. Plan ahead: how important is each item to you, given your budget, its start price "
        "and your estimate?"
    )


def _replan_words(game: ItemAuction, state: Auction, role: Role) -> str:
    return (
        "An item has been closed. Look at what you have left and at how the others are doing. Plan again: how "
        "important is each remaining item?"
    )


def _belief_words(game: ItemAuction, state: Auction, role: Role) -> str:
    roles = ", ".join(f'"{seat}" is {game.seat_name(seat, role)}' for seat in game.roles())
    return (
        "An item has been closed. Update your record of the auction: how much money you have left, and each "
        f"bidder's total profit and items bought with their prices. The bidders' keys: {roles}."
    )


def _published_status(game: ItemAuction, state: Auction, item: str) -> str:
    """Return the item's start price or, after a first bid, who leads and the least raise."""
    lot = state.lot
    assert lot is not None
    if lot.leader is None or lot.standing is None:
        return f"{item} is for sale. Its start price is {game.money(lot.start_price)}."
    leader, standing = game.role_title(lot.leader), game.money(lot.standing)
    least = game.money(game.lowest_bid(state) - lot.standing)
    return f"{leader} leads for {item} with {standing}. A bid must raise this by at least {least}."


def _bid_words(game: ItemAuction, state: Auction, role: Role) -> str:
    """Return the current bidding, so that earlier questions contain it too, and the paper's two hints."""
    lot = state.lot
    assert lot is not None
    item, number, lowest = game.item(lot.item).name, len(lot.all_rounds) + 1, game.money(game.lowest_bid(state))
    if game.told_as_published:
        return f"{_published_status(game, state, item)} {HINTS}"
    if lot.leader is None or lot.standing is None:
        status = f"Bidding round {number} on {item}: nobody has bid. The lowest bid is {lowest}."
    else:
        leader, standing = game.role_title(lot.leader), game.money(lot.standing)
        status = f"Bidding round {number} on {item}: {leader} leads with {standing}. The lowest bid is {lowest}."
    return f"{status} {HINTS}"


# ---- what is shown -------------------------------------------------------------------------------


def _belief_problem(game: ItemAuction, state: Auction, role: Role, move: Any) -> str:
    """Return what is wrong with a belief report, as published; empty if it is true (AucArena, appendix A)."""
    return game.belief_problem(state, role, move) if game.told_as_published else ""


def _money_and_items(game: ItemAuction, state: Auction, role: Role) -> View:
    return views.own_position(game, state, role), views.items_left(game, state, role)


def _status_and_items(game: ItemAuction, state: Auction, role: Role) -> View:
    """Return the true status and the remaining items; as published, the bidder's own report replaces the status."""
    if game.told_as_published:
        return (views.items_left(game, state, role),)
    return (
        views.own_position(game, state, role),
        views.standings(game, state, role),
        views.items_left(game, state, role),
    )


def _last_item(game: ItemAuction, state: Auction, role: Role) -> View:
    """Return the status before the last item, and how that item's sale went."""
    if game.told_as_published:
        return (views.rounds(game, state.over[-1], role), views.sale(game, state, state.over[-1], role, gain=False))
    earlier, last_lot = replace(state, over=state.over[:-1]), state.over[-1]
    return (
        views.own_position(game, earlier, role, title="Your position before the last item"),
        views.standings(game, earlier, role, title="Bidders before the last item"),
        views.rounds(game, last_lot, role),
        views.sale(game, state, last_lot, role, gain=False),
    )


def _this_item(game: ItemAuction, state: Auction, role: Role) -> View:
    assert state.lot is not None
    if game.told_as_published:
        return (views.names_left(game, state), views.rounds(game, state.lot, role))
    return (
        views.current_item(game, state, state.lot, role),
        views.own_position(game, state, role),
        views.rounds(game, state.lot, role),
    )


PLAN = Question("plan", form="plan", when=_first_turn, words=_plan_words, view=_money_and_items)
REPLAN = Question(
    "replan",
    form="plan",
    when=_replan_due,
    words=_replan_words,
    view=_status_and_items,
    recalls=("plan", "replan"),
    reports=("belief",),
)
BELIEF = Question(
    "belief", form="belief", when=_belief_due, words=_belief_words, view=_last_item, check=_belief_problem
)
BID = Question(words=_bid_words, view=_this_item, recalls=("plan", "replan"), keeps=_same_item)
REPORTED_BID = replace(BID, reports=("belief",))
"""Without plans after every item, a bidder is shown its own report with each question on an item."""

_ALL = Strategy(
    "AucArena, adaptive: plans, bids, reports its beliefs, and plans again after every item.",
    layout="fresh",
    reasons=True,
    modules=(PLAN, BELIEF, REPLAN),
    move=BID,
)
STRATEGIES: Mapping[str, Strategy] = {
    "plan_bid_believe": replace(_ALL, title="Plans, bids, reports beliefs, plans again; all but bids are optional."),
    "adaptive": _ALL,
    "static": Strategy(
        "AucArena, static: plans once, bids, and reports its beliefs.",
        layout="fresh",
        reasons=True,
        modules=(PLAN, BELIEF),
        move=REPORTED_BID,
    ),
    "none": Strategy(
        "AucArena, without plans: bids and reports its beliefs.",
        layout="fresh",
        reasons=True,
        modules=(BELIEF,),
        move=REPORTED_BID,
    ),
}
