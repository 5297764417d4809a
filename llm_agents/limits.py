"""Limits on an endpoint's calls in each event loop: how many are in flight and how many start per minute."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from llm_agents.endpoints import Endpoint
from llm_agents.errors import TimedOut
from llm_agents.per_loop import PerLoop

MINUTE = 60.0
NO_SLOT = "The endpoint had no free slot for another call in time."


class Limit:
    """Slots for calls, given in the order of requests.

    Args:
        concurrency: calls in flight.
        per_minute: calls that start within any `minute` seconds; None: no limit.
    """

    def __init__(self, concurrency: int, per_minute: int | None, *, minute: float = MINUTE):
        self._slots = asyncio.Semaphore(concurrency)
        self._starts: deque[float] = deque(maxlen=per_minute or 0)
        self._per_minute, self._minute = per_minute, minute

    @asynccontextmanager
    async def slot(self, deadline: float | None = None) -> AsyncIterator[None]:
        """Hold a slot for one call.

        Args:
            deadline: when to stop waiting, by `time.monotonic`.

        Raises:
            TimedOut: there was no free slot before the deadline.
        """
        try:
            async with asyncio.timeout(None if deadline is None else max(0.0, deadline - time.monotonic())):
                await self._slots.acquire()
        except TimeoutError:
            raise TimedOut(NO_SLOT) from None
        try:
            await self._wait_for_start(deadline)
            yield
        finally:
            self._slots.release()

    async def _wait_for_start(self, deadline: float | None) -> None:
        if self._per_minute is None:
            return
        now = time.monotonic()
        start = max(now, self._starts[0] + self._minute) if len(self._starts) == self._per_minute else now
        if deadline is not None and start > deadline:
            raise TimedOut(NO_SLOT)
        # Taken before the wait, so that the next caller waits for the start after this one.
        self._starts.append(start)
        await asyncio.sleep(start - now)


_limits = PerLoop[Limit]()


def limit_of(endpoint: Endpoint) -> Limit:
    """Return the running event loop's limit for an endpoint; a new one if the endpoint's limits have changed."""
    allowed = (endpoint.concurrency, endpoint.per_minute)
    return _limits.get(endpoint.name, allowed, lambda: Limit(*allowed))
