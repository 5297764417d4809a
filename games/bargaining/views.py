"""What each player of a bargaining match may know, as blocks. Only this module removes hidden information."""

from __future__ import annotations

from games.bargaining.state import BargainingCore as Bargaining
from games.bargaining.state import Proposal, Rounds
from games.glee import OfferScreen, other
from games.interface import Bar, Bars, Cell, Chart, Fact, Facts, Role, Said, Series, Text
from games.words import gettext as _
from games.words import gettext_noop, percent

UNKNOWN_HORIZON = 12
"""Rounds in the chart when players do not know how many there are."""
MAX_POINTS = 30


def _terms(game: Bargaining, offer: Proposal, role: Role) -> str:
    return _("It was {yours} for you and {theirs} for {name}.").format(
        yours=game.money(offer.gain(role)),
        theirs=game.money(offer.gain(other(role))),
        name=game.role_title(other(role)),
    )


def _answer_notice(game: Bargaining, proposal: Proposal, mover: Role) -> str:
    sentence = _("{name} accepted your offer.") if proposal.answer == "accept" else _("{name} rejected your offer.")
    return sentence.format(name=game.role_title(mover))


def _status(game: Bargaining, state: Rounds, role: Role) -> Text:
    """Return one sentence about what happens now."""
    name = game.role_title(other(role))
    turn = game.turn(state)
    if turn is None:
        outcome = _("You have agreed.") if state.accepted else _("The game ended without an agreement.")
        return Text("status", outcome, tone="good" if state.accepted else "notice")
    if role not in turn.forms:
        waiting = _("{name} is thinking about your offer.") if state.on_table else _("{name} is preparing an offer.")
        return Text("status", waiting.format(name=name))
    if state.on_table:
        return Text("status", _answer_question(game, state).format(name=name))
    if game.round_of(state) == game.config.rounds:
        return Text("status", _("Propose a split. This is the last offer of the game."))
    if state.proposals:
        return Text("status", _("It is your turn to propose a split."))
    return Text("status", _("You go first: propose a split."))


def _answer_question(game: Bargaining, state: Rounds) -> str:
    if len(state.proposals) == game.config.rounds:
        return _("{name} has made you the last offer. Accept it, or end the game with nothing?")
    if game.config.rounds is None:
        return _("{name} has made you an offer. Accept or reject it?")
    return _("{name} has made you an offer. Accept it, or reject it and go on?")


def _situation(game: Bargaining, state: Rounds, role: Role) -> Facts:
    """Return the round and what the money is worth now."""
    number = game.round_of(state)
    own_worth = game.worth(role, number)
    facts = [
        game.round_fact(number),
        Fact("money", _("Money to divide"), game.config.money, game.money(game.config.money)),
        Fact(
            "stake_now",
            _("All of it is now worth to you"),
            game.config.money * own_worth,
            game.money(game.config.money * own_worth),
        ),
        Fact("loss", _("Loss of value for you per round"), 1 - game.delta(role), percent(1 - game.delta(role))),
    ]
    if game.config.complete_information and not game.is_over(state):
        label = _("Loss of value for {name} per round").format(name=game.role_title(other(role)))
        loss = 1 - game.delta(other(role))
        facts.append(Fact("other_loss", label, loss, percent(loss)))
    if game.knows_other():
        other_worth = game.worth(other(role), number)
        name = game.role_title(other(role))
        stake = game.config.money * other_worth
        label = _("All of it is now worth to {name}").format(name=name)
        facts.append(Fact("other_stake_now", label, stake, game.money(stake)))
    return Facts("situation", _("Where you stand"), tuple(facts))


def _offer(game: Bargaining, proposal: Proposal, number: int, role: Role) -> Facts:
    """Return an offer as shown to the player who answers it."""
    name = game.role_title(proposal.by)
    own_gain, other_gain = proposal.gain(role), proposal.gain(proposal.by)
    worth_now = own_gain * game.worth(role, number)
    facts = [
        Fact("your_gain", _("You would get"), own_gain, game.money(own_gain)),
        Fact("other_gain", _("{name} would get").format(name=name), other_gain, game.money(other_gain)),
        Fact("your_gain_now", _("Worth to you now"), worth_now, game.money(worth_now)),
    ]
    if number == game.config.rounds:
        facts.append(Fact("last", _("If you reject"), True, _("the game ends and neither of you gets anything")))
    if proposal.message:
        facts.append(Fact("message", _("{name} writes").format(name=name), Said(name, proposal.message), ""))
    return Facts("offer", _("{name}'s offer in round {number}").format(name=name, number=number), tuple(facts))


