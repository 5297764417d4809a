"""Performance of collections on this machine: decisions per second, and memory, which must not grow with their size."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from config.supervisor import ROOT, Stack

GRID = {"rounds": [12, None], "messages_allowed": [True, False]}
TWO_SCRIPTS = ("script:haggler", "script:random")
NINE_SCRIPTS = tuple(
    f"script:{name}"
    for name in ("random", "rational", "level_1", "level_2", "level_3", "level_4", "adaptive", *["random"] * 2)
)
STEADY_SCRIPT = "script:haggler"
"""Plays eleven rounds against itself, so that all matches have the same length."""


def begin_large(slug: str, *, matches: int) -> None:
    """Start a collection of beauty contests of nine scripts over 15 runs; called inside the stack."""
    from collecting import planning, services
    from plans.starting import collection_for

    lineup = {f"p{seat}": NINE_SCRIPTS[seat - 1] for seat in range(1, 10)}
    plan = collection_for(
        "beauty_contest",
        title=slug,
        configurations=[{"players": 9, "runs": 15}],
        agents=list(dict.fromkeys(NINE_SCRIPTS)),
        seats={"rule": "listed", "listed": [lineup], "rotate": True},
        repetitions=matches,
    )
    services.start(planning.make_collection(plan, slug=slug, seed=1))


def begin(
    slug: str, *, matches: int, agents: list[str], grid: dict[str, list[Any]], concurrency: int, delay: float
) -> None:
    """Start a collection of bargaining matches; called inside the stack."""
    from collecting import planning, services
    from games import grids, registry
    from plans.library import agent_like
    from plans.starting import collection_for

    configurations = grids.expand(registry.get("bargaining"), grid)
    plan = collection_for(
        "bargaining",
        title=slug,
        configurations=configurations,
        agents={spec: {**agent_like({}, spec), "delay": delay} for spec in agents},
        repetitions=matches // (len(configurations) * len(agents) ** 2),
        concurrency=concurrency,
    )
    services.start(planning.make_collection(plan, slug=slug, seed=1))


def status_of(slug: str) -> dict[str, Any]:
    """Return the status, seconds since the start, and decisions so far; called inside the stack."""
    from django.db.models import Sum
    from django.utils import timezone

    from collecting.models import Collection, Item

    collection = Collection.objects.get(slug=slug)
    items = Item.objects.filter(collection=collection)
    last_time = collection.ended_at or timezone.now()
    return {
        "status": collection.status,
        "seconds": (last_time - collection.started_at).total_seconds(),
        "decisions": items.aggregate(total=Sum("decisions"))["total"] or 0,
        "matches": items.filter(status=Item.Status.FINISHED).count(),
    }


def play_collection(stack: Stack, slug: str, *, make: str = "begin", **plan: Any) -> dict[str, Any]:
    """Play a collection to its end; return its final `status_of` and the worker's memory in MB."""
    stack.call(f"deploy.bench.collecting.{make}", slug, **plan)
    while (status := stack.call("deploy.bench.collecting.status_of", slug))["status"] == "running":
        time.sleep(0.5)
    return {**status, "memory": _megabytes(stack.pids["collector"])}


def rate_at_full_concurrency(stack: Stack, slug: str, *, seconds: float, **plan: Any) -> float:
    """Return decisions per second while all matches are in progress: from 3 s after the start."""
    stack.call("deploy.bench.collecting.begin", slug, **plan)
    while (start := stack.call("deploy.bench.collecting.status_of", slug))["seconds"] < 3:
        time.sleep(0.2)
    time.sleep(seconds)
    end = stack.call("deploy.bench.collecting.status_of", slug)
    stack.manage("collect", slug, "--pause", "--no-wait")
    return (end["decisions"] - start["decisions"]) / (end["seconds"] - start["seconds"])


def export_and_verify(stack: Stack, slug: str) -> dict[str, float]:
    """Return the seconds and peak memory in MB of `export_dataset` and of `verify_dataset`."""
    usage = {}
    with tempfile.TemporaryDirectory(prefix="parley-bench-export-") as folder:
        target = str(Path(folder) / "dataset")
        for name, arguments in {"export": [slug, "--to", target], "verify": [target]}.items():
            seconds, memory = _run_command(stack, f"{name}_dataset", *arguments)
            usage |= {f"{name} s": seconds, f"{name} MB": memory}
    return usage


def import_sample(stack: Stack, games: int) -> dict[str, float]:
    """Return the seconds and peak memory in MB of `import_glee` with a sample in the published layout."""
    from exports.glee.sample import write_sample

    with tempfile.TemporaryDirectory(prefix="parley-bench-import-") as folder:
        write_sample(Path(folder), games, seed=1)
        seconds, memory = _run_command(stack, "import_glee", folder, "--json")
    return {"seconds": seconds, "MB": memory}


def _run_command(stack: Stack, *arguments: str) -> tuple[float, float]:
    """Return the seconds and peak memory in MB of a management command, start-up included."""
    started_at = time.monotonic()
    child = subprocess.Popen(
        [sys.executable, str(ROOT / "manage.py"), *arguments],
        env=stack.environment,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _pid, status, resources_used = os.wait4(child.pid, 0)
    if status:
        raise RuntimeError(f"manage.py {' '.join(arguments)} failed")
    return time.monotonic() - started_at, _peak_megabytes(resources_used)


def _peak_megabytes(resources_used: resource.struct_rusage) -> float:
    return resources_used.ru_maxrss / 1024


def _megabytes(pid: int) -> float:
    import psutil

    return psutil.Process(pid).memory_info().rss / 1e6


def report(stack: Stack, *, matches: int) -> None:
    """Print one line per figure."""
    settings = {"agents": list(TWO_SCRIPTS), "grid": GRID, "concurrency": 50, "delay": 0}
    for size in (matches // 10, matches):
        result = play_collection(stack, f"pair-{size}", matches=size, **settings)
        print(
            f"| collection of {result['matches']:,} matches, scripts without delay "
            f"| {result['decisions']:,} decisions in {result['seconds']:.0f} s: "
            f"{result['decisions'] / result['seconds']:.0f}/s; worker {result['memory']:.0f} MB |",
            flush=True,
        )
        usage = export_and_verify(stack, f"pair-{size}")
        print(
            f"| its dataset | written in {usage['export s']:.1f} s with {usage['export MB']:.0f} MB, verified in "
            f"{usage['verify s']:.1f} s with {usage['verify MB']:.0f} MB |",
            flush=True,
        )
    result = play_collection(stack, "nine", make="begin_large", matches=min(matches, 1000))
    print(
        f"| {result['matches']:,} matches of 9 scripted seats over 15 runs | {result['decisions']:,} decisions in "
        f"{result['seconds']:.0f} s: "
        f"{result['decisions'] / result['seconds']:.0f}/s; worker {result['memory']:.0f} MB |",
        flush=True,
    )
    slow_plan = {"agents": [STEADY_SCRIPT], "grid": {}, "concurrency": 200, "delay": 1.0}
    rate = rate_at_full_concurrency(stack, "slow", seconds=30, matches=2000, **slow_plan)
    print(f"| agents that take 1 s, 200 matches at once | {rate:.0f} decisions/s |", flush=True)
    usage = import_sample(stack, matches)
    print(f"| import of {matches:,} published games | {usage['seconds']:.1f} s, {usage['MB']:.0f} MB |", flush=True)
