"""Performance of collections on this machine: decisions per second, and memory, which must not grow with their size."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from typing import Any

from config.supervisor import Stack
from deploy.bench.kit import Table, memory, stack_on

GRID = {"rounds": [12, None], "messages_allowed": [True, False]}
TWO_SCRIPTS = ("script:haggler", "script:random")
SCRIPTS = ("random", "rational", "level_1", "level_2", "level_3", "level_4", "adaptive")
NINE_SEATS = {f"p{seat}": f"script:{name}" for seat, name in enumerate([*SCRIPTS, "random", "random"], 1)}


def report(options: argparse.Namespace) -> None:
    """Print one row per figure."""
    table, matches = Table("collections, on durable PostgreSQL|"), options.matches
    with stack_on("postgres") as (stack, _pids):
        for size in (matches // 10, matches):
            repetitions = size // (len(TWO_SCRIPTS) ** 2 * 4)
            bargaining = ["--game", "bargaining", "--grid", json.dumps(GRID), "--repetitions", str(repetitions)]
            agents = ["--agents", ",".join(TWO_SCRIPTS), "--concurrency", "50"]
            table.row(*_played(stack, f"pair-{size}", *bargaining, *agents))
        lineups = json.dumps({"rule": "listed", "listed": [NINE_SEATS], "rotate": True})
        contests = ["--game", "beauty_contest", "--config", json.dumps({"players": 9, "runs": 15})]
        repetitions = ["--repetitions", str(min(matches, 1000))]
        scripts = ",".join(dict.fromkeys(NINE_SEATS.values()))
        table.row(*_played(stack, "nine-seats", *contests, "--agents", scripts, "--lineups", lineups, *repetitions))


def begin(stack: Stack, slug: str, *plan: str) -> None:
    """Start a collection with these options of `collect`."""
    stack.manage("collect", slug, *plan, "--seed", "1", "--no-wait")


def status_of(stack: Stack, slug: str) -> dict[str, Any]:
    """Return what `study.collection_status` returns now."""
    return stack.call("deploy.bench.study.collection_status", slug)  # type: ignore[no-any-return]


def _played(stack: Stack, slug: str, *plan: str) -> tuple[str, str]:
    """Play a collection to its end; return two cells about it."""
    begin(stack, slug, *plan)
    while (status := status_of(stack, slug))["status"] == "running":
        time.sleep(0.5)
    rate, megabytes = status["decisions"] / status["seconds"], memory(stack.pids["collector"])
    return (
        f"{slug}: {status['finished']:,} matches between scripts without delay",
        f"{status['decisions']:,} decisions in {status['seconds']:.0f} s: {rate:,.0f}/s; worker {megabytes:.0f} MB",
    )


def rates(stack: Stack, slug: str, what: str, seconds: float, intervals: int = 1) -> Iterator[float]:
    """Yield how many "decisions" or "calls" a collection makes per second, interval by interval; then pause it."""
    for _interval in range(intervals):
        before = status_of(stack, slug)
        time.sleep(seconds)
        after = status_of(stack, slug)
        yield (after[what] - before[what]) / (after["seconds"] - before["seconds"])
    stack.manage("collect", slug, "--pause", "--no-wait")
