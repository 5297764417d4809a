"""One change of a match under its lock: what the rules decide, written together and then announced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

import games.play
from games.interface import Event as GameEvent
from games.interface import MoveData, Role
from matches import announce
from matches.absences import is_away, is_lost
from matches.bulk import Row, write_events
from matches.models import Match
from matches.turns import OpenTurn, dump
from opponents.agent_settings import GRACE_SECONDS
from opponents.agents import Agent

TURN_SECONDS = 180
EXTENSION_SECONDS = 60
SLOWEST_PACE = 25.0
"""The longest delay, in seconds, of an answer that appears at a human pace."""
REQUEUE_SECONDS = 4
"""How long an agent's turn may go without a lease before it is queued again."""


class Change:
    """A change of a match between taking its lock and the commit. Nothing is written before `write`."""

    def __init__(self, match: Match, play: games.play.Play, agents: Mapping[Role, Agent]):
        self.match = match
        self.play = play
        self.agents = agents
        self.turns: Mapping[Role, OpenTurn] = match.open_turns()
        self._turns_before = self.turns
        self._rows: list[Row] = []
        self._step_before, self._last_before = play.step, play.last
        self._clock_only = True
        self._extended: set[Role] = set()
        self._replaced: set[Role] = set()
        self._returned: set[Role] = set()
        self.absences = dict(match.absences)

    @classmethod
    def begin(cls, match_id: int) -> Change:
        """Lock the match's row, reading only the columns that changes need; call this in a transaction."""
        match = Match.objects.raw(_locking_query(), [match_id])[0]
        return cls(match, match.play(), match.agents())

    @classmethod
    def opening(
        cls, match: Match, play: games.play.Play, events: Iterable[GameEvent], agents: Mapping[Role, Agent]
    ) -> Change:
        """Return the first change of a match that has just been created: its first events."""
        change = cls(match, play, agents)
        change._follow(play, events)
        return change

    @property
    def moves(self) -> int:
        """Return how many moves this change makes."""
        return sum(row.kind == "move" for row in self._rows)

    def move(self, role: Role, move: MoveData, *, by: str | None = None, shown_at: datetime | None = None) -> None:
        """Make a move in an open turn under the rules.

        A move of a participant who was away means that they are back; an agent that took a participant's seat
        moves under its own name.

        Raises:
            Refused: nothing was changed.
        """
        if by is None and (seated_agent := self.absences.get(role, {}).get("agent")):
            by = seated_agent["spec"]
        elif by is None:
            self.welcome_back(role)
        next_play, events = games.play.submit(self.play, role, move, by=by)
        answered = self.turns[role]
        if answered.shown_at is None:
            answered = replace(answered, shown_at=shown_at)
        stays_open = not games.play.ends_turn(self.play, role, move)
        self._follow(next_play, events, answered=answered, clock_of=answered if stays_open else None)

    def abandon(self, reason: str, role: Role | None) -> None:
        """End the match without a result."""
        self._follow(*games.play.abandon(self.play, reason, role), answered=self.turns.get(role or ""))

    def extend(self, role: Role) -> None:
        """Give a turn its extra time."""
        deadline = timezone.now() + timedelta(seconds=extension_seconds(self.match))
        self.turns = {**self.turns, role: replace(self.turns[role], extended=True, deadline=deadline)}
        self._extended.add(role)

    def is_away(self, role: Role) -> bool:
        """Return whether the clock answers for this participant at once: they missed turns or have left."""
        return is_away(self.absences.get(role, {}))

    def move_by_clock(self, role: Role) -> None:
        """Let the clock move for a participant, and count its moves since they were last heard from."""
        absence = self.absences.get(role, {})
        self.absences[role] = {**absence, "missed": absence.get("missed", 0) + 1}
        self.move(role, self.play.game.default(self.play.state, role), by="clock")

    def welcome_back(self, role: Role) -> None:
        """Record that a participant who had missed turns is back."""
        if role in self.absences and not is_lost(self.absences[role]):
            del self.absences[role]
            self._returned.add(role)

    def mark_left(self, role: Role) -> None:
        """Record that a participant has left for good while the match continues: the clock now answers at once."""
        self.absences[role] = {**self.absences.get(role, {}), "gone": True}

    def seat_agent(self, role: Role, agent: Agent) -> None:
        """Give a participant's seat, with its open question, to an agent."""
        self.absences[role] = {"agent": agent.model_dump(mode="json")}
        self.agents = {**self.agents, role: agent}
        self._replaced.add(role)
        if role in self.turns:
            self.turns = {**self.turns, role: self._opened(role, timezone.now(), None)}

    def pause(self, role: Role, seconds: int) -> None:
        """Extend a turn by `seconds` while its player reports a problem."""
        turn = self.turns[role]
        deadline = turn.deadline + timedelta(seconds=seconds)
        self.turns = {**self.turns, role: replace(turn, paused=True, deadline=deadline)}

    def mark_shown(self, role: Role, shown_at: datetime) -> None:
        """Record when an open question was first shown to the participant."""
        self.turns = {**self.turns, role: replace(self.turns[role], shown_at=shown_at)}

    def count_refusal(self, role: Role) -> None:
        """Count a refused attempt at the role's move."""
        turn = self.turns[role]
        self.turns = {**self.turns, role: replace(turn, refused=turn.refused + 1)}

    def _follow(
        self,
        next_play: games.play.Play,
        events: Iterable[GameEvent],
        *,
        answered: OpenTurn | None = None,
        clock_of: OpenTurn | None = None,
    ) -> None:
        """Adopt the play after some events; `clock_of` is the turn whose clock keeps running (after a note)."""
        now = timezone.now()
        self._rows += [_row(event, now, answered) for event in events]
        self.play = next_play
        self.turns = {
            role: self.turns[role]
            if role in self.turns and self.turns[role].answering == next_play.opened[role]
            else self._opened(role, now, clock_of)
            for role in next_play.waiting_for()
        }
        self._clock_only = False

    def _opened(self, role: Role, now: datetime, clock_of: OpenTurn | None) -> OpenTurn:
        """Return the question now put to `role`."""
        answering = self.play.opened[role]
        if clock_of is not None and clock_of.role == role:
            return replace(clock_of, answering=answering, shown_at=None, refused=0)
        agent = self.agents.get(role)
        by_agent = agent is not None
        person_seconds = turn_seconds(self.match) * self.play.game.time_factor(self.play.state, role)
        seconds = person_seconds if agent is None else agent_seconds(agent)
        return OpenTurn(role, answering, by_agent, opened_at=now, deadline=now + timedelta(seconds=seconds))

    def write(self, *, quietly: bool = False) -> None:
        """Write events, snapshot and turns together; on commit, notify the pages and queue the agents.

        Args:
            quietly: notify nobody.
        """
        write_events(self.match.pk, self._rows)
        columns = self._columns()
        Match.objects.filter(pk=self.match.pk).update(**columns)
        for name, value in columns.items():
            setattr(self.match, name, value)
        if quietly or self.match.driven:
            return
        agent_turns = [
            turn for role, turn in self.turns.items() if turn.by_agent and turn is not self._turns_before.get(role)
        ]
        announce.when_committed(
            self.match,
            self.play,
            turns=agent_turns,
            frames_for=self._extended | self._returned
            if self.play.step == self._step_before and not self.play.over
            else None,
            marks_after=self._last_before if self._rows or self._players_changed() else None,
            replaced=self._replaced,
        )

    def _players_changed(self) -> bool:
        """Return whether pages have to show that someone else plays in a seat now."""
        return not self.match.blind and bool(self._replaced | self._returned)

    def _columns(self) -> dict[str, Any]:
        """Return the match's columns that follow from the play and its open turns."""
        now = timezone.now()
        waits_for_agent = any(turn.by_agent for turn in self.turns.values()) and not self.match.driven
        deadlines = [turn.deadline for turn in self.turns.values() if not self.match.driven]
        columns: dict[str, Any] = {
            "turns": dump(self.turns),
            "absences": self.absences,
            "deadline": min(deadlines, default=None),
            "requeue_at": now + timedelta(seconds=REQUEUE_SECONDS) if waits_for_agent else None,
        }
        if self._clock_only:
            return columns
        columns["snapshot"] = games.play.snapshot(self.play)
        if self.play.over:
            columns["status"] = Match.Status.ABANDONED if self.play.abandoned else Match.Status.FINISHED
            columns["ending"] = self.play.abandoned or "finished"
            columns["ended_at"] = now
        if self.play.finished:
            end = self._rows[-1].data
            columns["payoffs"], columns["metrics"] = end["payoffs"], end["metrics"]
        return columns


