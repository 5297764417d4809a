"""When our server was unavailable, and how deadlines are extended by that.

A deadline counts only time in which a participant could be served. Web processes write one heartbeat
(`uptime.heartbeat`); a gap of more than `GAP` between two heartbeats is an outage. Without any heartbeat, as in tests
and on a machine without a web server, everything counts as served.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from uptime.models import Heartbeat, Outage

GAP = timedelta(seconds=3)
"""A longer gap between two heartbeats is an outage."""
SPARE_AFTER = timedelta(seconds=0.7)
"""A process spares its heartbeat if another has sent one within this time."""
MEMORY_SECONDS = 1.0
"""How old a process's memory of heartbeat and outages may be."""
MOST_REMEMBERED = 1000
"""A process remembers this many of the latest outages."""
MISSED_CONTACTS = timedelta(seconds=15)
"""A page heard from this long before an outage may have been open when it began."""

Interval = tuple[datetime, datetime]


@dataclass(frozen=True)
class Uptime:
    """When participants could be served, as seen at the time `now`.

    Attributes:
        beat_at: the last heartbeat; None if there was none, so that everything counts as served.
        gaps: the outages in order; one that is going on ends now.
    """

    now: datetime
    beat_at: datetime | None = None
    gaps: tuple[Interval, ...] = ()

    def extended(self, start: datetime, deadline: datetime) -> datetime:
        """Return a deadline that was set at `start`, extended by the outages since."""
        for began_at, ended_at in self.gaps:
            if began_at >= deadline:
                break
            deadline += max(timedelta(), ended_at - max(began_at, start))
        return deadline

    def has_passed(self, limit: datetime) -> bool:
        """Return whether participants could be served at this time or after it."""
        return limit <= (self.beat_at or self.now)

    def served(self, start: datetime, end: datetime) -> timedelta:
        """Return for how much of this time participants could be served."""
        lost = sum((min(end, ended) - max(start, began) for began, ended in self.touching(start, end)), timedelta())
        return max(timedelta(), end - start - lost)

    def touching(self, start: datetime, end: datetime) -> list[Interval]:
        """Return the outages that overlap this time."""
        return [(began_at, ended_at) for began_at, ended_at in self.gaps if began_at < end and ended_at > start]

    def lost(self, last_seen_at: datetime) -> bool:
        """Return whether a page last heard from then was lost in an outage: it was open when the outage began."""
        return any(
            began_at <= last_seen_at + MISSED_CONTACTS and ended_at > last_seen_at for began_at, ended_at in self.gaps
        )


@dataclass(frozen=True)
class _Memory:
    """What was read at `read_at` (monotonic seconds): the last heartbeat, and the outages in order."""

    read_at: float
    beat_at: datetime | None
    outages: tuple[Interval, ...]


_memory: _Memory | None = None
_everything_is_served = False


def beat() -> None:
    """Record that a web process can serve participants now; a gap since the last heartbeat becomes an outage.

    The time is taken before the database is asked: a write that hangs tells of the moment at which it began.
    """
    global _memory
    now = timezone.now()
    memory = _remember()
    if memory.beat_at is not None and now - memory.beat_at <= GAP:  # there was no outage, and no lock is needed
        if now - memory.beat_at >= SPARE_AFTER:
            Heartbeat.objects.filter(pk=Heartbeat.ONLY, at__lt=now).update(at=now)
            _memory = replace(memory, beat_at=now)
        return
    with transaction.atomic():
        heartbeat, is_first = Heartbeat.objects.select_for_update().get_or_create(
            pk=Heartbeat.ONLY, defaults={"at": now}
        )
        if is_first or now <= heartbeat.at:
            return
        if now - heartbeat.at > GAP:
            Outage.objects.create(began_at=heartbeat.at, ended_at=now)
        Heartbeat.objects.filter(pk=Heartbeat.ONLY).update(at=now)
    _remember()


def uptime(now: datetime | None = None) -> Uptime:
    """Return when participants could be served, as seen now."""
    now = now or timezone.now()
    if _everything_is_served:
        return Uptime(now)
    memory = _recent()
    gaps = memory.outages
    if memory.beat_at is not None and now - memory.beat_at > GAP:
        gaps = (*gaps, (memory.beat_at, now))
    return Uptime(now, memory.beat_at, gaps)


@contextmanager
def without_outages() -> Iterator[None]:
    """Count everything as served in this process: for simulated participants, who need no server."""
    global _everything_is_served
    before, _everything_is_served = _everything_is_served, True
    try:
        yield
    finally:
        _everything_is_served = before


def has_passed(start: datetime, deadline: datetime) -> bool:
    """Return whether a deadline that was set at `start` has passed while participants could be served."""
    seen = uptime()
    return seen.has_passed(seen.extended(start, deadline))


def forget() -> None:
    """Read heartbeat and outages again at the next question."""
    global _memory
    _memory = None


def _recent() -> _Memory:
    """Return the memory, read again if it is too old."""
    if _memory is None or time.monotonic() - _memory.read_at > MEMORY_SECONDS:
        return _remember()
    return _memory


def _remember() -> _Memory:
    """Read the heartbeat and, if there was an outage since, the outages."""
    global _memory
    read_at, before = time.monotonic(), _memory
    beat_at = Heartbeat.objects.filter(pk=Heartbeat.ONLY).values_list("at", flat=True).first()
    if beat_at is None:
        gaps: tuple[tuple[datetime, datetime], ...] = ()
    elif before is not None and before.beat_at is not None and beat_at - before.beat_at <= GAP:
        gaps = before.outages
    else:
        gaps = _read_outages()
    _memory = _Memory(read_at, beat_at, gaps)
    return _memory


def _read_outages() -> tuple[Interval, ...]:
    newest_first = Outage.objects.order_by("-ended_at").values_list("began_at", "ended_at")[:MOST_REMEMBERED]
    return tuple(reversed(newest_first))
