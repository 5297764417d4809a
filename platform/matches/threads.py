"""The few threads in which a web process does the database work of its pages' sockets."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from django.db import close_old_connections

T = TypeVar("T")


class Threads:
    """Threads with persistent database connections; they do urgent work first, the rest in order.

    Attributes:
        ended: how much work has ended.
    """

    def __init__(self, number: int):
        self.executor = ThreadPoolExecutor(number, thread_name_prefix="play")
        self.ended = 0
        self._urgent, self._waiting = deque[Callable[[], None]](), deque[Callable[[], None]]()

    def run(self, function: Callable[[], T], *, urgent: bool = False) -> asyncio.Future[T]:
        """Return the result of a call outside the event loop, whose own `run_in_executor` costs it twice as much."""
        loop = asyncio.get_running_loop()
        result: asyncio.Future[T] = loop.create_future()

        def work() -> None:
            try:
                close_old_connections()
                settle = partial(result.set_result, function())
            except BaseException as error:  # noqa: BLE001  (whoever waits for the result handles it)
                settle = partial(result.set_exception, error)
            loop.call_soon_threadsafe(end, settle)

        def end(settle: Callable[[], None]) -> None:
            self.ended += 1
            if not result.done():
                settle()

        (self._urgent if urgent else self._waiting).append(work)
        self.executor.submit(self._work_next)
        return result

    def _work_next(self) -> None:
        try:
            work = self._urgent.popleft()
        except IndexError:
            work = self._waiting.popleft()
        work()
