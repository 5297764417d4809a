"""Where a move spends its time: what it costs each process, the database and Redis.

With py-spy on the PATH (`pip install py-spy`), it also draws flame graphs of the functions that hold the interpreter's
lock. Waiting is not counted, except for a core: on a busy machine, the event loop, which wakes up most often, is drawn
several times too wide. The system's own count of its CPU time is in the table.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import time

import psutil

from config.supervisor import ROOT
from deploy.bench.kit import STUDY, Measured, Table, stack_on
from tests import players


def report(options: argparse.Namespace) -> None:
    """Print a row for each cost of a move, on durable PostgreSQL."""
    size, done, loop = {"workers": 100, "thinking": options.thinking, "seconds": options.seconds}, [], []
    with stack_on("postgres") as (stack, pids):

        async def sample(measured: Measured) -> None:
            await asyncio.sleep(measured.since - time.monotonic())
            done.append(await asyncio.to_thread(stack.call, "deploy.bench.study.work_done"))
            loop.append(_event_loop(pids["web"]))
            spies = []
            for name in ("web", "worker") if shutil.which("py-spy") else ():
                how = ["--subprocesses", "--gil", "--rate", "200", "--duration", str(round(measured.seconds))]
                graph = str(ROOT / "var" / f"profile-{name}.svg")
                command = ["py-spy", "record", "--pid", str(pids[name]), *how, "--output", graph]
                spies.append(await asyncio.create_subprocess_exec(*command))
            await asyncio.sleep(measured.until - time.monotonic())
            loop.append(_event_loop(pids["web"]))
            done.append(await asyncio.to_thread(stack.call, "deploy.bench.study.work_done"))
            await asyncio.gather(*(each.wait() for each in spies))

        server = players.Server(stack.url, f"/join/{STUDY}/", {**pids, "client": os.getpid()})
        measured = asyncio.run(players.run(server, **size, beside=sample))
    table = Table("of a move|amount")
    table.row("CPU ms", measured.cost)
    table.row("CPU ms of the web server's event loop", 1000 * (loop[1] - loop[0]) / measured.moves)
    for what, before in done[0].items():
        table.row(what, (done[1][what] - before) / measured.moves)


def _event_loop(server: int) -> float:
    """Return the CPU seconds of the web processes' main threads."""
    processes = psutil.Process(server).children(recursive=True)
    threads = (thread for process in processes for thread in process.threads() if thread.id == process.pid)
    return float(sum(thread.user_time + thread.system_time for thread in threads))
