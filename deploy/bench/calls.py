"""Calls of models: how many one process can make at once, and how many a collection makes of those it could.

A stand-in in a process of its own takes some seconds for each call, so N calls at once can reach at most N per so many
seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import time
from typing import get_args

from deploy.bench.collecting import begin, rates
from deploy.bench.kit import Measured, Table, cpu, memory, serving_standin, stack_on
from llm_agents.calling import Policy, call
from llm_agents.endpoints import Endpoint, Protocol, use_endpoints
from llm_agents.providers import provider_called
from llm_agents.providers.base import Request

NAME = "bench"
WARM_UP = 4.0
"""Seconds until all connections are open and calls no longer start together."""


def report(options: argparse.Namespace) -> None:
    """Print a row for each protocol and number of concurrent calls."""
    table = Table("protocol|at once|calls/s|p50 ms|p95 ms|CPU ms per call|server's|MB|errors")
    with serving_standin(1.0) as (url, server):
        for protocol, at_once in itertools.product(get_args(Protocol), options.at_once):
            address = f"{url}/v1" if protocol == "openai" else url
            use_endpoints({NAME: Endpoint(NAME, protocol, address, "sk-bench", concurrency=at_once)}.get)
            measured = asyncio.run(_calls(at_once, options.seconds, server))
            costs = [1000 * used / max(1, len(measured.times)) for used in measured.cpu.values()]
            cells = [measured.rate, *measured.milliseconds(0.5, 0.95), *costs, memory(os.getpid())]
            table.row(protocol, at_once, *cells, errors=measured.errors)


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


def report_models(options: argparse.Namespace) -> None:
    """Print two rows for each collection of a model's long matches."""
    table = Table("asked at once|s per call|asked|when|calls/s|% of the bound|CPU ms per call|worker MB")
    for at_once, latency, asking in ((100, 1.0, '{"strategy": "tools"}'), (4, 0.05, "{}")):
        with stack_on("postgres") as (stack, _pids), serving_standin(latency) as (url, _server):
            stack.call("tests.actions.add_endpoint", NAME, f"{url}/v1", concurrency=at_once)
            size = ["--config", '{"periods": 300}', "--repetitions", str(3 * at_once), "--concurrency", str(at_once)]
            begin(stack, NAME, "--game", "pricing", "--agents", f"{NAME}:any", "--asking", asking, *size)
            time.sleep(2 * WARM_UP)
            collector, measuring = stack.pids["collector"], rates(stack, NAME, "calls", options.seconds, intervals=2)
            for part in ("first", "later"):
                before, rate = cpu(collector), next(measuring)
                cost = 1000 * (cpu(collector) - before) / options.seconds / max(rate, 1)
                cells = [rate, 100 * rate * latency / at_once, cost, memory(collector)]
                table.row(at_once, f"{latency:g}", asking, part, *cells)
