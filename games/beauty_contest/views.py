"""What a player of the beauty contest may know, part by part; `games.sessions` limits it to the visible runs."""

from __future__ import annotations

from collections.abc import Sequence

from games.beauty_contest.state import BeautyContestCore as BeautyContest
from games.interface import OBSERVER, Bar, Bars, Block, Cell, Fact, Facts, Role, Text
from games.sessions import RunScreen, Session
from games.words import exact, rounded
from games.words import gettext as _


def _status(game: BeautyContest, state: Session) -> Text:
    """Return one sentence on what happens now."""
    if game.over(state):
        return Text("status", _("The game is over."), tone="good")
    prompt = _("Choose a number from 0 to {upper}.").format(upper=exact(game.config.upper))
    return Text("status", game.runs_over_text(state) + prompt)


def _situation(game: BeautyContest, state: Session, role: Role) -> Facts:
    """Return the run, the seat and what is at stake."""
    config = game.config
    you = () if role == OBSERVER else (Fact("you", _("You are"), game.role_title(role), game.role_title(role)),)
    return Facts(
        "situation",
        _("Where you stand"),
        (
            game.run_fact(state),
            *you,
            Fact("players", _("Players"), config.players, str(config.players)),
            Fact("upper", _("Highest number"), config.upper, exact(config.upper)),
            Fact("fraction", _("Fraction of mean"), config.fraction, game.fraction_in_words()),
            Fact("prize", _("Prize"), config.prize, game.money(config.prize)),
        ),
    )


def _outcome(game: BeautyContest, state: Session, index: int, role: Role) -> str:
    """Return how the run with this index ended for this seat, as text."""
    run = state.runs[index]
    sentences = [_("Run {run}:").format(run=index + 1)] if game.config.runs > 1 else []
    target, own_number = game.target(run), run[game.roles().index(role)]
    if target is None:
        return " ".join([*sentences, _("Nobody chose a valid number, so nobody won.")])
    sentences += [
        _("The target was {target}.").format(target=rounded(target)),
        _winners_sentence(game, game.winners(run), role),
    ]
    if own_number is not None and game.valid(own_number):
        won = game.money(game.won(run, role))
        sentences.append(_("You chose {number} and won {won}.").format(number=rounded(own_number), won=won))
    else:
        sentences.append(_("You did not choose a valid number."))
    return " ".join(sentences)


def _winners_sentence(game: BeautyContest, winners: Sequence[Role], role: Role) -> str:
    if winners == (role,):
        return _("You were closest.")
    names = [game.role_title(seat) if seat != role else _("you") for seat in winners]
    if len(names) == 1:
        return _("{name} was closest.").format(name=names[0])
    if len(names) == game.config.players:
        return _("Everybody was equally close and shares the prize.")
    listed = _("{names} and {last}").format(names=", ".join(names[:-1]), last=names[-1])
    return _("{names} were equally close and share the prize.").format(names=listed[:1].upper() + listed[1:])


def _last_run(game: BeautyContest, state: Session, index: int, role: Role) -> Facts:
    """Return everybody's number in the run with this index, the target, and who was closest to it."""
    run = state.runs[index]
    target, winners = game.target(run), game.winners(run)
    return game.number_line(
        state,
        index,
        role,
        Fact("mark", _("Target"), target, _("none") if target is None else rounded(target)),
        game.winners_fact(_("Closest"), winners, role),
    )


def _history(game: BeautyContest, state: Session, role: Role) -> Block:
    def cells(index: int) -> tuple[Cell, ...]:
        run = state.runs[index]
        target, winners = game.target(run), game.winners(run)
        return (
            _("none") if target is None else rounded(target),
            ", ".join(map(game.role_title, winners)) or _("nobody"),
            *(() if role == OBSERVER else (game.money(game.won(run, role)),)),
        )

    columns = (_("Target"), _("Winners"), *(() if role == OBSERVER else (_("You won"),)))
    return game.history(state, role, columns, cells)


def _result(game: BeautyContest, state: Session, role: Role) -> Facts:
    """Return how the game ended for this role."""
    payoff = game.payoffs(state)[role]
    wins = sum(role in game.winners(run) for run in state.runs)
    runs = len(state.runs)
    if runs == 1:
        return Facts("result", _("The result"), (Fact("payoff", _("You won"), payoff, game.money(payoff)),))
    return Facts(
        "result",
        _("The result"),
        (
            Fact("wins", _("Runs you won"), wins, _("{wins} of {runs}").format(wins=wins, runs=runs)),
            Fact("payoff", _("You won, on average"), payoff, game.money(payoff)),
        ),
    )


SCREEN = RunScreen(_status, _outcome, _result, _situation, _last_run, _history)


def result_bars(game: BeautyContest, state: Session, role: Role) -> Bars:
    """Return what every player won."""
    won = game.payoffs(state)
    title = _("Who won what") if len(state.runs) == 1 else _("Who won what, on average")
    bars = (Bar(game.seat_name(seat, role), game.money(won[seat]), won[seat], role=seat) for seat in game.roles())
    return Bars(title, tuple(bars), high=game.config.prize)
