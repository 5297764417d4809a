"""One change of a match under its lock: what the rules decide, written together and then announced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.db import connection
from django.utils import timezone

import games.play
from games.interface import Event as GameEvent
from games.interface import MoveData, Role
from llm_agents.agent import BY_RULES
from matches import absences as away
from matches import announce
from matches.bulk import Row, Statement, write_events, write_together
from matches.locking import locked_match
from matches.models import Match, Seat
from matches.sending import Sender
from matches.turns import OpenTurn, dump
from opponents.agents import Agent
from participants import services as people
from participants.states import State
from plans.asking import GRACE_SECONDS
from uptime.services import Uptime

TURN_SECONDS = 180
EXTENSION_SECONDS = 60
SLOWEST_PACE = 25.0
"""The longest delay, in seconds, of an answer that appears at a human pace."""
REQUEUE_SECONDS = 4
"""How long an agent's turn may go without a lease before it is queued again."""


@dataclass(frozen=True)
class OnPage:
    """What a participant's page says about the time before a move, as far as it is known.

    Attributes:
        sight: milliseconds that each block of the page was in sight, by its key.
        tries: what the participant tried, as [milliseconds since the question appeared, name of a control or action,
            number or None].
        confirmed: the participant was warned about the move and sent it nevertheless.
    """

    sight: dict[str, int] | None = None
    tries: list[list[Any]] = field(default_factory=list)
    confirmed: bool = False


