"""Turns played by calling tools: many loops at once, and one long match whose turns must not get slower.

The stand-in server runs in its own process. Each period takes eight calls: seven lookups, cycling through the
tools without arguments, and a submission.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psutil

from config.supervisor import Stack

GAME = "pricing"
CALLS = 8
AT_ONCE = 100
PERIODS = 300
WARM_UP = 4.0
ENDPOINT = "bench"
STANDIN = """
import sys
from deploy.bench.tools import answer
from llm_agents.standins import OpenAIStandIn, Slow
seconds = float(sys.argv[1])
reply = lambda asked: Slow(seconds, answer(asked)) if seconds else answer(asked)
with OpenAIStandIn(reply, keeps_requests=False) as standin:
    print(standin.environment["OPENAI_BASE_URL"], flush=True)
    sys.stdin.read()
"""


def answer(request: Mapping[str, Any]) -> Any:
    """Return the next call in a request's conversation."""
    from llm_agents.standins import Calls

    calls_made = sum(message["role"] == "assistant" for message in request["messages"])
    tools = [tool["function"] for tool in request["tools"]]
    if calls_made == CALLS - 1:
        return Calls(((tools[-1]["name"], '{"prices": {"Product_1": 5}}'),))
    lookups = [tool["name"] for tool in tools[:-1] if not tool["parameters"]["required"]]
    return Calls(((lookups[calls_made % len(lookups)], "{}"),))


@contextmanager
def standin(seconds: float) -> Iterator[str]:
    """Yield the address of a stand-in server that takes `seconds` for each call."""
    command = [sys.executable, "-c", STANDIN, str(seconds)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def long_match(url: str, periods: int) -> list[float]:
    """Return the CPU seconds of this process for each period of one match; called inside the stack."""
    from matches import agents, announce, services
    from matches.models import Match
    from opponents.models import Call
    from plans.asking import AgentSettings

    announce.queue_turn = lambda match, turn: None  # no worker other than this process
    use_standin(url, 1)
    settings = AgentSettings(strategy="tools", retries=0, limit_seconds=1800)
    players = {"agent": services.Player(agent=f"{ENDPOINT}:any", settings=settings)}
    match = services.open_match(game=GAME, config={"periods": periods}, players=players, seed=1)
    spent = []
    for _period in range(periods):
        match.refresh_from_db()
        started_at = time.process_time()
        agents.answer_turn(match_uid=match.uid, role="agent", answering=match.open_turns()["agent"].answering)
        spent.append(time.process_time() - started_at)
    match.refresh_from_db()
    assert match.status == Match.Status.FINISHED
    assert Call.objects.filter(match_uid=match.uid).count() == CALLS * periods
    return spent


def use_standin(url: str, concurrency: int) -> None:
    """Add the stand-in server as an endpoint; called inside the stack."""
    from opponents.endpoints import MEMORY
    from opponents.models import Endpoint

    Endpoint.objects.update_or_create(
        name=ENDPOINT, defaults={"protocol": "openai", "base_url": url, "concurrency": concurrency}
    )
    MEMORY.expire()


def begin_loops(slug: str, url: str, at_once: int) -> None:
    """Start a collection of long matches, `at_once` of them concurrently; called inside the stack."""
    from collecting import planning, services
    from plans.starting import collection_for

    use_standin(url, at_once)
    plan = collection_for(
        GAME,
        title=slug,
        configurations=[{"periods": PERIODS}],
        agents=[f"{ENDPOINT}:any"],
        asking={"strategy": "tools", "retries": 0},
        repetitions=at_once,
        concurrency=at_once,
    )
    services.start(planning.make_collection(plan, slug=slug, seed=1))


def stored_calls(slug: str) -> int:
    """Return the number of stored calls; called inside the stack."""
    from opponents.models import Call

    return Call.objects.filter(budget_of__contains=slug).count()


async def rate_without_storage(url: str, at_once: int, seconds: float) -> tuple[float, float]:
    """Return (calls per second, final memory in MB) of `at_once` loops in one event loop that stores nothing."""
    from games import registry
    from games.play import configure, start, submit
    from llm_agents.agent import AgentSpec
    from llm_agents.deciding import decide
    from llm_agents.endpoints import Endpoint, use_endpoints
    from llm_agents.settings import bare
    from llm_agents.turn import AgentTurn

    use_endpoints({ENDPOINT: Endpoint(ENDPOINT, "openai", url, "sk-bench", concurrency=at_once)}.get)
    game, calls_made, is_over = configure(registry.get(GAME), {"periods": PERIODS}), 0, False

    async def play_match(seed: int) -> None:
        nonlocal calls_made
        play, _events = start(game, seed)
        while not is_over:
            decision = await decide(AgentSpec(ENDPOINT, "any", bare(strategy="tools")), AgentTurn(play, "agent"))
            calls_made += len(decision.calls)
            play, _events = submit(play, "agent", decision.move)

    loops = [asyncio.create_task(play_match(seed)) for seed in range(at_once)]
    await asyncio.sleep(WARM_UP + CALLS)
    calls_before, started_at = calls_made, time.monotonic()
    await asyncio.sleep(seconds)
    rate, is_over = (calls_made - calls_before) / (time.monotonic() - started_at), True
    await asyncio.gather(*loops)
    return rate, psutil.Process(os.getpid()).memory_info().rss / 1e6


def report(stack: Stack, *, seconds: float) -> None:
    """Print one line per figure."""
    with standin(0) as url:
        spent: list[float] = stack.call("deploy.bench.tools.long_match", url, PERIODS)
    tenth = len(spent) // 10
    first, last = (1000 * sum(period_seconds) / tenth / CALLS for period_seconds in (spent[:tenth], spent[-tenth:]))
    print(
        f"| one match of {PERIODS} periods × {CALLS} calls | {first:.1f} ms of CPU per call in the first tenth, "
        f"{last:.1f} ms in the last ({last / first - 1:+.0%}) |",
        flush=True,
    )
    with standin(1.0) as url:
        rate, memory = asyncio.run(rate_without_storage(url, AT_ONCE, seconds))
        print(f"| {AT_ONCE} loops in one process, nothing stored | {rate:.0f} calls/s of {AT_ONCE}; {memory:.0f} MB |")
        stack.call("deploy.bench.tools.begin_loops", "loops", url, AT_ONCE)
        time.sleep(WARM_UP + CALLS)
        measurements = []
        for _half in range(2):
            calls_before, started_at = stack.call("deploy.bench.tools.stored_calls", "loops"), time.monotonic()
            time.sleep(seconds)
            calls_after = stack.call("deploy.bench.tools.stored_calls", "loops")
            memory = psutil.Process(stack.pids["collector"]).memory_info().rss / 1e6
            measurements.append(((calls_after - calls_before) / (time.monotonic() - started_at), memory))
        stack.manage("collect", "loops", "--pause", "--no-wait")
    rates = ", then ".join(f"{rate:.0f} calls/s with {memory:.0f} MB" for rate, memory in measurements)
    print(
        f"| {AT_ONCE} concurrent loops of a collection, one second per call | {rates}; the limit is {AT_ONCE} |",
        flush=True,
    )
