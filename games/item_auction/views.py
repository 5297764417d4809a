"""What each bidder may know, as blocks. Only this module removes hidden information.

Budgets, estimates, objectives and plans are shown only to their owner; a true value is shown once its item
has been sold, and never for an unsold item.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from games.interface import OBSERVER, Bar, Bars, Block, Cell, Fact, Facts, Role, Table, Text, View
from games.item_auction.core import ItemAuctionCore as ItemAuction
from games.item_auction.state import Auction, Lot, Plans
from games.words import gettext as _


def view(game: ItemAuction, state: Auction, role: Role) -> View:
    """Return everything that `role` may know now."""
    blocks: list[Block] = [_status(game, state, role)]
    if state.lot is None:
        blocks.append(_result(game, state, role))
    else:
        blocks.append(current_item(game, state, state.lot, role))
    blocks.append(own_position(game, state, role))
    if state.lot is not None:
        blocks.append(_bids(game, state.lot, role))
    if state.over and not (state.lot and state.lot.all_rounds):
        blocks.append(sale(game, state, state.over[-1], role))
    blocks.append(_items(game, state, role))
    blocks.append(standings(game, state, role))
    if plan := _plan(game, state, role):
        blocks.append(plan)
    blocks.append(_earlier_bids(game, state))
    return tuple(blocks)


def public_view(game: ItemAuction, state: Auction) -> View:
    """Return what everybody may know now: no estimates, budgets or plans, and no true value before its item is sold."""
    blocks: list[Block] = []
    if state.lot is None:
        blocks.append(Text("status", _("The auction is over."), tone="good"))
    else:
        blocks += [current_item(game, state, state.lot, OBSERVER), _bids(game, state.lot, OBSERVER)]
    if state.over:
        blocks.append(sale(game, state, state.over[-1], OBSERVER))
    return (*blocks, _items(game, state, OBSERVER), standings(game, state, OBSERVER), _earlier_bids(game, state))


def notices(game: ItemAuction, before: Auction, moves: Mapping[Role, Any], after: Auction, role: Role) -> View:
    """Return what `role` has just learnt: bids, a sale, the next item or the end. Others' notes are private."""
    if before.plans != after.plans or before.beliefs != after.beliefs or before.lot is None:
        return ()
    blocks: list[Block] = []
    if after.lot is not None and len(after.over) == len(before.over):
        if after.lot.discounts > before.lot.discounts:
            blocks.append(Text("discount", _discounted(game, after.lot), tone="notice"))
        else:
            blocks.append(_bids(game, after.lot, role))
        blocks.append(current_item(game, after, after.lot, role))
        return tuple(blocks)
    last = after.over[-1]
    blocks += [_bids(game, last, role), sale(game, after, last, role), own_position(game, after, role)]
    blocks.append(_result(game, after, role) if after.lot is None else current_item(game, after, after.lot, role))
    return tuple(blocks)


def _discounted(game: ItemAuction, lot: Lot) -> str:
    return _("Nobody bid. The start price is halved to {price}, and everybody is back in.").format(
        price=game.money(lot.start_price)
    )


def _bidder_name(game: ItemAuction, bidder: Role | None, role: Role) -> str:
    """Return a bidder's name as shown to `role`."""
    if bidder is None:
        return _("nobody")
    return _("you") if bidder == role else game.role_title(bidder)


def _status(game: ItemAuction, state: Auction, role: Role) -> Text:
    """Return one sentence on what happens now."""
    lot = state.lot
    if lot is None:
        return Text("status", _("The auction is over."), tone="good")
    name = game.item(lot.item).name
    if lot.leader == role:
        return Text("status", _("You are leading for {item}. The others are answering.").format(item=name), tone="good")
    if role in lot.withdrawn():
        return Text("status", _("You have withdrawn from {item}. The next item will follow.").format(item=name))
    lowest, budget_left = game.lowest_bid(state), game.budget_left(state, role)
    if lowest > budget_left:
        template = _("The lowest bid for {item} is {lowest}, and you have {left} left: you can only withdraw.")
        return Text(
            "status", template.format(item=name, lowest=game.money(lowest), left=game.money(budget_left)), tone="notice"
        )
    template = _("Bid at least {lowest} for {item}, or withdraw.")
    return Text("status", template.format(item=name, lowest=game.money(lowest)))


