"""Places for the agents that a driver asks at once, and how many matches keep them all taken."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from llm_agents.limits import Limit

MEMORY = 0.98
"""What is left of a measured time's weight after each further request."""
NEGLIGIBLE = 0.02
"""A share of time between requests for which no further match is worth beginning."""
MARGIN = 2.0
"""Matches in progress beyond the places, for each that does not ask at a given time: they do not take turns evenly."""


class Places:
    """A match has a place only while an agent of its is asked, and none while it is written.

    Other matches ask meanwhile: as many more are in progress as the measured times call for. So nobody waits long for
    a place if models are slow, and fast models are kept busy.

    Args:
        number: returns how many places there are now.
    """

    def __init__(self, number: Callable[[], int]):
        self._number = number
        self._places, self._limit = number(), Limit(number(), None)
        self._asking = self._between = 0.0

    @property
    def matches(self) -> int:
        """How many matches should be in progress now."""
        number = self._number()
        share = self._between / self._asking if self._asking else 0.0
        return number + max(0, min(number + 2, math.ceil(MARGIN * number * (share - NEGLIGIBLE))))

    def for_match(self) -> Callable[[], AbstractAsyncContextManager[None]]:
        """Return what gives a match that begins now a place for one request."""
        last_end: float | None = time.monotonic()

        @asynccontextmanager
        async def place() -> AsyncIterator[None]:
            nonlocal last_end
            between = 0.0 if last_end is None else time.monotonic() - last_end
            last_end = None
            async with self._limit_now().slot():
                begun_at = time.monotonic()
                try:
                    yield
                finally:
                    last_end = time.monotonic()
                    self._between = MEMORY * self._between + between
                    self._asking = MEMORY * self._asking + last_end - begun_at

        return place

    def _limit_now(self) -> Limit:
        if self._places != self._number():
            self._places, self._limit = self._number(), Limit(self._number(), None)
        return self._limit
