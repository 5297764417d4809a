"""Matches of people against a script, on one or several web processes with as many workers, and oTree beside them.

The time is from sending an offer to the opponent's counter-offer on the socket; at oTree, to the answer of a live page
that only stores a number. A script that thinks for a moment is a worker's task.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from deploy.bench import peer
from deploy.bench.history import ratios
from deploy.bench.kit import Table, count_connections, memory, stack_on
from tests import players

HEADINGS = "moves/s|p50 ms|p95 ms|p99 ms|moves per server's CPU s|CPU ms per move|connections|memory MB|errors"


def report(options: argparse.Namespace) -> None:
    """Print a row for each database, number of people and server; below it, the first server's ratios to this one."""
    others = ["oTree"] if not options.delay and peer.is_set_up() else []
    size = {"thinking": options.thinking, "seconds": options.seconds}
    table = Table(f"database|people|thinking|web processes, workers|{HEADINGS}")
    for database, people in itertools.product(options.database, options.workers):
        first: list[float] = []
        for name in [*options.pairs, *others]:
            serving = peer.serving(database) if name == "oTree" else _parley(database, name, options.delay)
            with serving as (server, address):
                beside = partial(count_connections, address) if address else None
                watched = server._replace(pids={**server.pids, "client": os.getpid()})
                measured = asyncio.run(players.run(watched, workers=people, **size, beside=beside))
                megabytes = memory(*server.pids.values())
            figures = [*measured.moving(0.5, 0.95, 0.99), measured.moves / measured.served]
            cells = [*figures, measured.cost, measured.connections, megabytes]
            table.row(database, people, f"{options.thinking:g} s", str(name), *cells, errors=measured.errors)
            if first:
                print(f"  {options.pairs[0]} / {name}: {ratios(first, figures)}", flush=True)
            first = first or figures


@contextmanager
def _parley(database: str, pairs: int, delay: float) -> Iterator[tuple[players.Server, str]]:
    with stack_on(database, pairs, pairs) as (stack, pids):
        opponent = {"script": {"script": "fair", "delay": delay}} if delay else "script:fair"
        stack.call("tests.actions.launch_endless", "played", opponent)
        yield players.Server(stack.url, "/join/played/", pids), stack.environment.get("DATABASE_URL", "")