class Change:
    """A change of a match between taking its lock and the commit. Nothing is written before `write`.

    Everything in it happens at one time, `now`, so that seats that are asked together have the same limit.
    """

    def __init__(self, match: Match, play: games.play.Play, agents: Mapping[Role, Agent]):
        self.now = timezone.now()
        self.match = match
        self.play = play
        self.agents = agents
        self.turns: Mapping[Role, OpenTurn] = match.open_turns()
        self._turns_before = self.turns
        self._rows: list[Row] = []
        self._step_before, self._last_before = play.step, play.last
        self._clock_only = True
        self._is_created = False
        self._frames_for: set[Role] = set()
        self._marks_changed = False
        self._replaced: set[Role] = set()
        self._sealed: games.play.Play | None = None
        self._replaces: int | None = None
        self._sender: Sender | None = None
        self.absences: dict[Role, dict[str, Any]] = dict(match.absences)

    @classmethod
    def begin(cls, match_id: int, sender: Sender | None = None) -> Change:
        """Lock the match's row, reading only the columns that changes need; call this in a transaction.

        Args:
            sender: the page that makes the change, which the change hears.

        Raises:
            NotHeard: the page must be heard first.
        """
        match = _locked(match_id) if sender is None else sender.locked_match()
        change = cls(match, match.play(), match.agents())
        change._sender = sender
        return change

    @classmethod
    def opening(
        cls, match: Match, play: games.play.Play, events: Iterable[GameEvent], agents: Mapping[Role, Agent]
    ) -> Change:
        """Return the first change of a match that has just been created: its first events."""
        change = cls(match, play, agents)
        change._follow(play, events)
        return change

    @cached_property
    def uptime(self) -> Uptime:
        """When participants could be served, as seen now."""
        return self.match.uptime(self.now)

    @property
    def moves(self) -> int:
        """Return how many moves this change makes."""
        return sum(row.kind == "move" for row in self._rows)

    def move(
        self,
        role: Role,
        move: MoveData,
        *,
        by: str | None = None,
        shown_at: datetime | None = None,
        on_page: OnPage | None = None,
    ) -> None:
        """Make a move in an open turn under the rules.

        A participant's own move means that they are back; an agent that took a participant's seat moves under its own
        name, and its moves are counted.

        Raises:
            Refused: nothing was changed.
        """
        absence, answered = self.absences.get(role, {}), self.turns[role]
        if "agent" in absence:
            by = by or absence["agent"]["spec"]
        elif by is None:
            self._is_back(role)
        elif away.has_lost_connection(absence):
            self._set_absence(role, used=away.used_seconds(absence, answered, self.uptime))
        sealed, self._sealed = self._sealed, None
        next_play, events = games.play.submit(
            sealed or self.play, role, move, by=by, replaces=self._replaces if sealed else None
        )
        if answered.shown_at is None:
            answered = replace(answered, shown_at=shown_at)
        stays_open = not games.play.ends_turn(self.play, role, move)
        if "agent" in absence and not stays_open:
            self._set_absence(role, made=absence.get("made", 0) + 1)
            if absence.get("returning"):
                self._take_seat_back(role)
        self._follow(next_play, events, answered=answered, clock_of=answered if stays_open else None, on_page=on_page)

    def reopen(self, role: Role, number: int) -> None:
        """Ask the participant again until their next move replaces the sealed one, event `number`.

        Nobody else is told.

        Raises:
            Refused: it can no longer be replaced.
        """
        reopened = self.play.reopened(role, number)
        answer = self.match.events.only("asked_at", "shown_at").get(number=number)
        turn = OpenTurn(
            role,
            reopened.opened[role],
            by_agent=False,
            opened_at=answer.asked_at or self.now,
            deadline=self.now,
            shown_at=answer.shown_at,
        )
        self.turns = {**self.turns, role: turn}
        self._sealed, self._replaces, self.play = self.play, number, reopened
        self._frames_for.add(role)

    def abandon(self, reason: str, role: Role | None) -> None:
        """End the match without a result."""
        self._follow(*games.play.abandon(self.play, reason, role), answered=self.turns.get(role or ""))

    def limit_of(self, role: Role) -> datetime:
        """Return when the time of the role's open turn is up."""
        absence, budget = self.absences.get(role, {}), away.budget_of(self.match.timers)
        return away.limit_of(self.turns[role], absence, budget, self.uptime)

    def is_final(self, role: Role) -> bool:
        """Return whether a participant's turn gets no extra time: it had it, there is none, or they are absent."""
        is_absent = away.has_lost_connection(self.absences.get(role, {}))
        return self.turns[role].extended or is_absent or _extension_seconds(self.match) <= 0

    def extend(self, role: Role) -> None:
        """Give a turn its extra time."""
        self._set_clock(role, self.now + timedelta(seconds=_extension_seconds(self.match)), extended=True)

    def is_away(self, role: Role) -> bool:
        """Return whether the clock answers for this participant at once: they missed turns or have left."""
        return away.is_away(self.absences.get(role, {}))

    def is_playing(self, role: Role) -> bool:
        """Return whether a participant, even if absent for a while, has the seat."""
        absence = self.absences.get(role, {})
        return role in self.match.people() and not away.is_lost(absence) and not away.is_replaced(absence)

    def move_by_clock(self, role: Role) -> None:
        """Let the clock move for a participant, and count its moves since they were last heard from."""
        self._set_absence(role, missed=self.absences.get(role, {}).get("missed", 0) + 1)
        by = BY_RULES if self.play.game.time_ends else "clock"
        self.move(role, self.play.game.default(self.play.state, role), by=by)

    def note_absence(self, role: Role, since: datetime) -> None:
        """Record that a participant's page has not been heard from since then."""
        self._set_absence(role, since=since.isoformat())
        self._show(role)

    def end_absence(self, role: Role, since: datetime) -> None:
        """Record that a participant's page is heard from again; an open turn then lasts long enough to answer late.

        Args:
            since: when it was last heard from.
        """
        absence, turn = self.absences.get(role, {}), self.turns.get(role)
        was_noted = away.has_lost_connection(absence)
        since = datetime.fromisoformat(absence["since"]) if was_noted else since
        budget = away.budget_of(self.match.timers)
        if turn is not None and not turn.by_agent and budget > 0:
            left = timedelta(seconds=max(0.0, budget - absence.get("used", 0.0)))
            lost = self.uptime.served(since, self.now)
            until = self.now + min(away.grace_of(self.match.timers), lost, left)
            if until > turn.limit(self.uptime):
                self._set_clock(role, until)
            self._set_absence(role, since=since.isoformat())
        self._end_count(role)
        if was_noted:
            self._show(role)
        if was_noted or ("agent" in absence and not absence.get("idle")):
            self.welcome_back(role)

    def welcome_back(self, role: Role) -> None:
        """Record that a participant is back: they play again now or, if an agent is answering, from their next turn."""
        absence = self.absences.get(role, {})
        if away.is_lost(absence):
            return
        self._end_count(role)
        if "agent" not in absence:
            self._set_absence(role, missed=0)
        elif role in self.turns:
            self._set_absence(role, returning=True)
        else:
            self._take_seat_back(role)
        self._show(role)

    def _end_count(self, role: Role) -> None:
        """Add what a noted absence has cost to the used part of the budget."""
        absence, turn = self.absences.get(role, {}), self.turns.get(role)
        if away.has_lost_connection(absence):
            used = min(away.budget_of(self.match.timers), away.used_seconds(absence, turn, self.uptime))
            self.absences[role] = {**absence, "used": round(used, 1)}
            del self.absences[role]["since"]

    def _is_back(self, role: Role) -> None:
        """Forget all but the used part of the budget: the participant has moved."""
        self._end_count(role)
        absence = self.absences.pop(role, {})
        if away.is_lost(absence):
            self.absences[role] = absence
        elif absence.get("used"):
            self.absences[role] = {"used": absence["used"]}

    def _take_seat_back(self, role: Role) -> None:
        """Let the participant play again; the agent's moves are remembered until their own next one."""
        kept = {name: value for name, value in self.absences.pop(role).items() if name in ("used", "made")}
        if kept:
            self.absences[role] = kept
        self.agents = {seat: agent for seat, agent in self.agents.items() if seat != role}
        self._marks_changed = True

    def mark_left(self, role: Role) -> None:
        """Record that a participant has left for good while the match continues: the clock now answers at once."""
        self._set_absence(role, gone=True)

    def seat_agent(self, role: Role, agent: Agent) -> None:
        """Give a participant's seat, with its open question, to an agent for good."""
        had_agent = "agent" in self.absences.get(role, {})
        self.absences[role] = {"agent": agent.model_dump(mode="json")}
        self._replaced.add(role)
        if not had_agent:
            self._let_answer(role, agent)

    def lend_seat(self, role: Role, agent: Agent, *, ending: State, is_there: bool) -> None:
        """Let an agent answer for a participant, with the open question, until they are back.

        Args:
            ending: how the participant's time ended.
            is_there: their page is there, so only they themselves can say that they are back.
        """
        absence = self.absences.get(role, {})
        self.absences[role] = {
            **({"used": absence["used"]} if "used" in absence else {}),
            "agent": agent.model_dump(mode="json"),
            "lent": {
                "ending": str(ending),
                "at": self.now.isoformat(),
                "last": self.play.last,
                "played": self.play.game.share_played(self.play.state),
            },
            **({"idle": True} if is_there else {}),
        }
        self._let_answer(role, agent)
        self._show(role)

    def _let_answer(self, role: Role, agent: Agent) -> None:
        self.agents = {**self.agents, role: agent}
        self._marks_changed = True
        if role in self.turns:
            self.turns = {**self.turns, role: self._opened(role, None)}

    def _set_absence(self, role: Role, **changes: Any) -> None:
        self.absences[role] = {**self.absences.get(role, {}), **changes}

    def _set_clock(self, role: Role, deadline: datetime, **changes: Any) -> None:
        """Set a new deadline from now on; the role's page is told."""
        turn = replace(self.turns[role], clock_from=self.now, deadline=deadline, **changes)
        self.turns = {**self.turns, role: turn}
        self._frames_for.add(role)

    def _show(self, role: Role) -> None:
        """Show the role's page, and those of the others if they may notice it, what has changed."""
        self._frames_for |= {role} if self.match.blind else self.match.people()

    def pause(self, role: Role, seconds: int) -> None:
        """Extend a turn by `seconds` while its player reports a problem."""
        turn = self.turns[role]
        deadline = turn.deadline + timedelta(seconds=seconds)
        self.turns = {**self.turns, role: replace(turn, paused=True, deadline=deadline)}

    def hold(self, role: Role, until: datetime) -> None:
        """Pause a turn's clock until then at most: the deadline moves by as much."""
        turn = self.turns[role]
        deadline = turn.deadline + (until - self.now)
        self.turns = {**self.turns, role: replace(turn, held_from=self.now, held_until=until, deadline=deadline)}
        self._show(role)

    def release(self, role: Role) -> None:
        """Let a paused clock run again: the deadline loses what is left of the pause."""
        turn = self.turns[role]
        assert turn.held_from is not None and turn.held_until is not None
        end = min(self.now, turn.held_until)
        held, deadline = turn.held + (end - turn.held_from).total_seconds(), turn.deadline - (turn.held_until - end)
        turn = replace(turn, held_from=None, held_until=None, held=held, deadline=deadline)
        self.turns = {**self.turns, role: turn}
        self._show(role)

    def mark_shown(self, role: Role, shown_at: datetime) -> None:
        """Record when an open question was first shown to the participant."""
        self.turns = {**self.turns, role: replace(self.turns[role], shown_at=shown_at)}

    def note_attempt(self, role: Role, warned: str) -> None:
        """Count a refused attempt at the role's move or, if it was warned about, keep the warning."""
        turn = self.turns[role]
        turn = replace(turn, warned=(*turn.warned, warned)) if warned else replace(turn, refused=turn.refused + 1)
        self.turns = {**self.turns, role: turn}

    def _follow(
        self,
        next_play: games.play.Play,
        events: Iterable[GameEvent],
        *,
        answered: OpenTurn | None = None,
        clock_of: OpenTurn | None = None,
        on_page: OnPage | None = None,
    ) -> None:
        """Adopt the play after some events; `clock_of` is the turn whose clock keeps running (after a note)."""
        self._rows += [_row(event, self.now, answered, on_page) for event in events]
        self.play = next_play
        self.turns = {
            role: self.turns[role]
            if role in self.turns and self.turns[role].answering == next_play.opened[role]
            else self._opened(role, clock_of)
            for role in next_play.waiting_for()
        }
        self._clock_only = False

    def _opened(self, role: Role, clock_of: OpenTurn | None) -> OpenTurn:
        """Return the question now put to `role`."""
        answering = self.play.opened[role]
        if clock_of is not None and clock_of.role == role:
            return replace(clock_of, answering=answering, shown_at=None, refused=0, warned=())
        agent = self.agents.get(role)
        by_agent = agent is not None
        person_seconds = turn_seconds(self.match) * self.play.game.time_factor(self.play.state, role)
        seconds = person_seconds if agent is None else agent_seconds(agent)
        opened_at = max(self.now, self.match.begins_at or self.now)
        return OpenTurn(role, answering, by_agent, opened_at=opened_at, deadline=opened_at + timedelta(seconds=seconds))

    def write(self, *, quietly: bool = False) -> None:
        """Write events, snapshot and turns together; on commit, notify the pages and queue the agents.

        Args:
            quietly: notify nobody.
        """
        beside = self._sender.recording(self.now) if self._sender is not None else []
        if not self._is_created:
            beside.append(_update(self.match.pk, self._set_columns()))
        write_together([(self.match.pk, row) for row in self._rows], beside)
        if self.play.finished and not self._clock_only and self.match.people():
            self._complete_players()
        if quietly or self.match.driven:
            return
        # Before play begins, the sweep queues them when it does.
        agent_turns = [
            turn
            for role, turn in self.turns.items()
            if turn.by_agent and turn is not self._turns_before.get(role) and self.match.has_begun(self.now)
        ]
        opens = self._is_created  # no page shows it yet
        is_quiet = opens or (self.play.step == self._step_before and not self.play.over)
        tells_marks = self._replaces is None and (self._rows or (self._marks_changed and not self.match.blind))
        announce.when_committed(
            self.match,
            self.play,
            turns=agent_turns,
            frames_for=self._frames_for if is_quiet else None,
            marks_after=self._last_before if tells_marks and not opens else None,
            replaced=self._replaced,
            sender=self._sender,
        )

    @staticmethod
    def create(changes: Sequence[Change]) -> None:
        """Create the rows of the matches that open with these changes; `write` then writes the rest of each."""
        for change in changes:
            change._set_columns()
            change._is_created = True
        Match.objects.bulk_create(change.match for change in changes)

    @staticmethod
    def write_logs(changes: Sequence[Change]) -> None:
        """Write the rest of matches that were created and that one process plays among agents: nobody is told."""
        write_events([(change.match.pk, row) for change in changes for row in change._rows])

    def _set_columns(self) -> dict[str, Any]:
        """Set the match's columns that have changed, and return them."""
        columns = self._columns()
        for name, value in columns.items():
            setattr(self.match, name, value)
        return columns

    def _complete_players(self) -> None:
        """Complete the enrolments for which this match was the last step; enrolments are locked after the match."""
        seats = Seat.objects.filter(match=self.match, enrolment__isnull=False, left_at=None).order_by("enrolment")
        for enrolment_id in seats.values_list("enrolment", flat=True):
            people.complete_if_last(people.locked(enrolment_id))

    def _columns(self) -> dict[str, Any]:
        """Return the match's columns that follow from the play and its open turns."""
        waits_for_agent = any(turn.by_agent for turn in self.turns.values()) and not self.match.driven
        budget, served = away.budget_of(self.match.timers), Uptime(self.now)
        deadlines = [
            away.limit_of(turn, self.absences.get(role, {}), budget, served)
            for role, turn in self.turns.items()
            if not self.match.driven
        ]
        requeue_at = max(self.now + timedelta(seconds=REQUEUE_SECONDS), self.match.begins_at or self.now)
        columns: dict[str, Any] = {
            "turns": dump(self.turns),
            "absences": self.absences,
            "deadline": min(deadlines, default=None),
            "requeue_at": requeue_at if waits_for_agent else None,
        }
        if self._clock_only:
            return columns
        columns["snapshot"] = games.play.snapshot(self.play)
        if self.play.over:
            columns["status"] = Match.Status.ABANDONED if self.play.abandoned else Match.Status.FINISHED
            columns["ending"] = self.play.abandoned or "finished"
            columns["ended_at"] = self.now
        if self.play.finished:
            end = self._rows[-1].data
            columns["payoffs"], columns["metrics"] = end["payoffs"], end["metrics"]
        return columns


