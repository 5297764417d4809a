"""Threads that write to the database for event loops, and wait while it is unavailable."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError, close_old_connections, connections

OUTAGE_ERRORS = (OperationalError, InterfaceError)
"""Errors of a database that is restarting, unreachable or too busy."""
FIRST_WAIT, LONGEST_WAIT = 0.2, 3.0
"""Seconds between two attempts."""
T = TypeVar("T")
log = logging.getLogger(__name__)


class Writers:
    """A few threads, each with its own database connection.

    Args:
        name: prefix of the threads' names.
        threads: how many.
    """

    def __init__(self, name: str, threads: int):
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)

    async def do(self, function: Callable[..., T], *arguments: Any, **keywords: Any) -> T:
        """Run a function that uses the database, and return its result or raise its exception."""

        def run() -> T:
            try:
                return function(*arguments, **keywords)
            except Exception:
                close_old_connections()
                raise

        return await asyncio.get_running_loop().run_in_executor(self._pool, run)

    async def retry(self, function: Callable[..., T], *arguments: Any, **keywords: Any) -> T:
        """Like `do`, but retry while the database is unavailable, for what must not be lost.

        The function must be a transaction, so that a failed attempt changes nothing.
        """
        wait = FIRST_WAIT
        while True:
            try:
                return await self.do(function, *arguments, **keywords)
            except OUTAGE_ERRORS as error:
                if wait == FIRST_WAIT:
                    log.warning("the database is unavailable (%s): the write is retried", type(error).__name__)
            await asyncio.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)

    def close(self) -> None:
        """Close the connections and end the threads."""
        barrier = threading.Barrier(self._threads)

        def close_connection() -> None:
            barrier.wait(timeout=30)
            connections.close_all()

        for _thread in range(self._threads):
            self._pool.submit(close_connection)
        self._pool.shutdown()
