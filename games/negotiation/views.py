"""What each player of a negotiation may know, as blocks. Only this module removes hidden information."""

from __future__ import annotations

from dataclasses import dataclass

from games.glee import OfferScreen, other
from games.interface import Bar, Bars, Cell, Fact, Facts, Role, Said, Text
from games.negotiation.amounts import earnings
from games.negotiation.roles import SELLER, gain
from games.negotiation.state import NegotiationCore as Negotiation
from games.negotiation.state import Proposal, Rounds
from games.words import gettext as _
from games.words import gettext_noop

MAX_MARKS = 8
"""Earlier prices shown on the ladder; the table has all of them."""
LADDER_TOP, MAX_LADDER_TOP = 1.6, 8.0
"""The ladder ends at the first multiple of the largest known value, or at the highest price up to the second."""


def _terms(game: Negotiation, proposal: Proposal, role: Role) -> str:
    return _("It was {price}.").format(price=game.money(proposal.price))


def _answer_notice(game: Negotiation, proposal: Proposal, mover: Role) -> str:
    sentences = {
        "accept": _("{name} accepted your price."),
        "reject": _("{name} rejected your price."),
        "walk_away": _("{name} walked away."),
    }
    return sentences[proposal.answer or "reject"].format(name=game.role_title(mover))


def _status(game: Negotiation, state: Rounds, role: Role) -> Text:
    """Return one sentence on what happens now."""
    name = game.role_title(other(role))
    turn = game.turn(state)
    if turn is None:
        if state.accepted:
            words = _("You have sold the product.") if role == SELLER else _("You have bought the product.")
            return Text("status", words, tone="good")
        return Text("status", _("The game ended without a trade."), tone="notice")
    if role not in turn.forms:
        waiting = _("{name} is thinking about your price.") if state.on_table else _("{name} is choosing a price.")
        return Text("status", waiting.format(name=name))
    if state.on_table:
        words = _("{name} asks for {price}.") if role != SELLER else _("{name} offers you {price}.")
        price = game.money(state.on_table.price)
        return Text("status", (words + " " + _("What is your answer?")).format(name=name, price=price))
    if game.ends_with(game.round_of(state)):
        return Text("status", _("Name your price. This is the last one of the game."))
    return Text(
        "status", _("It is your turn to name a price.") if state.proposals else _("You go first: name a price.")
    )


def _situation(game: Negotiation, state: Rounds, role: Role) -> Facts:
    """Return the round and what the product is worth."""
    number, name = game.round_of(state), game.role_title(other(role))
    own_value, other_value = game.value(role), game.value_of_other(role)
    return Facts(
        "situation",
        _("Where you stand"),
        (
            game.round_fact(number),
            Fact("your_value", _("Worth to you"), own_value, game.money(own_value)),
            Fact(
                "other_value",
                _("Worth to {name}").format(name=name),
                other_value,
                game.money(other_value) if other_value is not None else _("unknown to you"),
            ),
        ),
    )


def _offer(game: Negotiation, proposal: Proposal, number: int, role: Role) -> Facts:
    """Return a price and what each answer leads to, as shown to the player who answers."""
    name = game.role_title(proposal.by)
    is_last = game.ends_with(number)
    own_gain, other_value = gain(role, proposal.price, game.value(role)), game.value_of_other(role)
    facts = [
        Fact("price", _("Price"), proposal.price, game.money(proposal.price)),
        Fact("your_gain", _("If you accept"), own_gain, earnings(own_gain, game.amounts)),
    ]
    if other_value is not None:
        other_gain = gain(proposal.by, proposal.price, other_value)
        facts.append(Fact("other_gain", _("{name} would earn").format(name=name), other_gain, game.money(other_gain)))
    rejecting = _("the game ends without a trade") if is_last else _("you name the next price")
    facts.append(Fact("last", _("If you reject"), is_last, rejecting))
    if game.config.outside_option:
        facts.append(Fact("leaving", _("If you walk away"), 0, _("you earn nothing")))
    if proposal.message:
        facts.append(Fact("message", _("{name} writes").format(name=name), Said(name, proposal.message), ""))
    return Facts("offer", _("{name}'s price in round {number}").format(name=name, number=number), tuple(facts))


def _result(game: Negotiation, state: Rounds, role: Role) -> Facts:
    """Return how the game ended and what the role earned."""
    traded, number = state.accepted, len(state.proposals)
    payoff = game.payoffs(state)[role]
    payoff_fact = Fact("payoff", _("You lost") if payoff < 0 else _("You earned"), payoff, game.money(abs(payoff)))
    if traded is None:
        return Facts(
            "result",
            _("The result"),
            (Fact("trade", _("Trade"), False, _failure_reason(game, state, role)), payoff_fact),
        )
    return Facts(
        "result",
        _("The result"),
        (
            Fact("trade", _("Trade"), True, _("in round {number}").format(number=number)),
            Fact("price", _("Price"), traded.price, game.money(traded.price)),
            payoff_fact,
        ),
    )


