"""The only places where a match changes: opening it, a move, a time-out, an abandonment.

Each locks the match's row, lets the rules decide, appends events and, once committed, tells the
pages and queues the agents whose turn it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

import games.play
from games.interface import Event as GameEvent
from games.interface import MoveData, Role
from games.play import Play
from matches import announce
from matches.errors import Stale
from matches.models import Event, Match, Seat
from matches.turns import OpenTurn, dump
from participants import services as people
from participants.models import Enrolment
from participants.states import State

TURN_SECONDS = 180
EXTENSION_SECONDS = 60
AGENT_SECONDS = 180
REQUEUE_SECONDS = 4
"""How long an agent's turn may go without anybody thinking about it before it is queued again."""
ON_TIMEOUT = "end"
"""What happens when a person's time is up: "end" the match, or play the game's "default" move."""

Mover = Callable[[Play], MoveData]


@dataclass(frozen=True)
class Taken:
    """A move that was taken: the match's new last event, whether the match is over, and the number that
    the same role has to answer next, if it is asked again at once."""

    last: int
    over: bool
    next: int | None = None


@dataclass(frozen=True)
class Player:
    """Who takes a seat: an enrolment (at a step of its way), or an agent's specification and delay in seconds."""

    enrolment: Enrolment | None = None
    step: int | None = None
    agent: str = ""
    delay: float = 0


@transaction.atomic
def open_match(
    *,
    game: str,
    config: Mapping[str, Any],
    players: Mapping[Role, Player],
    seed: int,
    purpose: str = Match.Purpose.STUDY,
    texts: Mapping[str, Any] | None = None,
    timers: Mapping[str, Any] | None = None,
) -> Match:
    """Seat the players and open their first turn.

    Raises:
        GameError: the configuration is not playable.
        ValueError: the players do not fit the roles.
    """
    configured = games.play.configure(games.registry.get(game), config)
    if set(players) != set(configured.roles()):
        raise ValueError(f"seats {sorted(players)} do not fit the roles {sorted(configured.roles())}")
    play, events = games.play.start(configured, seed)
    match = Match.objects.create(
        game=game,
        config=configured.config.model_dump(mode="json"),
        texts=dict(texts or {}),
        timers=dict(timers or {}),
        rules_version=configured.rules_version,
        seed=seed,
        purpose=purpose,
        snapshot=games.play.snapshot(play),
    )
    Seat.objects.bulk_create(
        Seat(
            match=match,
            role=role,
            enrolment=player.enrolment,
            step=player.step,
            agent=player.agent,
            delay=player.delay,
        )
        for role, player in players.items()
    )
    _record(match, play, events)
    return match


def locked(match_id: int) -> Match:
    """The match under its row lock, without the columns that no move looks at; call inside a transaction."""
    return Match.objects.select_for_update().defer("config", "texts", "payoffs", "metrics").get(pk=match_id)


@transaction.atomic
def submit_move(
    *,
    match_id: int,
    role: Role,
    move: MoveData | Mover,
    answering: int,
    by: str | None = None,
    shown_at: datetime | None = None,
    answers_next: bool = False,
) -> Taken:
    """Take one move: the one path for screens, agents and the clock.

    Args:
        move: plain data, or a function that chooses it from the play under the match's lock.
        answering: number of the event that opened the turn which this move answers.
        by: who moves, if not the seat's own player ("clock", "script:fair").
        shown_at: when the question was on the person's screen, if the page knows it.
        answers_next: the caller is the role's agent and answers its next turn as well, so none is queued.

    Raises:
        Stale: the turn is no longer open; nothing changed.
        Refused: the move is not allowed; nothing changed.
    """
    match = locked(match_id)
    play = match.play()
    if role not in play.waiting_for() or play.opened[role] != answering:
        raise Stale(_("The game is over.") if play.over else _("The game has moved on; here is where it stands."))
    chosen = move(play) if callable(move) else move
    return _apply(match, play, role, chosen, by=by, shown_at=shown_at, kept_by=role if answers_next else None)


@transaction.atomic
def let_time_run_out(*, match_id: int) -> None:
    """What the clock does to a match's overdue turns: one extension for people, then the end."""
    match = locked(match_id)
    for turn in match.open_turns().values():
        if match.status == Match.Status.LIVE and turn.deadline <= timezone.now():
            _run_out(match, turn)


def _run_out(match: Match, turn: OpenTurn) -> None:
    if turn.by_agent:
        _abandon(match, State.OPPONENT_FAILED, turn.role)
    elif not turn.extended and extension_seconds(match) > 0:
        _extend(match, turn)
    elif match.timers.get("on_timeout", ON_TIMEOUT) == "default":
        play = match.play()
        _apply(match, play, turn.role, play.game.default(play.state, turn.role), by="clock")
    else:
        enrolment = Seat.objects.select_related("enrolment").get(match=match, role=turn.role).enrolment
        here = enrolment is not None and enrolment.recently_seen()
        _abandon(match, State.TIMED_OUT if here else State.DROPPED_OUT, turn.role)


def _extend(match: Match, turn: OpenTurn) -> None:
    """Give the extra time."""
    until = timezone.now() + timedelta(seconds=extension_seconds(match))
    _keep_turns(match, {**match.open_turns(), turn.role: turn.extended_until(until)})
    announce.when_committed(match, match.play(), clock=True)


