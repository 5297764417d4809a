"""Groups of people: how they meet although services are killed, and how soon everyone sees a sealed round's end."""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import time
from collections.abc import Sequence

from deploy.bench import lobby, workers
from deploy.bench.kit import Table, quantile, stack_on

TABLE_SIZE, ROUNDS = 10, 15
PATIENCE = 60.0


def report(options: argparse.Namespace) -> None:
    """Print a row for the lobby and one for sealed rounds, for each database, with one web process per core."""
    table = Table("database|people in groups|")
    for database in options.database:
        with stack_on(database, os.cpu_count() or 1) as (stack, _pids):
            table.row(database, *lobby.measure(stack, lobby.Size(options.groups)))
            times = []
            for number in range(options.tables):
                slug = lobby.launch_contest(stack, f"round-{number}", TABLE_SIZE, runs=ROUNDS)
                paths = [stack.call("tests.meeting.reach_lobby", slug) for _person in range(TABLE_SIZE)]
                times += asyncio.run(_table_times(stack.url, paths))
            p50, p95 = (1000 * quantile(times, share) for share in (0.5, 0.95))
            cells = f"{len(times)} pages; from the last move to the new page: p50 {p50:.0f} ms, p95 {p95:.0f} ms"
            table.row(database, f"sealed rounds of {TABLE_SIZE} people", cells)


async def _table_times(url: str, paths: Sequence[str]) -> list[float]:
    """Return the seconds from each round's last move to each person's new page."""
    shown: list[list[float]] = []
    sent: list[list[float]] = []

    async def person(path: str) -> None:
        seen, moved = [], []
        async with workers.socket_of(url, path) as socket:
            async for frame in workers.screens(socket, PATIENCE):
                seen.append(time.monotonic())
                if not frame["over"]:
                    await asyncio.sleep(random.uniform(0, 0.6))
                    moved.append(time.monotonic())
                    await workers.move(socket, frame["answering"], answer=str(random.randint(0, 100)))
        shown.append(seen)
        sent.append(moved)

    await asyncio.gather(*map(person, paths))
    last_moves = map(max, zip(*sent, strict=True))
    next_pages = zip(*(seen[1:] for seen in shown), strict=True)
    return [page - last for last, pages in zip(last_moves, next_pages, strict=True) for page in pages]