def current_item(game: ItemAuction, state: Auction, lot: Lot, role: Role) -> Facts:
    """Return the current item; without an estimate for an observer."""
    item = game.item(lot.item)
    standing = _("none yet") if lot.standing is None else game.money(lot.standing)
    facts = [
        Fact("item", _("Item"), item.name, item.name),
        Fact(
            "place",
            _("Number"),
            len(state.over) + 1,
            _("{place} of {items}").format(place=len(state.over) + 1, items=len(state.order)),
        ),
        Fact("round", _("Bidding round"), len(lot.all_rounds) + 1, str(len(lot.all_rounds) + 1)),
        Fact("start_price", _("Start price"), lot.start_price, game.money(lot.start_price)),
        Fact("standing", _("Highest bid"), lot.standing, standing),
        Fact("leader", _("Leader"), lot.leader, _bidder_name(game, lot.leader, role)),
        Fact("lowest", _("Lowest bid now"), game.lowest_bid(state), game.money(game.lowest_bid(state))),
    ]
    if role != OBSERVER:
        estimate = game.estimate(state, role, lot.item)
        facts.insert(3, Fact("estimate", _("Your estimate (may be wrong)"), estimate, game.money(estimate)))
    if item.description:
        facts.insert(1, Fact("description", _("Description"), item.description, _(item.description)))
    return Facts("lot", _("Now on sale: {item}").format(item=item.name), tuple(facts))


def names_left(game: ItemAuction, state: Auction) -> Facts:
    """Return the names of the items that are left."""
    names = [game.item(index).name for index in state.order[len(state.over) :]]
    return Facts("left", "", (Fact("left", _("Items left"), len(names), ", ".join(names)),))


def own_position(game: ItemAuction, state: Auction, role: Role, *, title: str = "") -> Facts:
    """Return what the bidder has: money, profit and items."""
    budget_left, profit, won = game.budget_left(state, role), game.profit(state, role), state.won_by(role)
    names = ", ".join(game.item(lot.item).name for lot in won)
    bought = _("{number}: {names}").format(number=len(won), names=names) if won else "0"
    return Facts(
        "own",
        title or _("Your position"),
        (
            Fact("seat", _("You are"), role, game.role_title(role)),
            Fact("budget_left", _("Money left"), budget_left, game.money(budget_left)),
            Fact("profit", _("Your profit"), profit, game.money(profit)),
            Fact("items", _("Items bought"), len(won), bought),
        ),
    )


def _bids(game: ItemAuction, lot: Lot, role: Role) -> Table:
    """Return the bidding rounds on one item."""
    rows = tuple(
        (number, *(_answer(game, bidding_round.answers, bidder) for bidder in game.roles()))
        for number, bidding_round in enumerate(lot.rounds, start=1)
    )
    return Table("bids", _("Bids for {item}").format(item=game.item(lot.item).name), (_("Round"), *_titles(game)), rows)


def rounds(game: ItemAuction, lot: Lot, role: Role) -> Table:
    """Return all bidding rounds on one item, including those before a discount."""
    return _bids(game, replace(lot, rounds=lot.all_rounds), role)


def items_left(game: ItemAuction, state: Auction, role: Role) -> Table:
    """Return the remaining items in the order of sale, for planning."""
    indices = state.order[len(state.over) :]
    described = not game.told_as_published
    rows = tuple(
        (
            game.item(index).name,
            *([_(game.item(index).description)] if described else []),
            game.money(game.item(index).start_price),
            game.money(game.estimate(state, role, index)),
        )
        for index in indices
    )
    description = [_("Description")] if described else []
    columns = (_("Item"), *description, _("Start price"), _("Your estimate (may be wrong)"))
    return Table("items_left", _("Items to come, in the order of sale"), columns, rows)


def _titles(game: ItemAuction) -> tuple[str, ...]:
    return tuple(game.role_title(bidder) for bidder in game.roles())


def _answer(game: ItemAuction, answers: Mapping[Role, int | None], bidder: Role) -> Cell:
    """Return what a bidder did in a round."""
    if bidder not in answers:
        return ""
    bid = answers[bidder]
    return _("withdrew") if bid is None else game.money(bid)


def sale(game: ItemAuction, state: Auction, lot: Lot, role: Role, *, gain: bool = True) -> Facts:
    """Return how the bidding for an item ended; with the true value only if it was sold.

    Args:
        gain: include what the buyer earned, if it is this bidder.
    """
    item = game.item(lot.item)
    title = _("Last item: {item}").format(item=item.name)
    if lot.leader is None or lot.standing is None:
        return Facts("sale", title, (Fact("winner", _("Winner"), None, _("nobody: it was not sold")),))
    worth = game.worth(state, lot.item)
    facts = [
        Fact("winner", _("Winner"), lot.leader, _bidder_name(game, lot.leader, role)),
        Fact("price", _("Price"), lot.standing, game.money(lot.standing)),
        Fact("true_value", _("True value"), worth, game.money(worth)),
    ]
    if gain and lot.leader == role:
        earned = worth - lot.standing
        facts.append(Fact("gain", _("Your profit on it"), earned, game.money(earned)))
    return Facts("sale", title, tuple(facts))