def _locked(match_id: int) -> Match:
    found = locked_match(f"FROM {Match._meta.db_table} played WHERE id = %s", [match_id], beside="NULL")
    if found is None:
        raise Match.DoesNotExist
    return found[0]


def _update(match_id: int, columns: Mapping[str, Any]) -> Statement:
    """Return what writes columns of a match; composing it from a queryset takes twice as long as executing it."""
    fields = [field for field in Match._meta.concrete_fields if field.name in columns]
    values = [field.get_db_prep_save(columns[field.name], connection) for field in fields]
    changes = ", ".join(f"{field.column} = %s" for field in fields)
    return f"UPDATE {Match._meta.db_table} SET {changes} WHERE id = %s", [*values, match_id]


def agent_seconds(agent: Agent) -> float:
    """Return how long an agent's turn may last before the clock acts."""
    return agent.settings.limit_seconds + agent.delay + SLOWEST_PACE + GRACE_SECONDS


def turn_seconds(match: Match) -> float:
    return float(match.timers.get("turn_seconds", TURN_SECONDS))


def _extension_seconds(match: Match) -> float:
    return float(match.timers.get("extension_seconds", EXTENSION_SECONDS))


def _row(event: GameEvent, now: datetime, answered: OpenTurn | None, on_page: OnPage | None) -> Row:
    turn = answered if event.kind in ("move", "abandoned") else None
    page = on_page if event.kind == "move" else None
    warned = turn.warned if turn and event.kind == "move" else ()
    return Row(
        number=event.number,
        kind=event.kind,
        role=event.data.get("role") or "",
        data=dict(event.data),
        at=now,
        asked_at=turn.opened_at if turn else None,
        shown_at=turn.shown_at if turn else None,
        refused=turn.refused if turn else 0,
        sight=page.sight if page else None,
        tries=(page.tries or None) if page else None,
        warned={"shown": list(warned), "confirmed": bool(page and page.confirmed)} if warned else None,
    )
