"""Threads that write what event loops have decided, and that wait for a database which is away."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError, close_old_connections, connections

OUTAGE_ERRORS = (OperationalError, InterfaceError)
"""What a database says that is restarting, or cannot be reached, or is too busy."""
FIRST_WAIT, LONGEST_WAIT = 0.2, 3.0
"""Seconds between two attempts to write."""
T = TypeVar("T")
log = logging.getLogger(__name__)


class Writers:
    """A few threads, each with a connection of its own.

    Args:
        name: of the threads.
        threads: how many.
    """

    def __init__(self, name: str, threads: int):
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)

    async def do(self, function: Callable[..., T], *positional: Any, **named: Any) -> T:
        """Do what talks to the database; whatever it raises is raised here."""

        def run() -> T:
            try:
                return function(*positional, **named)
            except Exception:
                close_old_connections()
                raise

        return await asyncio.get_running_loop().run_in_executor(self._pool, run)

    async def insist(self, function: Callable[..., T], *positional: Any, **named: Any) -> T:
        """`do`, again and again while the database is unavailable: for what would be lost otherwise.

        The function is a transaction: an attempt that failed has changed nothing.
        """
        wait = FIRST_WAIT
        while True:
            try:
                return await self.do(function, *positional, **named)
            except OUTAGE_ERRORS as error:
                if wait == FIRST_WAIT:
                    log.warning(
                        "the database is unavailable (%s): what was decided is written later", type(error).__name__
                    )
            await asyncio.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)

    def close(self) -> None:
        """End the threads, each having closed its connection."""
        together = threading.Barrier(self._threads)

        def hang_up() -> None:
            together.wait(timeout=30)
            connections.close_all()

        for _thread in range(self._threads):
            self._pool.submit(hang_up)
        self._pool.shutdown()
