"""The benchmark: concurrent live matches on this machine, clients included.

`make bench` prints a table; `make bench BENCH="--workers 1 50 --database sqlite"` prints a part of it.
It starts a private stack for each database (web server, worker, Redis, PostgreSQL). N simulated participants
enter by HTTP and play over the socket against a scripted opponent. The table has the time from sending an
offer to the opponent's counter-offer on the socket, CPU per move by process, and memory. Compare ratios
within one run rather than figures from different machines.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform as machine
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil

from config.postgres import PrivatePostgres
from config.supervisor import Stack
from deploy.bench import beside, calls, collecting, datasets, groups, monitor, pages, tools, workers

STUDY = "benchmark"
BENCHMARK_PARTS = ["live", "pages", "beside", "groups", "calls", "collections", "tools", "monitor", "export"]
PROCESS_GROUPS = ("web", "worker", "redis", "database", "client")


@contextmanager
def stack_on(database: str, web_processes: int = 1) -> Iterator[tuple[Stack, PrivatePostgres | None]]:
    """Run a private stack on "sqlite" or "postgres"."""
    postgres = PrivatePostgres(durable=True) if database == "postgres" else None
    try:
        with (
            tempfile.TemporaryDirectory(prefix="parley-bench-") as folder,
            Stack(
                folder,
                web_processes=web_processes,
                database_url=postgres.start() if postgres else None,
                environment={
                    "SECRET_KEY": "bench",
                    "JOINS_PER_HOUR": "1000000",
                },
            ) as stack,
        ):
            stack.call("deploy.bench.study.launch", STUDY)
            yield stack, postgres
    finally:
        if postgres is not None:
            postgres.stop()


class Meter:
    """Measures CPU seconds and memory of the stack's processes and our own, by group."""

    def __init__(self, stack: Stack, postgres: PrivatePostgres | None):
        self._roots = {name: psutil.Process(pid) for name, pid in stack.pids.items() if name in PROCESS_GROUPS}
        self._roots["client"] = psutil.Process(os.getpid())
        if postgres is not None and postgres.process is not None:
            self._roots["database"] = psutil.Process(postgres.process.pid)
        self.start_seconds: dict[str, float] = {}
        self.started_at = 0.0

    def _processes(self, name: str) -> list[psutil.Process]:
        root = self._roots[name]
        return [root] if name == "client" else [root, *root.children(recursive=True)]

    def seconds(self) -> dict[str, float]:
        """Return the CPU seconds used so far, including those of children that have ended."""
        cpu_seconds = {}
        for name in self._roots:
            cpu_seconds[name] = sum(_cpu_seconds(process) for process in self._processes(name))
        return cpu_seconds

    def begin(self) -> None:
        self.start_seconds, self.started_at = self.seconds(), time.monotonic()

    def per_move(self, moves: int) -> dict[str, float]:
        """Return the CPU milliseconds per move since `begin`, by group."""
        now = self.seconds()
        return {name: 1000 * (now[name] - self.start_seconds[name]) / max(moves, 1) for name in now}

    def megabytes(self) -> float:
        """Return the memory of the server's processes (not the clients), counting shared pages once."""
        names = [name for name in self._roots if name != "client"]
        return sum(process.memory_full_info().pss for name in names for process in self._processes(name)) / 1e6


def _cpu_seconds(process: psutil.Process) -> float:
    """Return a process's CPU seconds, or 0 if it has just ended, as a database backend may."""
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return times.user + times.system


