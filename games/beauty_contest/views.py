"""What a player may know, as blocks. The depth of the history is kept here and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from games.interface import NOBODY, Block, Cell, Fact, Facts, Role, Text, View
from games.sessions import Session
from games.words import exact, rounded
from games.words import gettext as _

if TYPE_CHECKING:
    from games.beauty_contest.rules import BeautyContest


def view(game: BeautyContest, state: Session, role: Role) -> View:
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
    return (*blocks, _history(game, state, role))


def watched(game: BeautyContest, state: Session) -> View:
    """What everybody may know now: the runs that each seat may see."""
    blocks: list[Block] = [_situation(game, state, NOBODY)]
    if game.over(state):
        blocks.insert(0, _status(game, state))
    if visible := game.visible(state):
        blocks.append(_last_run(game, state, visible[-1], NOBODY))
    return (*blocks, _history(game, state, NOBODY))


def notices(game: BeautyContest, after: Session, role: Role) -> View:
    """What `role` has learnt from the run that is over: no more than the history may show."""
    if not game.visible(after):
        return (_status(game, after),)
    told: list[Block] = [Text("outcome", _outcome(game, after, len(after.runs) - 1, role))]
    if game.over(after):
        told.append(_result(game, after, role))
    return tuple(told)


def _status(game: BeautyContest, state: Session) -> Text:
    """One sentence on what is to be done now."""
    if game.over(state):
        return Text("status", _("The game is over."), tone="good")
    asked = _("Name a number from 0 to {upper}.").format(upper=exact(game.config.upper))
    return Text("status", game.held(state) + asked)


def _situation(game: BeautyContest, state: Session, role: Role) -> Facts:
    """The run, the seat and what is at stake."""
    config = game.config
    you = () if role == NOBODY else (Fact("you", _("You are"), game.role_title(role), game.role_title(role)),)
    return Facts(
        "situation",
        _("Where you stand"),
        (
            game.run_fact(state),
            *you,
            Fact("players", _("Players"), config.players, str(config.players)),
            Fact("upper", _("Up to"), config.upper, exact(config.upper)),
            Fact("fraction", _("Part of mean"), config.fraction, game.fraction_in_words()),
            Fact("prize", _("Prize"), config.prize, game.money(config.prize)),
        ),
    )


def _outcome(game: BeautyContest, state: Session, at: int, role: Role) -> str:
    """How run `at` ended for this seat, in words."""
    run = state.runs[at]
    said = [_("Run {run}:").format(run=at + 1)] if game.config.runs > 1 else []
    target, own = game.target(run), run[game.roles().index(role)]
    if target is None:
        return " ".join([*said, _("Nobody named a valid number, and nobody won.")])
    said += [_("The target was {target}.").format(target=rounded(target)), _who_won(game, game.winners(run), role)]
    if own is not None and game.valid(own):
        won = game.money(game.won(run, role))
        said.append(_("You named {number} and won {won}.").format(number=rounded(own), won=won))
    else:
        said.append(_("You named no valid number."))
    return " ".join(said)


def _who_won(game: BeautyContest, winners: Sequence[Role], role: Role) -> str:
    if winners == (role,):
        return _("You were closest.")
    names = [game.role_title(seat) if seat != role else _("you") for seat in winners]
    if len(names) == 1:
        return _("{name} was closest.").format(name=names[0])
    if len(names) == game.config.players:
        return _("All were equally close and share the prize.")
    listed = _("{names} and {last}").format(names=", ".join(names[:-1]), last=names[-1])
    return _("{names} were equally close and share the prize.").format(names=listed[:1].upper() + listed[1:])


def _last_run(game: BeautyContest, state: Session, at: int, role: Role) -> Facts:
    """Everybody's number in run `at`, the target, and who was closest to it."""
    run = state.runs[at]
    target, winners = game.target(run), game.winners(run)
    return game.on_a_line(
        state,
        at,
        role,
        Fact("mark", _("Target"), target, _("none") if target is None else rounded(target)),
        game.winners_fact(_("Closest"), winners, role),
    )


def _history(game: BeautyContest, state: Session, role: Role) -> Block:
    def cells(at: int) -> tuple[Cell, ...]:
        run = state.runs[at]
        target, winners = game.target(run), game.winners(run)
        return (
            _("none") if target is None else exact(target),
            ", ".join(map(game.role_title, winners)) or _("nobody"),
            *(() if role == NOBODY else (game.money(game.won(run, role)),)),
        )

    columns = (_("Target"), _("Winners"), *(() if role == NOBODY else (_("You won"),)))
    return game.history(state, role, columns, cells)


def _result(game: BeautyContest, state: Session, role: Role) -> Facts:
    """How it ended, for this role."""
    payoff = game.payoffs(state)[role]
    wins = sum(role in game.winners(run) for run in state.runs)
    runs = len(state.runs)
    if runs == 1:
        return Facts("result", _("The result"), (Fact("payoff", _("You won"), payoff, game.money(payoff)),))
    return Facts(
        "result",
        _("The result"),
        (
            Fact("wins", _("Runs that you won"), wins, _("{wins} of {runs}").format(wins=wins, runs=runs)),
            Fact("payoff", _("You won, on average"), payoff, game.money(payoff)),
        ),
    )
