"""What a bidder in the English auction may know, as blocks: everything except the others' values."""

from __future__ import annotations

from games.auctions import own_facts, units
from games.english_auction.state import Bidding, Call
from games.english_auction.state import EnglishAuctionCore as EnglishAuction
from games.interface import OBSERVER, Bar, Bars, Block, Cell, Fact, Facts, Role, Table, Text, View
from games.words import exact
from games.words import gettext as _


def view(game: EnglishAuction, state: Bidding, role: Role) -> View:
    """Return everything that `role` may know now."""
    blocks: list[Block] = [_status(game, state, role)]
    if game.next(state) is None:
        blocks.append(_result(game, state, role))
    return (*blocks, _situation(game, state, role), _bids(game, state, role))


def public_view(game: EnglishAuction, state: Bidding) -> View:
    """Return what everybody may know now: the bids, but no values."""
    return _status(game, state, OBSERVER), _situation(game, state, OBSERVER), _bids(game, state, OBSERVER)


def notices(game: EnglishAuction, after: Bidding, role: Role) -> View:
    """Return what `role` has just learnt: the last call, and the result."""
    blocks: list[Block] = [Text("call", _action_sentence(game, after.calls[-1], role))]
    if game.next(after) is None:
        blocks.append(_result(game, after, role))
    return tuple(blocks)


def _status(game: EnglishAuction, state: Bidding, role: Role) -> Text:
    """Return what just happened and what happens now."""
    mover = game.next(state)
    sentences = [_action_sentence(game, state.calls[-1], role)] if state.calls else []
    if mover is None:
        sentences.append(_("The auction is over."))
    elif mover == role:
        sentences.append(_("It is your turn: bid or drop out."))
    else:
        sentences.append(_("It is {name}'s turn.").format(name=game.role_title(mover)))
        if role in state.dropped:
            sentences.append(_("You have dropped out."))
    return Text("status", " ".join(sentences), tone="plain" if mover else "good")


def _action_sentence(game: EnglishAuction, call: Call, role: Role) -> str:
    """Return what a seat did in its turn, as a sentence."""
    if call.role == role:
        if call.bid is None:
            return _("You dropped out.")
        return _("You bid {amount}.").format(amount=units(call.bid))
    name = game.role_title(call.role)
    if call.bid is None:
        return _("{name} dropped out.").format(name=name)
    return _("{name} bid {amount}.").format(name=name, amount=units(call.bid))


def _situation(game: EnglishAuction, state: Bidding, role: Role) -> Facts:
    """Return the standing bid, the minimum bid, and what the seat has; for an observer, everybody's assets."""
    leader, price, lowest = state.leader, state.price, game.lowest(state)
    leader_name = _("nobody") if leader is None else game.seat_name(leader, role)
    remaining = [game.role_title(seat) for seat in game.roles() if seat not in state.dropped]
    assets = Fact("assets", _("Everybody's assets"), game.config.assets, units(game.config.assets))
    facts = [
        Fact("standing", _("Standing bid"), price, _("none yet") if price is None else units(price)),
        Fact("leader", _("Made by"), leader, leader_name),
        *([assets] if role == OBSERVER else own_facts(game.config, game.value(state, role))),
    ]
    if game.next(state) is not None:
        lowest_text = _("none: it would exceed your assets") if lowest is None else units(lowest)
        facts.append(Fact("lowest", _("Minimum bid"), lowest, lowest_text))
    if role != OBSERVER:
        facts.append(Fact("you", _("You are"), game.seat_name(role, role), game.role_title(role)))
    facts.append(Fact("left", _("Still in"), len(remaining), ", ".join(remaining) or _("nobody")))
    return Facts("situation", _("Where you stand"), tuple(facts))


def _bids(game: EnglishAuction, state: Bidding, role: Role) -> Table:
    """Return all calls so far, each with the standing bid after it."""

    def row(number: int, call: Call) -> tuple[Cell, ...]:
        dropped = call.bid is None
        standing = call.standing if dropped else call.bid
        action = _("dropped out") if dropped else _("bid")
        return (number, game.seat_name(call.role, role), action, None if standing is None else exact(standing))

    rows = tuple(row(number, call) for number, call in enumerate(state.calls, start=1))
    columns = (_("Turn"), _("Bidder"), _("Action"), _("Standing bid"))
    return Table("bids", _("Bids so far"), columns, rows, newest_first=True)


def _result(game: EnglishAuction, state: Bidding, role: Role) -> Facts:
    """Return how the game ended for this role."""
    payoff = game.payoffs(state)[role]
    if state.leader is None or state.price is None:
        buyer = _("nobody: there was no bid")
    else:
        buyer = _("{name} for {price}").format(name=game.seat_name(state.leader, role), price=units(state.price))
    return Facts(
        "result",
        _("The result"),
        (
            Fact("sold", _("The item went to"), state.leader, buyer),
            Fact("payoff", _("You ended with"), payoff, units(payoff)),
        ),
    )


def result_bars(game: EnglishAuction, state: Bidding, role: Role) -> Bars:
    """Return how high each bidder went."""
    highest: dict[Role, float] = {}
    for call in state.calls:
        if call.bid is not None:
            highest[call.role] = max(call.bid, highest.get(call.role, call.bid))
    bars = (
        Bar(
            game.seat_name(seat, role),
            units(highest[seat]) if seat in highest else _("no bid"),
            highest.get(seat),
            role=seat,
        )
        for seat in game.roles()
    )
    if state.leader is None or state.price is None:
        return Bars(_("How high each bidder went"), tuple(bars))
    bought = _("got the item for {price}").format(price=units(state.price))
    return Bars(_("How high each bidder went"), tuple(bars), moves=((state.leader, bought),))
