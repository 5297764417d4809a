"""Groups of people: how they meet although services are killed, and how soon everyone sees a sealed round's end."""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import time
from collections.abc import Sequence

from config.supervisor import Stack
from deploy.bench.kit import Table, quantile, stack_on
from tests import players
from tests.lobby_crowd import GROUP_SIZE, Size, launch_contest, meet

TABLE_SIZE, ROUNDS = 10, 15
PATIENCE = 60.0


def report(options: argparse.Namespace) -> None:
    """Print a row for the lobby and one for sealed rounds, for each database, with one web process per core."""
    table = Table("database|people in groups|")
    for database in options.database:
        with stack_on(database, os.cpu_count() or 1) as (stack, _pids):
            table.row(database, *_lobby(stack, Size(options.groups)))
            times = []
            for number in range(options.tables):
                slug = launch_contest(stack, f"round-{number}", TABLE_SIZE, runs=ROUNDS)
                paths = [stack.call("tests.meeting.reach_lobby", slug) for _person in range(TABLE_SIZE)]
                times += asyncio.run(_table_times(stack.url, paths))
            p50, p95 = (1000 * quantile(times, share) for share in (0.5, 0.95))
            cells = f"{len(times)} pages; from the last move to the new page: p50 {p50:.0f} ms, p95 {p95:.0f} ms"
            table.row(database, f"sealed rounds of {TABLE_SIZE} people", cells)


def _lobby(stack: Stack, size: Size) -> tuple[str, str]:
    """Return two cells on how a crowd met."""
    crowd, outcome = meet(stack, size)
    groups: dict[int, list[str]] = {}
    for token, match in stack.call("tests.meeting.matches_of", list(crowd.pages)).items():
        groups.setdefault(match, []).append(token)
    full = [group for group in groups.values() if len(group) == GROUP_SIZE and crowd.begun.keys() >= set(group)]
    last = [max(crowd.begun[one] for one in group) - max(crowd.arrived[one] for one in group) for group in full]
    p50, p95, most = (quantile(last, share) for share in (0.5, 0.95, 1))
    return (
        f"{len(crowd.pages)} people in {size.groups} groups, {size.per_second:g} arrivals per second; "
        f"{sum(crowd.kills.values())} kills",
        f"{len(full)} filled; {outcome['not seated']} people not seated, {outcome['missed']} sent back; from the last "
        f"arrival to the start: p50 {p50:.1f} s, p95 {p95:.1f} s, maximum {most:.1f} s; {crowd.samples} samples of "
        f"pages: {[*crowd.false] or 'none'} false",
    )


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
