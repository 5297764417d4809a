"""Where a move spends its time: `make profile` prints what a move costs each process, the database and Redis.

With py-spy on the PATH (`pip install py-spy`), it also prints which of our functions hold the interpreter's
lock, with what they call. Waiting is not counted.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path

from config.supervisor import ROOT
from deploy.bench.kit import STUDY, Measured, Table, stack_on
from tests import players

SAMPLED = ("web", "worker")
RATE = 200
"""Samples per second."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=100, help="concurrent participants (100)")
    parser.add_argument("--thinking", type=float, default=2.0, help="mean seconds that a participant thinks (2)")
    parser.add_argument("--seconds", type=float, default=20.0, help="seconds measured (20)")
    parser.add_argument("--top", type=int, default=40, help="functions shown of each process (40)")
    options = parser.parse_args()
    size = {"workers": options.workers, "thinking": options.thinking, "seconds": options.seconds}
    spy, done = shutil.which("py-spy") or "", []
    with stack_on("postgres") as (stack, pids), tempfile.TemporaryDirectory() as folder:

        async def sample(measured: Measured) -> None:
            await asyncio.sleep(measured.since - time.monotonic())
            done.append(await asyncio.to_thread(stack.call, "deploy.bench.study.work_done"))
            how = ["--subprocesses", "--gil", "--rate", str(RATE), "--duration", str(round(options.seconds))]
            spies = [
                await asyncio.create_subprocess_exec(
                    spy, "record", "--pid", str(pids[name]), *how, "--format", "raw", "--output", f"{folder}/{name}",
                    stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
                )
                for name in (SAMPLED if spy else ())
            ]  # fmt: skip
            await asyncio.sleep(measured.until - time.monotonic())
            done.append(await asyncio.to_thread(stack.call, "deploy.bench.study.work_done"))
            await asyncio.gather(*(each.wait() for each in spies))

        everyone = {**pids, "client": os.getpid()}
        measured = asyncio.run(players.run(stack.url, f"/join/{STUDY}/", **size, pids=everyone, beside=sample))
        table = Table("of a move|amount")
        for name, seconds in measured.cpu.items():
            table.row(f"CPU ms, {name}", 1000 * seconds / measured.moves)
        for what, before in done[0].items():
            table.row(what, (done[1][what] - before) / measured.moves)
        for name in SAMPLED if spy else ():
            table = Table(f"{name}: function, with what it calls|% of samples")
            for function, share in shares(Path(folder, name).read_text()).most_common(options.top):
                table.row(function, share)


def shares(stacks: str) -> Counter[str]:
    """Return in how many percent of py-spy's raw samples each of our functions was at work."""
    at_work, total = Counter[str](), 0
    for line in stacks.splitlines():
        frames, _space, number = line.rpartition(" ")
        functions = {re.sub(r":\d+\)$", ")", frame) for frame in frames.split(";")}
        at_work.update({function: int(number) for function in functions if _is_ours(function)})
        total += int(number)
    return Counter({function: 100 * number / total for function, number in at_work.items()})


def _is_ours(function: str) -> bool:
    path = function.rpartition("(")[2].rstrip(")")
    return path.endswith(".py") and any((folder / path).exists() for folder in (ROOT, ROOT / "platform"))


if __name__ == "__main__":
    main()
