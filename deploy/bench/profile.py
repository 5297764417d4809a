"""Where a move spends its time: what it costs each process, the database and Redis.

With py-spy on the PATH (`pip install py-spy`), it also draws flame graphs of the functions that hold the interpreter's
lock. Waiting is not counted.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import time

from config.supervisor import ROOT
from deploy.bench.kit import STUDY, Measured, Table, stack_on
from tests import players


def report(options: argparse.Namespace) -> None:
    """Print a row for each cost of a move, on durable PostgreSQL."""
    size, done = {"workers": 100, "thinking": options.thinking, "seconds": options.seconds}, []
    with stack_on("postgres") as (stack, pids):

        async def sample(measured: Measured) -> None:
            await asyncio.sleep(measured.since - time.monotonic())
            done.append(await asyncio.to_thread(stack.call, "deploy.bench.study.work_done"))
            spies = []
            for name in ("web", "worker") if shutil.which("py-spy") else ():
                how = ["--subprocesses", "--gil", "--rate", "200", "--duration", str(round(measured.seconds))]
                graph = str(ROOT / "var" / f"profile-{name}.svg")
                command = ["py-spy", "record", "--pid", str(pids[name]), *how, "--output", graph]
                spies.append(await asyncio.create_subprocess_exec(*command))
            await asyncio.sleep(measured.until - time.monotonic())
            done.append(await asyncio.to_thread(stack.call, "deploy.bench.study.work_done"))
            await asyncio.gather(*(each.wait() for each in spies))

        everyone = {**pids, "client": os.getpid()}
        measured = asyncio.run(players.run(stack.url, f"/join/{STUDY}/", **size, pids=everyone, beside=sample))
    table = Table("of a move|amount")
    table.row("CPU ms", measured.cost)
    for what, before in done[0].items():
        table.row(what, (done[1][what] - before) / measured.moves)
