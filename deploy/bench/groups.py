"""Groups of people: how they meet although services are killed, and how soon everyone sees a sealed round's end."""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import websockets

from config.supervisor import Stack
from deploy.bench import lobby

TABLE_SIZE, ROUNDS = 10, 15
PATIENCE = 60.0


def report(
    stack_on: Callable[..., AbstractContextManager[tuple[Stack, Any]]], databases: Sequence[str], *, tables: int = 6
) -> None:
    """Print a row for the lobby and one for sealed rounds, for each database, with one web process per core."""
    for database in databases:
        with stack_on(database, os.cpu_count() or 1) as (stack, _database):
            print(f"| {database} | {lobby.measure(stack, lobby.Size())} |", flush=True)
            round_times = asyncio.run(_round_times(stack, tables))
            print(
                f"| {database} | sealed rounds of {TABLE_SIZE} people | {len(round_times)} pages; from the last "
                f"move to the new page: p50 {1000 * lobby.quantile(round_times, 0.5):.0f} ms, "
                f"p95 {1000 * lobby.quantile(round_times, 0.95):.0f} ms |",
                flush=True,
            )


async def _round_times(stack: Stack, tables: int) -> list[float]:
    """Return the seconds from each round's last move to each person's new page, table after table."""
    times: list[float] = []
    for number in range(tables):
        paths = stack.call("deploy.bench.study.seated_group", f"bench-round-{number}", TABLE_SIZE, ROUNDS)
        times += await _table_times(stack, paths)
    return times


async def _table_times(stack: Stack, paths: Sequence[str]) -> list[float]:
    address = stack.url.removeprefix("http://")
    tokens = [path.strip("/").split("/")[1] for path in paths]
    sockets = [
        await websockets.connect(f"ws://{address}/ws/play/{token}/", origin=stack.url, compression=None)
        for token in tokens
    ]
    times: list[float] = []
    sent_at: list[float] = []
    try:
        questions = await asyncio.gather(*(_next_question(socket, None) for socket in sockets))
        while all(question is not None for question in questions):
            sent_at.clear()

            async def answer(socket: Any, question: int) -> None:
                await asyncio.sleep(random.uniform(0, 0.6))
                fields = {"answering": str(question), "answer": str(random.randint(0, 100))}
                sent_at.append(time.monotonic())
                await socket.send(json.dumps({"type": "move", "fields": fields}))

            async def page(socket: Any, question: int) -> tuple[int | None, float]:
                next_question = await _next_question(socket, question)
                return next_question, time.monotonic()

            open_questions = list(zip(sockets, questions, strict=True))
            pages = [asyncio.create_task(page(socket, question)) for socket, question in open_questions]
            await asyncio.gather(*(answer(socket, question) for socket, question in open_questions))
            answered_pages = await asyncio.gather(*pages)
            times += [shown_at - max(sent_at) for _question, shown_at in answered_pages]
            questions = [question for question, _shown_at in answered_pages]
    finally:
        await asyncio.gather(*(socket.close() for socket in sockets))
    return times


async def _next_question(socket: Any, last_question: int | None) -> int | None:
    """Return the next question that a page receives; None when the game is over."""
    while True:
        frame = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))
        if frame["type"] == "screen" and (frame["over"] or frame["answering"] not in (None, last_question)):
            return None if frame["over"] else int(frame["answering"])
