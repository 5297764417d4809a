"""Groups of people: how they meet although services are killed, and how soon everyone sees a sealed round's end."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

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
                paths = stack.call("deploy.bench.study.seated_group", f"round-{number}", TABLE_SIZE, ROUNDS)
                times += asyncio.run(_table_times(stack.url, paths))
            p50, p95 = (1000 * quantile(times, share) for share in (0.5, 0.95))
            table.row(
                database,
                f"sealed rounds of {TABLE_SIZE} people",
                f"{len(times)} pages; from the last move to the new page: p50 {p50:.0f} ms, p95 {p95:.0f} ms",
            )


async def _table_times(url: str, paths: Sequence[str]) -> list[float]:
    """Return the seconds from each round's last move to each person's new page."""
    times: list[float] = []
    async with AsyncExitStack() as closing:
        sockets = [await closing.enter_async_context(workers.socket_of(url, path)) for path in paths]
        questions = await asyncio.gather(*(_next_question(socket, None) for socket in sockets))
        while all(question is not None for question in questions):
            pages = [asyncio.create_task(_page(*pair)) for pair in zip(sockets, questions, strict=True)]
            sent = await asyncio.gather(*(_answer(*pair) for pair in zip(sockets, questions, strict=True)))
            answered = await asyncio.gather(*pages)
            times += [shown_at - max(sent) for _question, shown_at in answered]
            questions = [question for question, _shown_at in answered]
    return times


async def _answer(socket: Any, question: int) -> float:
    """Answer after a moment; return when."""
    await asyncio.sleep(random.uniform(0, 0.6))
    sent_at = time.monotonic()
    await workers.move(socket, question, answer=str(random.randint(0, 100)))
    return sent_at


async def _page(socket: Any, question: int) -> tuple[int | None, float]:
    """Return the question after this one, and when it came."""
    return await _next_question(socket, question), time.monotonic()


async def _next_question(socket: Any, last_question: int | None) -> int | None:
    """Return the next question that a page receives; None when the game is over."""
    while True:
        frame = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))
        if frame["type"] == "screen" and (frame["over"] or frame["answering"] not in (None, last_question)):
            return None if frame["over"] else int(frame["answering"])
