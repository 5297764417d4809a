"""Waiting times: open turns now, and recent response times of participants and models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from statistics import median
from typing import Any

from django.utils import timezone

from matches import turns
from matches.models import Event, Match, Seat
from opponents.health import percentile
from opponents.models import Call
from studies.models import Study
from uptime.services import Uptime, uptime

RECENT_PERIOD = timedelta(minutes=15)
MAX_TIMED = 2_000
"""Response times cover at most this many of the latest answers within `RECENT_PERIOD`."""
MAX_LISTED = 12
SLOW_AGENT = 60.0
"""Seconds after which an agent's open turn is marked as late."""
BAR_LIMITS = (1, 2, 5, 10, 20, 40, 80, 160)
"""Upper bounds of the histogram's bars in seconds; the last bar is open-ended."""


@dataclass(frozen=True)
class WaitingTimes:
    """The open turns of participants or agents: their number and age in seconds."""

    number: int
    median: float
    longest: float


@dataclass(frozen=True)
class LiveMatch:
    """A live match and how long it has been waiting for a player.

    Attributes:
        late: the turn is past its deadline, or a model's answer is long overdue.
    """

    pk: int
    uid: str
    role: str
    by_agent: bool
    seconds: float
    late: bool
    pseudonym: str = ""
    enrolment: int | None = None
    agent: str = ""


@dataclass(frozen=True)
class LiveMatches:
    """All live matches, and those waiting longest."""

    number: int
    people: WaitingTimes
    agents: WaitingTimes
    longest: list[LiveMatch]


@dataclass(frozen=True)
class Latency:
    """Recent response times in seconds; `bars` counts them between `BAR_LIMITS`."""

    number: int
    p50: float | None
    p95: float | None
    bars: tuple[int, ...]


def budget_of(study: Study) -> str:
    """Return the budget name of a study's matches and calls."""
    return f"study:{study.slug}"


def live_of(study: Study) -> LiveMatches:
    """Return the study's live matches, with two queries."""
    seen = uptime()
    rows = Match.objects.filter(status=Match.Status.LIVE, budget_of=budget_of(study)).order_by()
    waiting: list[LiveMatch] = []
    number = 0
    for pk, uid, stored_turns in rows.values_list("pk", "uid", "turns"):
        number += 1
        waiting += [_waiting(pk, str(uid), turn, seen) for turn in turns.load(stored_turns).values()]
    waiting.sort(key=lambda match: (not match.late, -match.seconds))
    return LiveMatches(
        number=number,
        people=_waiting_times([match.seconds for match in waiting if not match.by_agent]),
        agents=_waiting_times([match.seconds for match in waiting if match.by_agent]),
        longest=_with_participants(waiting[:MAX_LISTED]),
    )


def _waiting(pk: int, uid: str, turn: turns.OpenTurn, seen: Uptime) -> LiveMatch:
    seconds = max(0.0, (seen.now - turn.opened_at).total_seconds())
    is_late = seen.now > turn.limit(seen) or (turn.by_agent and seconds > SLOW_AGENT)
    return LiveMatch(pk, uid, turn.role, turn.by_agent, seconds, is_late)


def _waiting_times(seconds: Sequence[float]) -> WaitingTimes:
    return WaitingTimes(len(seconds), median(seconds) if seconds else 0.0, max(seconds, default=0.0))


def _with_participants(listed: Sequence[LiveMatch]) -> list[LiveMatch]:
    """Add the participant and the awaited agent to the listed matches."""
    seats: dict[int, list[Any]] = {}
    rows = Seat.objects.filter(match__in={match.pk for match in listed}).order_by("pk")
    for row in rows.values_list("match", "role", "agent", "enrolment", "enrolment__pseudonym"):
        seats.setdefault(row[0], []).append(row)
    completed_matches = []
    for match in listed:
        match_seats = seats.get(match.pk, [])
        agent = next((row[2] for row in match_seats if row[1] == match.role), "")
        people = sorted((row for row in match_seats if row[3]), key=lambda row: row[1] != match.role)
        enrolment, pseudonym = (people[0][3], people[0][4]) if people else (None, "")
        completed_matches.append(replace(match, pseudonym=pseudonym, enrolment=enrolment, agent=agent))
    return completed_matches


def people_latency(study: Study) -> Latency:
    """Return participants' response times, from the display of a turn to the answer."""
    moves = Event.objects.filter(
        shown_at__isnull=False, at__gte=timezone.now() - RECENT_PERIOD, match__budget_of=budget_of(study)
    )
    rows = moves.order_by("-at").values_list("shown_at", "at")[:MAX_TIMED]
    return _latency([(at - shown_at).total_seconds() for shown_at, at in rows if shown_at is not None])


def models_latency(study: Study) -> Latency:
    """Return models' response times; calls without an answer are not counted."""
    calls = Call.objects.filter(
        budget_of=budget_of(study), at__gte=timezone.now() - RECENT_PERIOD, latency__isnull=False
    )
    rows = calls.exclude(outcome=Call.Outcome.FAILED).order_by("-at").values_list("latency", flat=True)[:MAX_TIMED]
    return _latency([latency for latency in rows if latency is not None])


def _latency(seconds: list[float]) -> Latency:
    ordered = sorted(max(0.0, second) for second in seconds)
    bars = [0] * (len(BAR_LIMITS) + 1)
    for second in ordered:
        bars[next((index for index, limit in enumerate(BAR_LIMITS) if second < limit), len(BAR_LIMITS))] += 1
    return Latency(len(ordered), percentile(ordered, 50), percentile(ordered, 95), tuple(bars))
