"""What a bidder may know, as blocks. Others' values and the depth of the history are kept here and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from games.auctions import own_facts, units
from games.interface import NOBODY, Block, Cell, Fact, Facts, Role, Text, View
from games.sessions import Session
from games.words import exact, rounded
from games.words import gettext as _

if TYPE_CHECKING:
    from games.sealed_auction.rules import SealedAuction


def view(game: SealedAuction, state: Session, role: Role) -> View:
    """Everything that `role` may know now."""
    blocks: list[Block] = [_status(game, state)]
    visible = game.visible(state)
    if visible:
        blocks.append(Text("outcome", _outcome(game, state, visible[-1], role)))
    if game.over(state):
        blocks.append(_result(game, state, role))
    blocks.append(_situation(game, state, role))
    if visible:
        blocks.append(_last_run(game, state, visible[-1], role))
    blocks.append(_history(game, state, role))
    if visible and game.reveals_values:
        blocks.append(_values(game, state, role))
    return tuple(blocks)


def watched(game: SealedAuction, state: Session) -> View:
    """What everybody may know now: the runs that each seat may see, and values where they are revealed."""
    blocks: list[Block] = [_situation(game, state, NOBODY)]
    if game.over(state):
        blocks.insert(0, _status(game, state))
    visible = game.visible(state)
    if visible:
        blocks.append(_last_run(game, state, visible[-1], NOBODY))
    blocks.append(_history(game, state, NOBODY))
    if visible and game.reveals_values:
        blocks.append(_values(game, state, NOBODY))
    return tuple(blocks)


def notices(game: SealedAuction, after: Session, role: Role) -> View:
    """What `role` has learnt from the run that is over: no more than the history may show."""
    if not game.visible(after):
        return (_status(game, after),)
    told: list[Block] = [Text("outcome", _outcome(game, after, len(after.runs) - 1, role))]
    if game.reveals_values:
        told.append(_values(game, after, role))
    if game.over(after):
        told.append(_result(game, after, role))
    return tuple(told)


def _status(game: SealedAuction, state: Session) -> Text:
    """One sentence on what is to be done now."""
    if game.over(state):
        return Text(
            "status", _("The auction is over.") if game.config.runs == 1 else _("The auctions are over."), "good"
        )
    stay = _("Assets and value stay the same.") + " " if state.runs else ""
    asked = _("Bid from 0 to {assets}.").format(assets=units(game.config.assets))
    return Text("status", game.held(state) + stay + asked)


def _situation(game: SealedAuction, state: Session, role: Role) -> Facts:
    """The run, the seat and what it has; who only watches reads of everybody's assets."""
    assets = Fact("assets", _("Everybody's assets"), game.config.assets, units(game.config.assets))
    return Facts(
        "situation",
        _("Where you stand"),
        (
            *([assets] if role == NOBODY else own_facts(game.config, game.value(state, role))),
            game.run_fact(state),
            *([] if role == NOBODY else [Fact("you", _("You are"), game.role_title(role), game.role_title(role))]),
            Fact("players", _("Bidders"), game.config.players, str(game.config.players)),
        ),
    )


def _outcome(game: SealedAuction, state: Session, at: int, role: Role) -> str:
    """How run `at` ended for this seat, in words."""
    sale, own = game.sale(state, at), game.own(state, role)[at]
    said = [_("Run {run}:").format(run=at + 1)] if game.config.runs > 1 else []
    if not game.valid(own):
        said.append(_("You made no valid bid."))
    if sale.winner is None or sale.price is None:
        said.append(_("Nobody made a valid bid, and the item was not sold."))
    elif sale.winner == role:
        said.append(_("You won the item for {price}.").format(price=units(sale.price)))
    else:
        name = game.role_title(sale.winner)
        said.append(_("{name} won the item for {price}.").format(name=name, price=units(sale.price)))
    said.append(_("You ended with {assets}.").format(assets=units(sale.assets[role])))
    return " ".join(said)


def _last_run(game: SealedAuction, state: Session, at: int, role: Role) -> Facts:
    """Everybody's bid in run `at`, the price, and who won."""
    sale = game.sale(state, at)
    winners = () if sale.winner is None else (sale.winner,)
    return game.on_a_line(
        state,
        at,
        role,
        Fact("mark", _("Price"), sale.price, _("not sold") if sale.price is None else rounded(sale.price)),
        game.winners_fact(_("Winner"), winners, role),
    )


def _history(game: SealedAuction, state: Session, role: Role) -> Block:
    def cells(at: int) -> tuple[Cell, ...]:
        sale = game.sale(state, at)
        return (
            game.role_title(sale.winner) if sale.winner else _("nobody"),
            "-" if sale.price is None else exact(sale.price),
            *(() if role == NOBODY else (exact(sale.assets[role]),)),
        )

    columns = (_("Winner"), _("Price"), *(() if role == NOBODY else (_("You ended with"),)))
    return game.history(state, role, columns, cells)


def _values(game: SealedAuction, state: Session, role: Role) -> Facts:
    """Everybody's value, once a run is shown."""
    facts = (
        Fact(seat, game.seat_name(seat, role), value, units(value))
        for seat, value in zip(game.roles(), state.values, strict=True)
    )
    return Facts("all_values", _("What the item is worth to each"), tuple(facts))


def _result(game: SealedAuction, state: Session, role: Role) -> Facts:
    """How it ended, for this role."""
    payoff, runs = game.payoffs(state)[role], len(state.runs)
    if runs == 1:
        return Facts("result", _("The result"), (Fact("payoff", _("You ended with"), payoff, units(payoff)),))
    wins = sum(sale.winner == role for sale in game.sales(state))
    return Facts(
        "result",
        _("The result"),
        (
            Fact("wins", _("Items that you won"), wins, _("{wins} of {runs}").format(wins=wins, runs=runs)),
            Fact("payoff", _("You ended with, on average"), payoff, units(payoff)),
        ),
    )
