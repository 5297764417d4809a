"""Matches of people against a script: how soon it answers, CPU per move by process, and memory.

The time is from sending an offer to the opponent's counter-offer on the socket. Beside it: the same while models of
other people's matches never answer.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from contextlib import suppress

from config.supervisor import Stack
from deploy.bench.kit import STUDY, Measured, Table, memory, stack_on
from llm_agents.standins import OpenAIStandIn
from llm_agents.standins.misbehaviours import Hang
from tests import players

JOIN, HUNG = f"/join/{STUDY}/", "benchmark-hung"
PATIENT = {"endpoint": "hung", "model": "any", "call_seconds": 600, "limit_seconds": 600, "cap_study": 1_000}
"""An agent for which people wait as long as the benchmark lasts."""
PEOPLE = 50
HURRIED = (40, 0.25)
"""How many people play as fast as they may, and for how long they think: a socket may send five messages a second."""


def report(options: argparse.Namespace) -> None:
    """Print a row for each database and number of participants."""
    table = Table("database|workers|thinking|moves/s|p50 ms|p95 ms|p99 ms|CPU ms per move|memory MB|errors")
    for database in options.database:
        with stack_on(database) as (stack, pids):
            for number, thinking in [*((number, options.thinking) for number in options.workers), HURRIED]:
                size = {"workers": number, "thinking": thinking, "seconds": options.seconds}
                measured = asyncio.run(players.run(stack.url, JOIN, **size, pids={**pids, "client": os.getpid()}))
                costs = [measured.cost, memory(*pids.values()).unshared]
                table.row(database, number, f"{thinking:g} s", *_moves(measured), *costs, errors=measured.errors)


def _moves(measured: Measured) -> list[float]:
    return [measured.moves / measured.seconds, *measured.milliseconds(0.5, 0.95, 0.99)]


def report_beside(options: argparse.Namespace) -> None:
    """Print a row for each database and number of people whose model hangs."""
    table = Table("database|people|others with a hung model|moves/s|p50 ms|p95 ms|p99 ms|errors")
    for database in options.database:
        with OpenAIStandIn([Hang(900)]) as standin, stack_on(database) as (stack, _pids):
            url = f"http://127.0.0.1:{standin.port}/v1"
            stack.call("tests.actions.add_endpoint", "hung", url, concurrency=1_000)
            stack.call("tests.actions.launch_endless", HUNG, {"hung": PATIENT})
            for number in options.hung:
                measured = asyncio.run(_beside(stack, number, options))
                table.row(database, PEOPLE, number, *_moves(measured), errors=measured.errors)


async def _beside(stack: Stack, hung: int, options: argparse.Namespace) -> Measured:
    """Measure people's matches while others' pages stay open, whose model does not answer their offer."""
    ignored = Measured.next(float("inf"))
    paths = await players.enter_all(stack.url, f"/join/{HUNG}/", hung)
    walks = [players.play(stack.url, path, thinking=0, measured=ignored, patience=None) for path in paths]
    hanging = asyncio.gather(*walks, return_exceptions=True)
    try:
        return await players.run(stack.url, JOIN, workers=PEOPLE, thinking=options.thinking, seconds=options.seconds)
    finally:
        hanging.cancel()
        with suppress(asyncio.CancelledError):
            await hanging
