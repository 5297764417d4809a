"""How web processes that accept from one socket share its connections: none takes more than its share at once.

Whichever process wakes first would take everything, often the one with nothing to do but to accept, and the people
that it took stay with it. Each process therefore tells the others how many connections it has, and leaves new ones to
those with fewer. What they have not taken within a moment it takes itself, so nobody waits for a process that hangs.
"""

from __future__ import annotations

import asyncio
import logging
import mmap
import socket
from typing import Any

import uvicorn

COUNT_BYTES = 4
NOT_ACCEPTING = 2 ** (8 * COUNT_BYTES) - 1
"""In place of the number of connections of a process that starts or has ended."""
SHARE, SLACK = 1.1, 4
"""A process takes up to SHARE times the fewest connections of a process, and SLACK more."""
STEP_SECONDS, PATIENCE_SECONDS = 0.002, 0.05
"""How often a process with more than its share looks whether somebody still waits, and after which time it takes
SLACK more."""
PAUSE_SECONDS = 1.0
"""How long a process that cannot open another connection waits."""
log = logging.getLogger("parley.web")


def shared_counts(file: int) -> memoryview:
    """Return the number of connections of each process: the open file's content, which every process may change."""
    return memoryview(mmap.mmap(file, 0)).cast("I")


class SharingServer(uvicorn.Server):
    """A server for connections of a listening socket that other processes accept from, too.

    Args:
        counts: see `shared_counts`.
        number: this process's place in `counts`.
    """

    def __init__(self, config: uvicorn.Config, listener: socket.socket, counts: memoryview, number: int) -> None:
        super().__init__(config)
        self._listener = listener
        self._counts = counts
        self._number = number
        self._opening: set[asyncio.Task[Any]] = set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=[])
        self._loop = asyncio.get_running_loop()
        self._listener.setblocking(False)
        self._tell()
        self._loop.add_reader(self._listener, self._accept)

    async def on_tick(self, counter: int) -> bool:
        self._tell()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop.remove_reader(self._listener)
        self._listener.close()
        self._counts[self._number] = NOT_ACCEPTING
        await super().shutdown(sockets)

    def _tell(self) -> int:
        """Tell the other processes how many connections this one has, and return it."""
        self._counts[self._number] = own = len(self.server_state.connections) + len(self._opening)
        return own

    def _accept(self) -> None:
        """Take the connections that wait, up to this process's share, and leave the others a moment for the rest."""
        if pause := self._take(SHARE * min(self._counts) + SLACK):
            self._loop.remove_reader(self._listener)
            self._loop.call_later(pause, self._look_again, pause)

    def _look_again(self, waited: float) -> None:
        """Take also what the others have left for PATIENCE_SECONDS."""
        if self.should_exit:
            return
        limit = SHARE * min(self._counts) + SLACK
        if waited > PATIENCE_SECONDS:
            limit, waited = max(limit, self._tell() + SLACK), 0.0
        if pause := self._take(limit):
            self._loop.call_later(pause, self._look_again, waited + pause)
        else:
            self._loop.add_reader(self._listener, self._accept)

    def _take(self, limit: float) -> float:
        """Take connections until this process has as many as the limit.

        Return after how many seconds to look again; 0.0 if no connection waits.
        """
        while self._tell() < limit:
            try:
                connection, _address = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return 0.0
            except OSError as error:  # too many open files
                log.error("cannot accept a connection: %s", error.strerror)
                return PAUSE_SECONDS
            connection.setblocking(False)
            opening = self._loop.create_task(self._loop.connect_accepted_socket(self._protocol, connection))
            self._opening.add(opening)
            opening.add_done_callback(self._opening.discard)
        return STEP_SECONDS

    def _protocol(self) -> asyncio.Protocol:
        make: Any = self.config.http_protocol_class
        return make(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)  # type: ignore[no-any-return]