def live(database: str, counts: list[int], *, seconds: float, thinking: float) -> None:
    """Print a row for each number of participants."""
    with stack_on(database) as (stack, postgres):
        address = stack.url.removeprefix("http://")
        for count, pause in [*((count, thinking) for count in counts), (8, 0.0)]:
            meter = Meter(stack, postgres)
            measured = asyncio.run(
                workers.run(
                    address, f"/join/{STUDY}/", workers=count, thinking=pause, seconds=seconds, begin=meter.begin
                )
            )
            per_move = meter.per_move(measured.moves)
            share = " ".join(f"{name} {cost:.1f}" for name, cost in per_move.items())
            print(
                f"| {database} | {count} | {f'{pause:g} s' if pause else 'none'} | {measured.moves / seconds:.0f} "
                f"| {measured.percentile(0.5):.0f} | {measured.percentile(0.95):.0f} | {measured.percentile(0.99):.0f} "
                f"| {len(measured.errors)} | {sum(per_move.values()):.1f} ({share}) | {meter.megabytes():.0f} |",
                flush=True,
            )
            for error in sorted(set(measured.errors))[:3]:
                print(f"  error: {error}", flush=True)


def simulation_rate() -> float:
    """Return bargaining decisions per second of `manage.py simulate`, start-up included."""
    command = [sys.executable, "manage.py", "simulate", "bargaining", "--matches", "3000", "--json"]
    command += ["--seat", "alice=script:haggler", "--seat", "bob=script:random"]
    started_at = time.monotonic()
    simulation = subprocess.run(command, capture_output=True, text=True, check=True)
    return simulation.stdout.count('"kind": "move"') / (time.monotonic() - started_at)


def main() -> None:
    parser: Any = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 50, 200], help="concurrent participants")
    parser.add_argument("--database", choices=["sqlite", "postgres"], nargs="*", default=["postgres", "sqlite"])
    parser.add_argument("--seconds", type=float, default=30.0, help="seconds measured per row")
    parser.add_argument("--parts", choices=BENCHMARK_PARTS, nargs="*", default=BENCHMARK_PARTS)
    parser.add_argument("--matches", type=int, default=10_000, help="matches in the large collection")
    parser.add_argument("--exported", type=int, default=datasets.MATCHES, help="matches in the exported datasets")
    parser.add_argument("--thinking", type=float, default=2.0, help="mean seconds that a participant thinks")
    options = parser.parse_args()
    print(
        f"{machine.machine()}, {os.cpu_count()} cores, Python {machine.python_version()}; clients on the same machine"
    )
    print(f"simulate: {simulation_rate():,.0f} bargaining decisions per second\n")
    if "live" in options.parts:
        _report_live(options)
    if "pages" in options.parts:
        pages.report(stack_on, options.database, seconds=options.seconds)
    if "beside" in options.parts:
        beside.report(stack_on, options.database, seconds=options.seconds, thinking=options.thinking)
    if "groups" in options.parts:
        print("\n| database | people in groups | | |\n|---|---|", flush=True)
        groups.report(stack_on, options.database)
    if "calls" in options.parts:
        calls.report()
    if "collections" in options.parts:
        print("\n| collections, on durable PostgreSQL | |\n|---|---|", flush=True)
        with stack_on("postgres") as (stack, _postgres):
            collecting.report(stack, matches=options.matches)
    if "tools" in options.parts:
        print("\n| turns with tools, on durable PostgreSQL | |\n|---|---|", flush=True)
        with stack_on("postgres") as (stack, _postgres):
            tools.report(stack, seconds=options.seconds)
    if "export" in options.parts:
        for database in options.database:
            print(f"\nDatasets, on {database}", flush=True)
            with stack_on(database) as (stack, _postgres):
                datasets.report(stack, matches=options.exported)
    if "monitor" in options.parts:
        print("\nA study's monitor, on durable PostgreSQL", flush=True)
        with stack_on("postgres") as (stack, _postgres):
            monitor.report(stack)


def _report_live(options: argparse.Namespace) -> None:
    print(
        "| database | workers | thinking | moves/s | p50 ms | p95 ms | p99 ms | errors | CPU ms per move | memory MB |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    for database in options.database:
        live(database, options.workers, seconds=options.seconds, thinking=options.thinking)


if __name__ == "__main__":
    main()
