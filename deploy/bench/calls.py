"""How many calls of models one process makes: N at a time to a twin that takes a second for each.

`python -m deploy.bench.calls` prints calls per second, the times of single calls, and this process's
CPU and memory. The twin runs in a process of its own. With a second per call, N calls at a time can
be at most N per second.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

import psutil

from llm_agents.calling import Policy, call
from llm_agents.endpoints import Endpoint, Protocol, use_endpoints
from llm_agents.errors import ProviderError
from llm_agents.providers import provider_called
from llm_agents.providers.base import Request

NAME = "bench"
WARM_UP = 3.0
"""Seconds until all connections are open and calls no longer begin together."""
TWIN = """
import sys
from llm_agents.twins import AnthropicTwin, OpenAITwin, Slow
kind, seconds = sys.argv[1], float(sys.argv[2])
answer = Slow(seconds, '{"alice_gain": 50, "bob_gain": 50, "message": "Half for each of us is fair."}')
with (AnthropicTwin if kind == "anthropic" else OpenAITwin)([answer]) as twin:
    print(next(url for url in twin.environment.values() if url.startswith("http")), flush=True)
    sys.stdin.read()
"""


async def measure(protocol: Protocol, address: str, twin: int, *, at_once: int, seconds: float) -> str:
    """Keep `at_once` calls under way for `seconds`; returns the line of the table. `twin` is the twin's process."""
    place = Endpoint(NAME, protocol, address, "sk-bench", structured="none", concurrency=at_once)
    use_endpoints({NAME: place}.get)
    process, other = psutil.Process(), psutil.Process(twin)
    before = process.memory_info().rss
    request = Request("m", [{"role": "user", "content": "What do you offer? " * 50}])
    times: list[float] = []
    failures = 0
    over = False

    async def ask() -> None:
        nonlocal failures
        while not over:
            began = time.monotonic()
            try:
                await call(NAME, request, policy=Policy(call_seconds=30), keep=lambda attempt: None)
            except ProviderError as error:
                failures += 1
                print(type(error).__name__, error, file=sys.stderr)
            times.append(time.monotonic() - began)

    asking = asyncio.gather(*(ask() for _number in range(at_once)))
    await asyncio.sleep(WARM_UP)
    times.clear()
    psutil.cpu_percent()
    cpu, twins_cpu, began = _cpu(process), _cpu(other), time.monotonic()
    await asyncio.sleep(seconds)
    took, ordered = time.monotonic() - began, sorted(times)
    spent, twins_spent = _cpu(process) - cpu, _cpu(other) - twins_cpu
    over = True
    await asking
    after = process.memory_info().rss
    await provider_called(NAME).close()
    return (
        f"{protocol:<10}{at_once:>8}{len(ordered) / took:>10.1f}{statistics.median(ordered):>10.2f}"
        f"{ordered[int(len(ordered) * 0.95)]:>8.2f}{1000 * spent / len(ordered):>13.2f}"
        f"{1000 * twins_spent / len(ordered):>9.2f}{psutil.cpu_percent():>12.0f}"
        f"{before / 2**20:>12.0f}{after / 2**20:>11.0f}{failures:>10}"
    )


def _cpu(process: psutil.Process) -> float:
    user, system = process.cpu_times()[:2]
    return float(user + system)


def report(at_once: Sequence[int] = (200,), seconds: float = 10.0, latency: float = 1.0) -> None:
    """Print a line for each protocol and number of calls at once."""
    print(
        "protocol   at once   calls/s  median s   p95 s ms CPU/call  twin's  machine %   MB before   MB after    failed"
    )
    protocols: tuple[Protocol, ...] = ("openai", "anthropic")
    for protocol in protocols:
        command = [sys.executable, "-c", TWIN, protocol, str(latency)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as twin:
            assert twin.stdout is not None
            address = twin.stdout.readline().strip()
            try:
                for number in at_once:
                    print(asyncio.run(measure(protocol, address, twin.pid, at_once=number, seconds=seconds)))
            finally:
                twin.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--at-once", type=int, nargs="+", default=[200])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--latency", type=float, default=1.0, help="seconds that the twin takes for a call")
    report(**vars(parser.parse_args()))


if __name__ == "__main__":
    main()
