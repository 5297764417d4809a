"""People who go from the link to the first page of the game, again and again without a pause.

With oTree set up (deploy/setup/otree.sh), the same number of people go through as many pages of forms in oTree in the
same run. What counts is the ratio.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from typing import Any

import httpx

from deploy.bench import peer
from deploy.bench.kit import STUDY, Measured, Table, memory, stack_on
from tests import players

PEOPLE = 50
WARM_UP = 5.0
"""Seconds in which people come before the measurement, while servers still load code and connect."""


def report(options: argparse.Namespace) -> None:
    """Print a row for each database and number of web processes, and one for oTree."""
    table = Table(f"{PEOPLE} people entering|web processes|submits/s|p50 ms|p95 ms|web memory MB|errors")

    def row(name: str, processes: int, server: players.Server, pid: int) -> None:
        measured = asyncio.run(_measure(server, options.seconds))
        cells = [measured.rate, *measured.milliseconds(0.5, 0.95), memory(pid)]
        table.row(name, processes, *cells, errors=measured.errors)

    for database in options.database:
        for processes in sorted({1, os.cpu_count() or 1}):
            with stack_on(database, processes) as (stack, pids):
                row(database, processes, players.Server(stack.url, f"/join/{STUDY}/"), pids["web"])
        if peer.is_set_up():
            with peer.serving(database) as (server, _database):
                row(f"oTree, {database}", 1, server, server.pids["oTree"])


async def _measure(server: players.Server, seconds: float) -> Measured:
    """Measure the seconds of every submit up to the next page."""
    measured = Measured.next(seconds, after=WARM_UP)

    class Browser(httpx.AsyncClient):
        async def request(self, *positional: Any, **options: Any) -> httpx.Response:
            started_at = time.monotonic()
            page = await super().request(*positional, **options)
            measured.add(time.monotonic() - started_at)
            return page

    async def person() -> None:
        async with Browser(base_url=server.url, timeout=60, verify=False) as client:
            await server.enter(client, server.join)

    await measured.repeat(PEOPLE, person)
    return measured
