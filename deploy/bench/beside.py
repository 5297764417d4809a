"""The effect of hung models on others: reply times of 50 people, alone and beside matches whose model never replies."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from config.supervisor import Stack
from deploy.bench import workers
from llm_agents.standins import OpenAIStandIn
from llm_agents.standins.misbehaviours import Hang

STUDY, HUNG_STUDY = "benchmark", "benchmark-hung"
PEOPLE = 50
ENTRY_SECONDS = 20.0
"""Seconds in which people facing a hung model enter and make their offer."""


def report(
    stack_on: Callable[[str], AbstractContextManager[tuple[Stack, Any]]],
    databases: Sequence[str],
    *,
    waiting: Sequence[int] = (0, 50, 100),
    seconds: float,
    thinking: float,
) -> None:
    """Print a row for each database and number of people whose model hangs."""
    print("| database | people | others with a hung model | moves/s | p50 ms | p95 ms | p99 ms | errors |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for database in databases:
        with OpenAIStandIn([Hang(900)]) as standin, stack_on(database) as (stack, _database):
            stack.call("deploy.bench.study.launch_hung", HUNG_STUDY, f"http://127.0.0.1:{standin.port}/v1")
            for number in waiting:
                measured = asyncio.run(_measure(stack, number, seconds=seconds, thinking=thinking))
                print(
                    f"| {database} | {PEOPLE} | {number} | {measured.moves / seconds:.0f} "
                    f"| {measured.percentile(0.5):.0f} | {measured.percentile(0.95):.0f} "
                    f"| {measured.percentile(0.99):.0f} | {len(measured.errors)} |",
                    flush=True,
                )


async def _measure(stack: Stack, waiting: int, *, seconds: float, thinking: float) -> workers.Measurements:
    address, finished = stack.url.removeprefix("http://"), asyncio.Event()
    unanswered_offers = asyncio.create_task(
        workers.hold_unanswered_offers(address, f"/join/{HUNG_STUDY}/", people=waiting, until=finished)
    )
    if waiting:
        await asyncio.sleep(ENTRY_SECONDS)
    measured = await workers.run(
        address, f"/join/{STUDY}/", workers=PEOPLE, thinking=thinking, seconds=seconds, begin=lambda: None
    )
    finished.set()
    await unanswered_offers
    return measured
