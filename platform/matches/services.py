"""The only places where a match changes: opening it, a move, a time-out, an abandonment.

Each locks the match's row, lets the rules decide, appends events and, once committed, tells the
pages and queues the agents whose turn it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
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
from matches.models import Event, Match, Seat, Turn
from participants import services as people
from participants.models import Enrolment
from participants.states import State

TURN_SECONDS = 180
EXTENSION_SECONDS = 60
AGENT_SECONDS = 180
ON_TIMEOUT = "end"
"""What happens when a person's time is up: "end" the match, or play the game's "default" move."""

Mover = Callable[[Play], MoveData]


@dataclass(frozen=True)
class Taken:
    """A move that was taken: the match's new last event, and whether the match is over."""

    last: int
    over: bool


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


@transaction.atomic
def submit_move(
    *, match_id: int, role: Role, move: MoveData | Mover, answering: int, by: str | None = None
) -> Taken:
    """Take one move: the one path for screens, agents and the clock.

    Args:
        move: plain data, or a function that chooses it from the play under the match's lock.
        answering: number of the event that opened the turn which this move answers.
        by: who moves, if not the seat's own player ("clock", "script:fair").

    Raises:
        Stale: the turn is no longer open; nothing changed.
        Refused: the move is not allowed; nothing changed.
    """
    match = Match.objects.select_for_update().get(pk=match_id)
    play = match.play()
    if role not in play.waiting_for() or play.opened[role] != answering:
        raise Stale(_("The game is over.") if play.over else _("The game has moved on; here is where it stands."))
    chosen = move(play) if callable(move) else move
    return _apply(match, play, role, chosen, by=by)


@transaction.atomic
def let_time_run_out(*, match_id: int, role: Role, answering: int) -> None:
    """What the clock does to a turn that is past its deadline: one extension for people, then the end."""
    match = Match.objects.select_for_update().get(pk=match_id)
    turn = Turn.objects.filter(match=match, role=role, answering=answering, closed_at=None).first()
    now = timezone.now()
    if turn is None or turn.deadline is None or turn.deadline > now:
        return
    if turn.by_agent:
        _abandon(match, State.OPPONENT_FAILED, role)
    elif not turn.extended and extension_seconds(match) > 0:
        Turn.objects.filter(pk=turn.pk).update(extended=True, deadline=now + timedelta(seconds=extension_seconds(match)))
        announce.when_committed(match, match.play(), clock=True)
    elif match.timers.get("on_timeout", ON_TIMEOUT) == "default":
        play = match.play()
        _apply(match, play, role, play.game.default(play.state, role), by="clock")
    else:
        enrolment = Seat.objects.select_related("enrolment").get(match=match, role=role).enrolment
        here = enrolment is not None and enrolment.recently_seen()
        _abandon(match, State.TIMED_OUT if here else State.DROPPED_OUT, role)


@transaction.atomic
def abandon_match(*, match_id: int, reason: str, role: Role | None = None) -> None:
    """End a live match without a result; `reason` is the state that ended it. Once over, nothing happens."""
    _abandon(Match.objects.select_for_update().get(pk=match_id), reason, role)


def turn_seconds(match: Match) -> float:
    return match.timers.get("turn_seconds", TURN_SECONDS)


def extension_seconds(match: Match) -> float:
    return match.timers.get("extension_seconds", EXTENSION_SECONDS)


def _apply(match: Match, play: Play, role: Role, move: MoveData, *, by: str | None) -> Taken:
    """Let the rules take a move of an open turn, and write what follows."""
    after, events = games.play.submit(play, role, move, by=by)
    _record(match, after, events, answered=role, stays_open=not games.play.ends_turn(play, role, move))
    return Taken(last=after.last, over=after.over)


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
    answered: Role | None = None,
    stays_open: bool = False,
) -> None:
    """Write what the rules decided: events, snapshot, turns; then announce on commit.

    Args:
        answered: the role whose turn the events answer, if they answer one.
        stays_open: the answer was a note, so the role's clock goes on as it ran.
    """
    now = timezone.now()
    open_turns = {turn.role: turn for turn in Turn.objects.filter(match=match, closed_at=None)}
    turn = open_turns.get(answered) if answered else None
    Event.objects.bulk_create(_row(match, event, now, turn) for event in events)
    changed: dict[str, Any] = {"snapshot": games.play.snapshot(play)}
    if play.over:
        changed["status"] = Match.Status.ABANDONED if play.abandoned else Match.Status.FINISHED
        changed["ending"] = play.abandoned or "finished"
        changed["ended_at"] = now
    if play.finished:
        changed["payoffs"], changed["metrics"] = play.payoffs(), play.metrics()
    Match.objects.filter(pk=match.pk).update(**changed)
    for name, value in changed.items():
        setattr(match, name, value)
    asked = {role: play.opened[role] for role in play.waiting_for()}
    closed = [turn.pk for turn in open_turns.values() if asked.get(turn.role) != turn.answering]
    if closed:
        Turn.objects.filter(pk__in=closed).update(closed_at=now)
    opened = [
        _new_turn(match, role, answering, now, clock_of=turn if stays_open and role == answered else None)
        for role, answering in asked.items()
        if role not in open_turns or open_turns[role].answering != answering
    ]
    if opened:
        Turn.objects.bulk_create(opened)
    announce.when_committed(match, play, turns=[turn for turn in opened if turn.by_agent])


def _row(match: Match, event: GameEvent, now: datetime, turn: Turn | None) -> Event:
    asked = turn if event.kind == "move" else None
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


def _new_turn(match: Match, role: Role, answering: int, now: datetime, *, clock_of: Turn | None) -> Turn:
    """The row for a question put to `role` now; `clock_of` is the turn whose clock it carries on."""
    by_agent = bool(match.agents()[role])
    seconds = match.timers.get("agent_seconds", AGENT_SECONDS) if by_agent else turn_seconds(match)
    return Turn(
        match=match,
        role=role,
        answering=answering,
        by_agent=by_agent,
        opened_at=clock_of.opened_at if clock_of else now,
        deadline=clock_of.deadline if clock_of else now + timedelta(seconds=seconds),
        extended=clock_of.extended if clock_of else False,
        queued_at=now if by_agent else None,
    )