def _failure_reason(game: Negotiation, state: Rounds, role: Role) -> str:
    if state.walked_away_at is None:
        return _("none: the last price was rejected")
    if state.walked_away_at.by != role:
        return _("none: you walked away")
    return _("none: {name} walked away").format(name=game.role_title(other(role)))


@dataclass(frozen=True)
class _Mark:
    """A price on the ladder."""

    price: float
    key: str
    label: str
    shown: str


def _ladder(game: Negotiation, state: Rounds, role: Role) -> Facts:
    """Return values and prices in order. A fact's `value` is its position, from 0 at the top to 100 at the price 0."""
    own_value, other_value = game.value(role), game.value_of_other(role)
    marks = [_Mark(own_value, "your_value", _("Worth to you"), game.money(own_value))]
    if other_value is not None:
        label = _("Worth to {name}").format(name=game.role_title(other(role)))
        marks.append(_Mark(other_value, "other_value", label, game.money(other_value)))
    for number, proposal in list(enumerate(state.proposals, start=1))[-MAX_MARKS:]:
        marks += _marks_of_round(game, proposal, number, role)
    marks.sort(key=lambda mark: -mark.price)
    largest_value = max(own_value, other_value or 0.0)
    top = min(max(largest_value * LADDER_TOP, marks[0].price), largest_value * MAX_LADDER_TOP)
    facts = (Fact(mark.key, mark.label, round(100 * (1 - min(mark.price / top, 1)), 4), mark.shown) for mark in marks)
    return Facts("ladder", _("Prices, from high to low"), tuple(facts))


def _marks_of_round(game: Negotiation, proposal: Proposal, number: int, role: Role) -> list[_Mark]:
    """Return a round's price; also what it would earn, while it awaits an answer."""
    price, is_own, name = proposal.price, proposal.by == role, game.role_title(proposal.by)
    if proposal.answer is None:
        label = _("Your price now") if is_own else _("{name}'s price now").format(name=name)
        earnings_text = earnings(gain(role, price, game.value(role)), game.amounts)
        return [
            _Mark(price, "current", label, game.money(price)),
            _Mark(price, "current_gain", _("At this price"), earnings_text),
        ]
    if proposal.answer == "accept":
        return [_Mark(price, "current", _("Price of the trade"), game.money(price))]
    label = _("You in round {number}") if is_own else _("{name} in round {number}")
    key = f"{'yours' if is_own else 'theirs'}_{number}"
    return [_Mark(price, key, label.format(name=name, number=number), game.money(price))]


def _columns(game: Negotiation, role: Role) -> tuple[str, ...]:
    return (_("Named by"), _("Price"), _("Your gain"))


def _cells(game: Negotiation, proposal: Proposal, number: int, role: Role) -> tuple[Cell, ...]:
    return (game.money(proposal.price), game.money(gain(role, proposal.price, game.value(role))))


def _bars(game: Negotiation, state: Rounds, role: Role) -> Bars:
    """Return each player's gain as a part of the way from one value to the other, as far as the role knows the values.

    Without a trade, nobody gained anything.
    """
    last, traded = state.proposals[-1], state.accepted
    bars = []
    for seat in game.roles():
        value = game.value(seat) if seat == role else game.value_of_other(role)
        label = game.seat_name(seat, role)
        if value is None:
            bars.append(Bar(label, _("only {name} knows").format(name=label), None, role=seat))
            continue
        price = traded.price if traded else value
        ends = sorted((value, price))
        bars.append(Bar(label, game.money(gain(seat, price, value)), ends[1], ends[0], role=seat))
    known = [end for bar in bars if bar.end is not None for end in (bar.start, bar.end)]
    answer = {"accept": _("accepted it"), "walk_away": _("walked away")}.get(last.answer or "", _("rejected it"))
    offer = _("named this price") if traded else _("named {price}").format(price=game.money(last.price))
    return Bars(
        _("Who gained what") if traded else _("No trade: nobody gained anything"),
        tuple(bars),
        low=min(known),
        high=max(known),
        line=traded.price if traded else None,
        line_label=_("Price: {price}").format(price=game.money(traded.price)) if traded else "",
        moves=((last.by, offer), (other(last.by), answer)),
    )


SCREEN = OfferScreen(
    _status,
    _situation,
    _offer,
    _result,
    _ladder,
    _answer_notice,
    _terms,
    gettext_noop("Prices so far"),
    _columns,
    _cells,
    _bars,
)
