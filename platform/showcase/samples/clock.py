"""A clock for simulated participants, so that the services write down plausible times although nobody waits."""

from __future__ import annotations

import heapq
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, tzinfo
from itertools import count
from unittest import mock

from django.utils import timezone

from uptime.services import without_outages

Walk = Generator[float, None, None]
"""What somebody does, one action after the other: yields the seconds until the next."""


class Clock:
    """A clock that stands until it is moved.

    Attributes:
        at: the time it shows.
    """

    def __init__(self, at: datetime):
        self.at = at

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let this process read this clock wherever it asks for the time, also in defaults of the models.

        Django's `timezone.now` asks `datetime` in its own module, the one place through which every row gets its time.
        """
        clock = self

        class OnlyInstances(type):
            def __instancecheck__(cls, instance: object) -> bool:
                return isinstance(instance, datetime)

        class Simulated(datetime, metaclass=OnlyInstances):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
                return clock.at.astimezone(tz)

        with mock.patch.object(timezone, "datetime", Simulated), without_outages():
            yield

    def run(self, walks: Iterable[tuple[datetime, Walk]]) -> None:
        """Let everybody act in the order of time, from the moment at which each begins."""
        tie = count()
        waiting = [(begins, next(tie), walk) for begins, walk in walks]
        heapq.heapify(waiting)
        while waiting:
            at, _tie, walk = heapq.heappop(waiting)
            self.at = max(self.at, at)
            try:
                seconds = next(walk)
            except StopIteration:
                continue
            heapq.heappush(waiting, (self.at + timedelta(seconds=seconds), next(tie), walk))
