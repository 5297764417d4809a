"""Calls of models: how many one process can make at once, and turns played by calling tools.

A stand-in server in a process of its own takes a second for each call, so N calls at once can reach at most N per
second. With tools, each period takes eight calls: seven lookups, cycling through the tools without arguments, and a
submission.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from config.supervisor import Stack
from deploy.bench.collecting import begin, rates
from deploy.bench.kit import Measured, Table, memory, serving_standin, stack_on
from games import registry
from games.play import configure, start, submit
from llm_agents.agent import AgentSpec
from llm_agents.calling import Policy, call
from llm_agents.deciding import decide
from llm_agents.endpoints import Endpoint, Protocol, use_endpoints
from llm_agents.providers import provider_called
from llm_agents.providers.base import Request
from llm_agents.record import CallRecord
from llm_agents.settings import bare
from llm_agents.standins import Calls
from llm_agents.turn import AgentTurn

NAME = "bench"
OFFER = '{"alice_gain": 50, "bob_gain": 50, "message": "Half for each of us is fair."}'
WARM_UP = 4.0
"""Seconds until all connections are open and calls no longer start together."""
GAME, CALLS, PERIODS = "pricing", 8, 300
LOOPS = 100


def report(options: argparse.Namespace) -> None:
    """Print a row for each protocol and number of concurrent calls."""
    headings = "protocol|at once|calls/s|p50 ms|p95 ms|CPU ms per call|server's|machine %|MB before|MB after|errors"
    table = Table(headings)
    with serving_standin(f"[Slow(1.0, {OFFER!r})]") as (url, server):
        for protocol, at_once in itertools.product(get_args(Protocol), options.at_once):
            address = f"{url}/v1" if protocol == "openai" else url
            use_endpoints({NAME: Endpoint(NAME, protocol, address, "sk-bench", concurrency=at_once)}.get)
            before = memory(os.getpid()).resident
            measured = asyncio.run(_calls(at_once, options.seconds, server))
            costs = [1000 * used / max(1, len(measured.times)) for used in measured.cpu.values()]
            times, after = measured.milliseconds(0.5, 0.95), memory(os.getpid()).resident
            shares = [measured.rate, *times, *costs, measured.busy, before, after]
            table.row(protocol, at_once, *shares, errors=measured.errors)


async def _calls(at_once: int, seconds: float, server: int) -> Measured:
    """Keep `at_once` calls in flight."""
    request = Request("m", [{"role": "user", "content": "What do you offer? " * 50}])
    measured = Measured.next(seconds, after=WARM_UP)

    async def ask() -> None:
        started_at = time.monotonic()
        await call(NAME, request, policy=Policy(call_seconds=30), on_attempt=lambda attempt: None)
        measured.add(time.monotonic() - started_at)

    await asyncio.gather(measured.watch({"client": os.getpid(), "server": server}), measured.repeat(at_once, ask))
    await provider_called(NAME).close()
    return measured


def answer(request: Mapping[str, Any]) -> Calls:
    """Return the next call of a tool in a request's conversation."""
    calls_made = sum(message["role"] == "assistant" for message in request["messages"])
    tools = [tool["function"] for tool in request["tools"]]
    if calls_made == CALLS - 1:
        return Calls(((tools[-1]["name"], '{"prices": {"Product_1": 5}}'),))
    lookups = [tool["name"] for tool in tools[:-1] if not tool["parameters"]["required"]]
    return Calls(((lookups[calls_made % len(lookups)], "{}"),))


def report_tools(options: argparse.Namespace) -> None:
    """Print a row for one long match, whose turns must not get slower, and for many loops at once."""
    table = Table("turns with tools, on durable PostgreSQL")
    with stack_on("postgres") as (stack, _pids):
        with serving_standin("answer") as (url, _server):
            spent = stack.call("deploy.bench.study.long_match", f"{url}/v1", GAME, options.periods)
        tenth = max(1, len(spent) // 10)
        first, last = (1000 * sum(part) / tenth / CALLS for part in (spent[:tenth], spent[-tenth:]))
        cost = f"{first:.1f} ms of CPU per call in the first tenth, {last:.1f} ms in the last ({last / first - 1:+.0%})"
        table.row(f"one match of {len(spent)} periods × {CALLS} calls: {cost}")
        with serving_standin("lambda asked: Slow(1.0, answer(asked))") as (url, _server):
            measured = asyncio.run(_loops(f"{url}/v1", options.seconds))
            rate = f"{measured.rate:.0f} calls/s of {LOOPS}; {memory(os.getpid()).resident:.0f} MB"
            table.row(f"{LOOPS} loops in one process, nothing stored: {rate}", errors=measured.errors)
            stored = _stored_loops(stack, f"{url}/v1", options.seconds)
            table.row(f"{LOOPS} loops of a collection at once, a second per call: {stored}; the limit is {LOOPS}")


async def _loops(url: str, seconds: float) -> Measured:
    """Measure calls of concurrent loops in one event loop that stores nothing."""
    use_endpoints({NAME: Endpoint(NAME, "openai", url, "sk-bench", concurrency=LOOPS)}.get)
    game, seeds = configure(registry.get(GAME), {"periods": PERIODS}), itertools.count()
    measured = Measured.next(seconds, after=WARM_UP + CALLS)

    class Turn(AgentTurn):
        async def store(self, calls: Sequence[CallRecord]) -> None:
            for each in calls:
                measured.add(each.latency)

    async def play_match() -> None:
        play, _events = start(game, next(seeds))
        while not play.over and time.monotonic() < measured.until:
            decision = await decide(AgentSpec(NAME, "any", bare(strategy="tools")), Turn(play, "agent"))
            play, _events = submit(play, "agent", decision.move)

    await measured.repeat(LOOPS, play_match)
    return measured


def _stored_loops(stack: Stack, url: str, seconds: float) -> str:
    """Return calls per second and memory of a collection of long matches, in two intervals."""
    stack.call("tests.actions.add_endpoint", NAME, url, concurrency=LOOPS)
    asking = json.dumps({"strategy": "tools", "retries": 0})
    size = ["--config", json.dumps({"periods": PERIODS}), "--repetitions", str(LOOPS), "--concurrency", str(LOOPS)]
    begin(stack, "loops", "--game", GAME, "--agents", f"{NAME}:any", "--asking", asking, *size)
    time.sleep(WARM_UP + CALLS)
    each = rates(stack, "loops", "calls", seconds, intervals=2)
    return ", then ".join(f"{rate:.0f} calls/s with {memory(stack.pids['collector']).resident:.0f} MB" for rate in each)
