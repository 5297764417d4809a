"""How many model calls one process can make: N at a time, to a stand-in server that takes a second for each.

`python -m deploy.bench.calls` prints calls per second, the duration of single calls, and this process's
CPU and memory. The stand-in server runs in its own process. With a second per call, N calls at a time can
reach at most N per second.
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
"""Seconds until all connections are open and calls no longer start together."""
STANDIN = """
import sys
from llm_agents.standins import AnthropicStandIn, OpenAIStandIn, Slow
kind, seconds = sys.argv[1], float(sys.argv[2])
answer = Slow(seconds, '{"alice_gain": 50, "bob_gain": 50, "message": "Half for each of us is fair."}')
with (AnthropicStandIn if kind == "anthropic" else OpenAIStandIn)([answer]) as standin:
    print(next(url for url in standin.environment.values() if url.startswith("http")), flush=True)
    sys.stdin.read()
"""


async def measure(protocol: Protocol, address: str, server_pid: int, *, at_once: int, seconds: float) -> str:
    """Keep `at_once` calls in flight for `seconds` and return a row of the table; `server_pid`: the stand-in."""
    endpoint = Endpoint(NAME, protocol, address, "sk-bench", structured="none", concurrency=at_once)
    use_endpoints({NAME: endpoint}.get)
    process, server_process = psutil.Process(), psutil.Process(server_pid)
    memory_before = process.memory_info().rss
    request = Request("m", [{"role": "user", "content": "What do you offer? " * 50}])
    times: list[float] = []
    failures = 0
    is_over = False

    async def ask() -> None:
        nonlocal failures
        while not is_over:
            started_at = time.monotonic()
            try:
                await call(NAME, request, policy=Policy(call_seconds=30), on_attempt=lambda attempt: None)
            except ProviderError as error:
                failures += 1
                print(type(error).__name__, error, file=sys.stderr)
            times.append(time.monotonic() - started_at)

    asking = asyncio.gather(*(ask() for _number in range(at_once)))
    await asyncio.sleep(WARM_UP)
    times.clear()
    psutil.cpu_percent()
    cpu, server_cpu, measured_from = _cpu(process), _cpu(server_process), time.monotonic()
    await asyncio.sleep(seconds)
    elapsed, ordered = time.monotonic() - measured_from, sorted(times)
    own_spent, server_spent = _cpu(process) - cpu, _cpu(server_process) - server_cpu
    is_over = True
    await asking
    memory_after = process.memory_info().rss
    await provider_called(NAME).close()
    return (
        f"{protocol:<10}{at_once:>8}{len(ordered) / elapsed:>10.1f}{statistics.median(ordered):>10.2f}"
        f"{ordered[int(len(ordered) * 0.95)]:>8.2f}{1000 * own_spent / len(ordered):>13.2f}"
        f"{1000 * server_spent / len(ordered):>9.2f}{psutil.cpu_percent():>12.0f}"
        f"{memory_before / 2**20:>12.0f}{memory_after / 2**20:>11.0f}{failures:>10}"
    )


def _cpu(process: psutil.Process) -> float:
    user, system = process.cpu_times()[:2]
    return float(user + system)


def report(at_once: Sequence[int] = (200,), seconds: float = 10.0, latency: float = 1.0) -> None:
    """Print a line for each protocol and number of concurrent calls."""
    print(
        f"{'protocol':<10}{'at once':>8}{'calls/s':>10}{'median s':>10}{'p95 s':>8}{'ms CPU/call':>13}"
        f"{'server':>9}{'machine %':>12}{'MB before':>12}{'MB after':>11}{'failed':>10}"
    )
    protocols: tuple[Protocol, ...] = ("openai", "anthropic")
    for protocol in protocols:
        command = [sys.executable, "-c", STANDIN, protocol, str(latency)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as standin:
            assert standin.stdout is not None
            address = standin.stdout.readline().strip()
            try:
                for number in at_once:
                    print(asyncio.run(measure(protocol, address, standin.pid, at_once=number, seconds=seconds)))
            finally:
                standin.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--at-once", type=int, nargs="+", default=[200])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--latency", type=float, default=1.0, help="seconds that the stand-in server takes for a call")
    report(**vars(parser.parse_args()))


if __name__ == "__main__":
    main()
