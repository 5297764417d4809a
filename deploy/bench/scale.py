"""Several web processes and workers on one database: what a move costs, and how many connections they take.

People play against a script that thinks for a moment, so that each of its moves is a worker's task. All share this
machine's cores: what counts is the CPU time of a move, not moves per second.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from functools import partial

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
            counts = [0]
            beside = partial(_count_connections, stack, counts)
            measured = asyncio.run(players.run(stack.url, f"/join/{SLUG}/", **size, pids=pids, beside=beside))
            cells = [*measured.moving(0.5, 0.95), measured.cost, max(counts)]
            table.row(number, *cells, errors=measured.errors)


async def _count_connections(stack: Stack, counts: list[int], measured: Measured) -> None:
    while time.monotonic() < measured.until:
        counts.append(await asyncio.to_thread(stack.call, "deploy.bench.study.connections"))
        await asyncio.sleep(1)