def _items(game: ItemAuction, state: Auction, role: Role) -> Table:
    """Return all items in the order of sale: sold, now on sale, or still to come."""
    over = {lot.item: lot for lot in state.over}

    def outcome(index: int) -> tuple[Cell, Cell, Cell]:
        lot = over.get(index)
        if lot is None:
            return (_("now") if state.lot is not None and state.lot.item == index else _("to come")), "", ""
        if lot.leader is None or lot.standing is None:
            return _("unsold"), "", ""
        return _bidder_name(game, lot.leader, role), game.money(lot.standing), game.money(game.worth(state, index))

    rows = []
    for number, index in enumerate(state.order, start=1):
        item = game.item(index)
        estimate = () if role == OBSERVER else (game.money(game.estimate(state, role, index)),)
        rows.append((number, item.name, _(item.description), game.money(item.start_price), *estimate, *outcome(index)))
    columns = (
        _("Number"),
        _("Item"),
        _("Description"),
        _("Start price"),
        *(() if role == OBSERVER else (_("Your estimate"),)),
        _("Bought by"),
        _("Price"),
        _("True value"),
    )
    return Table("items", _("All items"), columns, tuple(rows))


def standings(game: ItemAuction, state: Auction, role: Role, *, title: str = "") -> Table:
    """Return everybody's items and profit, which are public."""
    rows = tuple(
        (
            game.seat_name(bidder, role),
            ", ".join(game.item(lot.item).name for lot in state.won_by(bidder)) or _("none"),
            game.money(game.profit(state, bidder)),
        )
        for bidder in game.roles()
    )
    return Table("standings", title or _("Bidders so far"), (_("Bidder"), _("Items"), _("Profit")), rows)


def _plan(game: ItemAuction, state: Auction, role: Role) -> Facts | None:
    """Return the bidder's own priorities of the remaining items; None if the configuration does not ask for them."""
    current = state.plans.get(role, Plans()).current
    if not current and not game.on_pages():
        return None
    names = [game.item(index).name for index in state.order[len(state.over) :]]
    facts = tuple(Fact(name, name, current.get(name), str(current.get(name, _("none")))) for name in names)
    return Facts("plan", _("Your priorities (3 is most important)"), facts) if facts else None


def _earlier_bids(game: ItemAuction, state: Auction) -> Table:
    """Return every round on earlier items."""
    rows = tuple(
        (game.item(lot.item).name, number, *(_answer(game, bidding_round.answers, bidder) for bidder in game.roles()))
        for lot in state.over
        for number, bidding_round in enumerate(lot.all_rounds, start=1)
    )
    return Table("earlier_bids", _("Bids for earlier items"), (_("Item"), _("Round"), *_titles(game)), rows)


def _result(game: ItemAuction, state: Auction, role: Role) -> Facts:
    """Return how the auction ended for this bidder."""
    profit, won = game.profit(state, role), len(state.won_by(role))
    sentence = (
        _("Your result is your profit.")
        if game.objective(role) == "profit"
        else _("Your result is the number of items you bought.")
    )
    return Facts(
        "result",
        _("The result"),
        (
            Fact("items_won", _("Items you bought"), won, str(won)),
            Fact("payoff", _("Your total profit"), profit, game.money(profit)),
            Fact("counts", _("What counts"), game.objective(role), sentence),
        ),
    )


def result_bars(game: ItemAuction, state: Auction, role: Role) -> Bars:
    """Return every bidder's profit, or number of items if that is what counts for the role."""
    if role != OBSERVER and game.objective(role) == "items":
        title, results = _("Who bought how many items"), {seat: len(state.won_by(seat)) for seat in game.roles()}
        shown = {seat: str(count) for seat, count in results.items()}
    else:
        title, results = _("Who made which profit"), {seat: game.profit(state, seat) for seat in game.roles()}
        shown = {seat: game.money(profit) for seat, profit in results.items()}
    bars = (Bar(game.seat_name(seat, role), shown[seat], results[seat], role=seat) for seat in game.roles())
    return Bars(title, tuple(bars))
