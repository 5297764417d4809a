"""Several web processes and workers on one database: what a move costs, and how many connections they take.

People play against a script that thinks for a moment, so that each of its moves is a worker's task. All share this
machine's cores: what counts is the CPU time of a move, not moves per second.
"""

from __future__ import annotations

import argparse
import asyncio
import time

from config.supervisor import Stack
from deploy.bench.kit import Measured, Table, stack_on
from tests import players

SLUG, PEOPLE = "scaled", 60
DELAYED = {"script": {"script": "fair", "delay": 0.05}}


def report(options: argparse.Namespace) -> None:
    """Print a row for one pair of web process and worker, and one for two, on durable PostgreSQL, again and again."""
    table = Table("web processes, and as many workers|moves/s|p50 ms|p95 ms|CPU ms per move|connections|errors")
    for number in options.pairs:
        with stack_on("postgres", web_processes=number, workers=number) as (stack, pids):
            stack.call("tests.actions.launch_endless", SLUG, DELAYED)
            size = {"workers": PEOPLE, "thinking": options.thinking, "seconds": options.seconds}
            counting = _Connections(stack)
            measured = asyncio.run(players.run(stack.url, f"/join/{SLUG}/", **size, pids=pids, beside=counting.watch))
            cells = [measured.moves / measured.seconds, *measured.milliseconds(0.5, 0.95), measured.cost]
            table.row(number, *cells, counting.most, errors=measured.errors)


class _Connections:
    """The largest number of the database's connections, looked at once a second."""

    def __init__(self, stack: Stack):
        self.stack, self.most = stack, 0

    async def watch(self, measured: Measured) -> None:
        while time.monotonic() < measured.until:
            now = await asyncio.to_thread(self.stack.call, "deploy.bench.study.connections")
            self.most = max(self.most, now)
            await asyncio.sleep(1)