@transaction.atomic
def mark_shown(*, match_id: int, role: Role, answering: int, at: datetime) -> None:
    """Remember when a question was first on the person's screen."""
    match = locked(match_id)
    turn = match.open_turns().get(role)
    if turn is not None and turn.answering == answering and turn.shown_at is None:
        _keep_turns(match, {**match.open_turns(), role: replace(turn, shown_at=at)})


@transaction.atomic
def abandon_match(*, match_id: int, reason: str, role: Role | None = None) -> None:
    """End a live match without a result; `reason` is the state that ended it. Once over, nothing happens."""
    _abandon(locked(match_id), reason, role)


def turn_seconds(match: Match) -> float:
    return match.timers.get("turn_seconds", TURN_SECONDS)


def extension_seconds(match: Match) -> float:
    return match.timers.get("extension_seconds", EXTENSION_SECONDS)


def _apply(
    match: Match,
    play: Play,
    role: Role,
    move: MoveData,
    *,
    by: str | None,
    shown_at: datetime | None = None,
    kept_by: Role | None = None,
) -> Taken:
    """Let the rules take a move of an open turn, and write what follows."""
    after, events = games.play.submit(play, role, move, by=by)
    answered = match.open_turns()[role]
    if answered.shown_at is None:
        answered = replace(answered, shown_at=shown_at)
    stays_open = not games.play.ends_turn(play, role, move)
    _record(match, after, events, answered=answered, stays_open=stays_open, kept_by=kept_by)
    return Taken(last=after.last, over=after.over, next=after.opened.get(role) if role in after.waiting_for() else None)


def _abandon(match: Match, reason: str, role: Role | None) -> None:
    """End the match; the one whose doing it was gets `reason` as their state, the others a failed opponent."""
    if match.status != Match.Status.LIVE:
        return
    play, events = games.play.abandon(match.play(), str(reason), role)
    _record(match, play, events)
    for seat in Seat.objects.filter(match=match, enrolment__isnull=False):
        enrolment = people.locked(seat.enrolment_id)
        people.end(enrolment, State(reason) if seat.role == role else State.OPPONENT_FAILED)


def _record(
    match: Match,
    play: Play,
    events: Iterable[GameEvent],
    *,
    answered: OpenTurn | None = None,
    stays_open: bool = False,
    kept_by: Role | None = None,
) -> None:
    """Write what the rules decided: events, snapshot, turns; then announce on commit.

    Args:
        answered: the turn that the events answer, if they answer one.
        stays_open: the answer was a note, so the turn's clock goes on as it ran.
        kept_by: a role whose agent answers its next turn without being queued.
    """
    now = timezone.now()
    Event.objects.bulk_create([_row(match, event, now, answered) for event in events])
    before = match.open_turns()
    turns = {
        role: before[role]
        if role in before and before[role].answering == play.opened[role]
        else _new_turn(match, play, role, now, clock_of=answered if stays_open else None)
        for role in play.waiting_for()
    }
    changed: dict[str, Any] = {"snapshot": games.play.snapshot(play)}
    if play.over:
        changed["status"] = Match.Status.ABANDONED if play.abandoned else Match.Status.FINISHED
        changed["ending"] = play.abandoned or "finished"
        changed["ended_at"] = now
    if play.finished:
        changed["payoffs"], changed["metrics"] = play.payoffs(), play.metrics()
    _keep_turns(match, turns, **changed)
    opened = [turn for role, turn in turns.items() if turn is not before.get(role) and role != kept_by]
    announce.when_committed(match, play, turns=[turn for turn in opened if turn.by_agent])


def _keep_turns(match: Match, turns: Mapping[Role, OpenTurn], **changed: Any) -> None:
    """Write the open turns, and the columns by which the sweep finds them, with whatever else has changed."""
    waits_for_agent = any(turn.by_agent for turn in turns.values())
    changed |= {
        "turns": dump(turns),
        "deadline": min((turn.deadline for turn in turns.values()), default=None),
        "requeue_at": timezone.now() + timedelta(seconds=REQUEUE_SECONDS) if waits_for_agent else None,
    }
    Match.objects.filter(pk=match.pk).update(**changed)
    for name, value in changed.items():
        setattr(match, name, value)


def _row(match: Match, event: GameEvent, now: datetime, answered: OpenTurn | None) -> Event:
    asked = answered if event.kind == "move" else None
    return Event(
        match=match,
        number=event.number,
        kind=event.kind,
        role=event.data.get("role") or "",
        data=dict(event.data),
        at=now,
        asked_at=asked.opened_at if asked else None,
        shown_at=asked.shown_at if asked else None,
    )


def _new_turn(match: Match, play: Play, role: Role, now: datetime, *, clock_of: OpenTurn | None) -> OpenTurn:
    """The question put to `role` now; `clock_of` is a turn of that role whose clock it carries on."""
    if clock_of is not None and clock_of.role == role:
        return replace(clock_of, answering=play.opened[role], shown_at=None)
    by_agent = role in match.agents()
    seconds = match.timers.get("agent_seconds", AGENT_SECONDS) if by_agent else turn_seconds(match)
    return OpenTurn(
        role=role,
        answering=play.opened[role],
        by_agent=by_agent,
        opened_at=now,
        deadline=now + timedelta(seconds=seconds),
    )
