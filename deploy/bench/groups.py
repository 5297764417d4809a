"""People who play sealed rounds in groups: how soon everyone sees a round's end."""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import time
from collections.abc import Sequence

from deploy.bench.kit import Table, quantile, stack_on
from tests import players
from tests.lobby_crowd import launch_contest

TABLE_SIZE, ROUNDS = 10, 15
PATIENCE = 60.0


def report(options: argparse.Namespace) -> None:
    """Print a row for each database, with one web process per core."""
    table = Table(f"database|rounds of {TABLE_SIZE} people, pages|from the last move to the new page: p50 ms|p95 ms")
    for database in options.database:
        with stack_on(database, os.cpu_count() or 1) as (stack, _pids):
            times = []
            for number in range(options.tables):
                slug = launch_contest(stack, f"round-{number}", TABLE_SIZE, runs=ROUNDS)
                paths = [stack.call("tests.meeting.reach_lobby", slug) for _person in range(TABLE_SIZE)]
                times += asyncio.run(_table_times(stack.url, paths))
            table.row(database, len(times), *(1000 * quantile(times, share) for share in (0.5, 0.95)))


async def _table_times(url: str, paths: Sequence[str]) -> list[float]:
    """Return the seconds from each round's last move to each person's new page."""

    async def person(path: str) -> tuple[list[float], list[float]]:
        seen, moved = [], []
        async with players.opened(url, path, PATIENCE) as page:
            async for frame in page.screens():
                seen.append(time.monotonic())
                if not frame["over"]:
                    await page.think(random.uniform(0, 0.6))
                    moved.append(time.monotonic())
                    await page.move(frame["answering"], answer=str(random.randint(0, 100)))
        return seen[1:], moved

    pages, moves = zip(*await asyncio.gather(*map(person, paths)), strict=True)
    rounds = zip(map(max, zip(*moves, strict=True)), zip(*pages, strict=True), strict=True)
    return [page - last_move for last_move, shown in rounds for page in shown]