def _result(game: Bargaining, state: Rounds, role: Role) -> Facts:
    """Return how the game ended for this role."""
    agreed = state.accepted
    number = len(state.proposals)
    if agreed is None:
        return Facts(
            "result",
            _("The result"),
            (
                Fact("agreement", _("Agreement"), False, _("none: the last offer was rejected")),
                Fact("payoff", _("You earned"), 0.0, game.money(0)),
            ),
        )
    share = agreed.gain(role)
    payoff = share * game.worth(role, number)
    return Facts(
        "result",
        _("The result"),
        (
            Fact("agreement", _("Agreement"), True, _("in round {number}").format(number=number)),
            Fact("share", _("Your share of the money"), share, game.money(share)),
            Fact("payoff", _("You earned"), payoff, game.money(payoff)),
        ),
    )


def _chart(game: Bargaining, state: Rounds, role: Role) -> Chart:
    """Return the chart of what the money is worth in each round; the number of rounds only if players know it."""
    number = game.round_of(state)
    if game.config.rounds is None:
        first = max(1, number - UNKNOWN_HORIZON // 2)
        rounds = range(first, first + UNKNOWN_HORIZON)
    else:
        first = max(1, min(number - MAX_POINTS // 2, game.config.rounds - MAX_POINTS + 1))
        rounds = range(first, min(game.config.rounds, first + MAX_POINTS - 1) + 1)

    def series(name: str, owner: Role) -> Series:
        return Series(name, tuple((float(r), game.config.money * game.worth(owner, r)) for r in rounds), owner)

    lines = [series(_("to you"), role)]
    if game.knows_other():
        lines.append(series(_("to {name}").format(name=game.role_title(other(role))), other(role)))
    title = _("What {money} is worth in each round").format(money=game.money(game.config.money))
    return Chart("worth", title, _("Round"), _("Worth"), tuple(lines), mark=float(number))


def _columns(game: Bargaining, role: Role) -> tuple[str, ...]:
    name = game.role_title(other(role))
    return (_("Offer by"), _("You get"), _("{name} gets").format(name=name), _("Worth to you then"))


def _cells(game: Bargaining, proposal: Proposal, number: int, role: Role) -> tuple[Cell, ...]:
    own_gain, other_gain = proposal.gain(role), proposal.gain(other(role))
    return (game.money(own_gain), game.money(other_gain), game.money(own_gain * game.worth(role, number)))


def _bars(game: Bargaining, state: Rounds, role: Role) -> Bars:
    """Return both parts of the money, and what they are worth to those whose loss of value the role knows."""
    last = state.proposals[-1]
    parts = {seat: last.gain(seat) if state.accepted else 0.0 for seat in game.roles()}
    bars, start = [], 0.0
    for seat, part in parts.items():
        bars.append(Bar(game.seat_name(seat, role), game.money(part), start + part, start, role=seat))
        start += part
    for seat, worth in game.payoffs(state).items():
        if state.accepted and worth != parts[seat] and (seat == role or game.config.complete_information):
            label = _("Worth to you") if seat == role else _("Worth to {name}").format(name=game.role_title(seat))
            bars.append(Bar(label, game.money(worth), worth, role=seat))
    answer = _("accepted it") if state.accepted else _("rejected it")
    offer = _("made this offer") if state.accepted else _("made the last offer")
    return Bars(
        _("Who got what of {money}").format(money=game.money(game.config.money)),
        tuple(bars),
        low=0.0,
        high=game.config.money,
        moves=((last.by, offer), (other(last.by), answer)),
    )


SCREEN = OfferScreen(
    _status,
    _situation,
    _offer,
    _result,
    _chart,
    _answer_notice,
    _terms,
    gettext_noop("Offers so far"),
    _columns,
    _cells,
    _bars,
)