def _locking_query() -> str:
    """Return the SQL that locks and reads a match, cached: composing it takes a tenth of a move's time."""
    left_out = {"config", "texts", "payoffs", "metrics"}
    columns = ", ".join(field.column for field in Match._meta.concrete_fields if field.name not in left_out)
    lock = " FOR UPDATE" if connection.features.has_select_for_update else ""
    return f"SELECT {columns} FROM {Match._meta.db_table} WHERE id = %s{lock}"


def agent_seconds(agent: Agent) -> float:
    """Return how long an agent's turn may last before the clock acts."""
    return agent.settings.limit_seconds + agent.delay + SLOWEST_PACE + GRACE_SECONDS


def turn_seconds(match: Match) -> float:
    return float(match.timers.get("turn_seconds", TURN_SECONDS))


def extension_seconds(match: Match) -> float:
    return float(match.timers.get("extension_seconds", EXTENSION_SECONDS))


def _row(event: GameEvent, now: datetime, answered: OpenTurn | None) -> Row:
    turn = answered if event.kind in ("move", "abandoned") else None
    return Row(
        number=event.number,
        kind=event.kind,
        role=event.data.get("role") or "",
        data=dict(event.data),
        at=now,
        asked_at=turn.opened_at if turn else None,
        shown_at=turn.shown_at if turn else None,
        refused=turn.refused if turn else 0,
    )
