"""What a bidder in the sealed auction may know, part by part; `games.sessions` limits it to the visible runs.

Only this module hides the others' values.
"""

from __future__ import annotations

from games.auctions import own_facts, units
from games.interface import OBSERVER, Bar, Bars, Block, Cell, Fact, Facts, Role, Text
from games.sealed_auction.state import SealedAuctionCore as SealedAuction
from games.sessions import RunScreen, Session
from games.words import gettext as _
from games.words import rounded


def _status(game: SealedAuction, state: Session) -> Text:
    """Return one sentence on what happens now."""
    if game.over(state):
        return Text(
            "status", _("The auction is over.") if game.config.runs == 1 else _("The auctions are over."), "good"
        )
    unchanged = _("Your assets and your value are the same as before.") + " " if state.runs else ""
    prompt = _("Bid from 0 to {assets}.").format(assets=units(game.config.assets))
    return Text("status", game.runs_over_text(state) + unchanged + prompt)


def _situation(game: SealedAuction, state: Session, role: Role) -> Facts:
    """Return the run, the seat and what it has; for an observer, everybody's assets."""
    assets = Fact("assets", _("Everybody's assets"), game.config.assets, units(game.config.assets))
    return Facts(
        "situation",
        _("Where you stand"),
        (
            *([assets] if role == OBSERVER else own_facts(game.config, game.value(state, role))),
            game.run_fact(state),
            *([] if role == OBSERVER else [Fact("you", _("You are"), game.role_title(role), game.role_title(role))]),
            Fact("players", _("Bidders"), game.config.players, str(game.config.players)),
        ),
    )


def _outcome(game: SealedAuction, state: Session, index: int, role: Role) -> str:
    """Return how the run with this index ended for this seat, as text."""
    sale, own_bid = game.sale(state, index), game.own_numbers(state, role)[index]
    sentences = [_("Run {run}:").format(run=index + 1)] if game.config.runs > 1 else []
    if not game.valid(own_bid):
        sentences.append(_("You did not make a valid bid."))
    if sale.winner is None or sale.price is None:
        sentences.append(_("Nobody made a valid bid, so the item was not sold."))
    elif sale.winner == role:
        sentences.append(_("You won the item for {price}.").format(price=units(sale.price)))
    else:
        name = game.role_title(sale.winner)
        sentences.append(_("{name} won the item for {price}.").format(name=name, price=units(sale.price)))
    sentences.append(_("You ended with {assets}.").format(assets=units(sale.assets[role])))
    return " ".join(sentences)


def _last_run(game: SealedAuction, state: Session, index: int, role: Role) -> Facts:
    """Return everybody's bid in the run with this index, the price, and who won."""
    sale = game.sale(state, index)
    winners = () if sale.winner is None else (sale.winner,)
    return game.number_line(
        state,
        index,
        role,
        Fact("mark", _("Price"), sale.price, _("not sold") if sale.price is None else rounded(sale.price)),
        game.winners_fact(_("Winner"), winners, role),
    )


def _history(game: SealedAuction, state: Session, role: Role) -> Block:
    def cells(index: int) -> tuple[Cell, ...]:
        sale = game.sale(state, index)
        return (
            game.role_title(sale.winner) if sale.winner else _("nobody"),
            "-" if sale.price is None else rounded(sale.price),
            *(() if role == OBSERVER else (rounded(sale.assets[role]),)),
        )

    columns = (_("Winner"), _("Price"), *(() if role == OBSERVER else (_("You ended with"),)))
    return game.history(state, role, columns, cells)


def _values(game: SealedAuction, state: Session, role: Role) -> tuple[Block, ...]:
    """Return everybody's value, if the history reveals it."""
    if not game.reveals_values:
        return ()
    facts = (
        Fact(seat, game.seat_name(seat, role), value, units(value))
        for seat, value in zip(game.roles(), state.values, strict=True)
    )
    return (Facts("all_values", _("What the item is worth to each bidder"), tuple(facts)),)


def _result(game: SealedAuction, state: Session, role: Role) -> Facts:
    """Return how the game ended for this role."""
    payoff, runs = game.payoffs(state)[role], len(state.runs)
    if runs == 1:
        return Facts("result", _("The result"), (Fact("payoff", _("You ended with"), payoff, units(payoff)),))
    wins = sum(sale.winner == role for sale in game.sales(state))
    return Facts(
        "result",
        _("The result"),
        (
            Fact("wins", _("Auctions you won"), wins, _("{wins} of {runs}").format(wins=wins, runs=runs)),
            Fact("payoff", _("You ended with, on average"), payoff, units(payoff)),
        ),
    )


SCREEN = RunScreen(_status, _outcome, _result, _situation, _last_run, _history, _values)


def result_bars(game: SealedAuction, state: Session, role: Role) -> Bars:
    """Return all bids with the price that decided; after several auctions, how many each bidder won."""
    if len(state.runs) > 1:
        winners = [sale.winner for sale in game.sales(state)]
        counts = {seat: winners.count(seat) for seat in game.roles()}
        bars = (Bar(game.seat_name(seat, role), str(count), count, role=seat) for seat, count in counts.items())
        return Bars(_("Auctions won"), tuple(bars), high=len(winners))
    sale = game.sale(state, 0)
    return Bars(
        _("Who bid what"),
        tuple(_bid_bar(game, seat, bid, role) for seat, bid in zip(game.roles(), state.runs[0], strict=True)),
        line=sale.price,
        line_label="" if sale.price is None else _("Price: {price}").format(price=units(sale.price)),
        moves=((sale.winner, _("won the item")),) if sale.winner else (),
    )


def _bid_bar(game: SealedAuction, seat: Role, bid: float | None, role: Role) -> Bar:
    if bid is None or not game.valid(bid):
        return Bar(game.seat_name(seat, role), _("no valid bid"), None, role=seat)
    return Bar(game.seat_name(seat, role), units(bid), bid, role=seat)
