"""Matches of people against a script: how soon it answers, CPU per move by process, and memory.

The time is from sending an offer to the opponent's counter-offer on the socket.
"""

from __future__ import annotations

import argparse
import asyncio
import os

from deploy.bench.kit import STUDY, Table, memory, stack_on
from tests import players

JOIN = f"/join/{STUDY}/"
HURRIED = (40, 0.25)  # people, and seconds that they think: a socket may send five messages a second


def report(options: argparse.Namespace) -> None:
    """Print a row for each database and number of participants."""
    table = Table("database|workers|thinking|moves/s|p50 ms|p95 ms|p99 ms|CPU ms per move|memory MB|errors")
    for database in options.database:
        with stack_on(database) as (stack, pids):
            for number, thinking in [*((number, options.thinking) for number in options.workers), HURRIED]:
                size = {"workers": number, "thinking": thinking, "seconds": options.seconds}
                measured = asyncio.run(players.run(stack.url, JOIN, **size, pids={**pids, "client": os.getpid()}))
                costs = [measured.cost, memory(*pids.values())]
                table.row(
                    database,
                    number,
                    f"{thinking:g} s",
                    *measured.moving(0.5, 0.95, 0.99),
                    *costs,
                    errors=measured.errors,
                )
