"""What the benchmarks share: stacks, what processes use, times of what is done again and again, and tables."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import psutil
import psycopg

from config import children
from config.postgres import PrivatePostgres
from config.supervisor import Stack, free_port
from deploy.bench import history

STUDY = "benchmark"


@contextmanager
def stack_on(database: str, web_processes: int = 1, workers: int = 1) -> Iterator[tuple[Stack, Mapping[str, int]]]:
    """Run a private stack on "sqlite" or "postgres" with the study `STUDY`; yield it with its servers' process ids."""
    with (
        database_on(database) as (url, ids),
        tempfile.TemporaryDirectory(prefix="parley-bench-") as folder,
        ExitStack() as ending,
    ):
        environment = {"SECRET_KEY": "bench", "JOINS_PER_HOUR": "1000000", **({"DATABASE_URL": url} if url else {})}
        stack = ending.enter_context(Stack(folder, web_processes=web_processes, environment=environment))
        stack.call("tests.actions.launch_endless", STUDY)
        pids = {name: pid for name, pid in stack.pids.items() if name in ("web", "worker", "redis")}
        pids |= {
            f"worker {number}": ending.enter_context(another_worker(stack, number)) for number in range(2, workers + 1)
        }
        yield stack, pids | ids


@contextmanager
def database_on(kind: str) -> Iterator[tuple[str, dict[str, int]]]:
    """Start a durable "postgres", or nothing for "sqlite"; yield its address, or "", and its process id by name."""
    if kind == "sqlite":
        yield "", {}
        return
    postgres = PrivatePostgres(durable=True)
    try:
        url = postgres.start()
        assert postgres.process is not None
        yield url, {"database": postgres.process.pid}
    finally:
        postgres.stop()


@contextmanager
def another_worker(stack: Stack, number: int = 2) -> Iterator[int]:
    """Run one more worker like the stack's own; yield its process id."""
    queues = ["-n", f"turns{number}@%h", "-P", "threads", "-c", "12", "-Q", "turns,default,payouts"]
    command = [sys.executable, "-m", "celery", "-A", "config", "worker", *queues, "--loglevel", "warning"]
    process = children.start(command, environment=stack.environment, log=stack.data_dir / f"worker{number}.log")
    try:
        yield process.pid
    finally:
        children.stop(process, stop_signal=signal.SIGTERM, patience=15)


@contextmanager
def serving_standin(seconds: float) -> Iterator[tuple[str, int]]:
    """Serve a stand-in that takes these seconds per call; yield its address (OpenAI's: below /v1) and process id."""
    command = [sys.executable, "-m", "llm_agents.standins", "--port", str(port := free_port()), "--delay", str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        try:
            server.stdout.readline()
            yield f"http://127.0.0.1:{port}", server.pid
        finally:
            server.terminate()
            server.communicate()


def memory(*pids: int) -> float:
    """Return the MB of processes and their descendants together, with shared pages counted once."""
    return float(sum(size.pss / 1e6 for size in _read(pids, psutil.Process.memory_full_info)))


def cpu(*pids: int) -> float:
    """Return the CPU seconds that processes and their descendants have used; our own descendants do not count."""
    return float(sum(times.user + times.system for times in _read(pids, psutil.Process.cpu_times)))


def _read(pids: Iterable[int], reading: Callable[[psutil.Process], Any]) -> Iterator[Any]:
    """Yield a reading of each process and descendant; one that has just ended, as a database's may, gives none."""
    for pid in pids:
        with suppress(psutil.NoSuchProcess):
            root = psutil.Process(pid)
            for process in [root, *(root.children(recursive=True) if pid != os.getpid() else ())]:
                with suppress(psutil.Error):
                    yield reading(process)


class Usage(NamedTuple):
    """What a command took: seconds, CPU seconds without the database, and the peak of its processes' memory."""

    seconds: float
    cpu: float
    memory: float


def command(stack: Stack, *arguments: str) -> Usage:
    """Run a management command and measure it with its children, start-up included.

    Raises:
        RuntimeError: the command failed.
    """
    started_at, cpu_before, peak = time.monotonic(), children_cpu(), 0.0
    job = stack.start_manage(*arguments)
    while job.poll() is None:
        peak = max(peak, memory(job.pid))
        time.sleep(0.5)  # each reading costs milliseconds per process
    if job.returncode:
        raise RuntimeError(f"manage.py {' '.join(arguments)} failed: {stack.log(arguments[0])[-2000:]}")
    return Usage(time.monotonic() - started_at, children_cpu() - cpu_before, peak)


def children_cpu() -> float:
    """Return the CPU seconds of all ended children and their descendants."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@dataclass
class Measured:
    """The times of what ended in an interval, and all errors.

    Attributes:
        since, until: the interval, in monotonic seconds.
        times: seconds.
        connections: the most connections of the database that `count_connections` saw.
        cpu: the CPU seconds used in the interval by the processes that `watch` was given, by name.
    """

    since: float
    until: float
    times: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    moves: int = 0
    connections: int = 0
    cpu: dict[str, float] = field(default_factory=dict)

    @classmethod
    def next(cls, seconds: float, *, after: float = 0.0) -> Measured:
        """Return an interval of some seconds that begins `after` some others."""
        since = time.monotonic() + after
        return cls(since, since + seconds)

    @property
    def is_on(self) -> bool:
        return self.since <= time.monotonic() < self.until

    @property
    def seconds(self) -> float:
        return self.until - self.since

    @property
    def cost(self) -> str:
        """CPU milliseconds per move: of all processes, and of each."""
        each = {name: 1000 * used / max(self.moves, 1) for name, used in self.cpu.items()}
        return f"{sum(each.values()):.1f} ({', '.join(f'{name} {cost:.1f}' for name, cost in each.items())})"

    @property
    def served(self) -> float:
        """The CPU seconds of all processes but the clients'."""
        return sum(used for name, used in self.cpu.items() if name != "client")

    @property
    def rate(self) -> float:
        """How many ended per second."""
        return len(self.times) / self.seconds

    def add(self, seconds: float) -> None:
        if self.is_on:
            self.times.append(seconds)

    def add_since(self, began_at: float) -> None:
        """Add the seconds since a time within the interval."""
        if began_at >= self.since:
            self.add(time.monotonic() - began_at)

    def milliseconds(self, *shares: float) -> list[float]:
        """Return quantiles of the times."""
        return [1000 * quantile(self.times, share) for share in shares]

    def moving(self, *shares: float) -> list[float]:
        """Return moves per second, and quantiles of the times in milliseconds."""
        return [self.moves / self.seconds, *self.milliseconds(*shares)]

    async def watch(self, pids: Mapping[str, int]) -> None:
        """Measure CPU time in the interval."""
        await asyncio.sleep(self.since - time.monotonic())
        before = {name: cpu(pid) for name, pid in pids.items()}
        await asyncio.sleep(self.until - time.monotonic())
        self.cpu = {name: cpu(pid) - before[name] for name, pid in pids.items()}

    async def repeat(self, number: int, act: Callable[[], Awaitable[object]]) -> None:
        """Let `number` at once do something again and again until the interval ends."""

        async def one() -> None:
            while time.monotonic() < self.until:
                await self.noting_errors(act())

        await asyncio.gather(*(one() for _number in range(number)))

    async def noting_errors(self, act: Awaitable[object]) -> None:
        try:
            await act
        except Exception as error:  # noqa: BLE001  (a benchmark counts every failure)
            self.errors.append(f"{type(error).__name__}: {error}"[:200])


async def count_connections(url: str, measured: Measured) -> None:
    """Note the most connections of a PostgreSQL database, without this one, until the interval ends."""
    query = "SELECT count(*) - 1 FROM pg_stat_activity WHERE backend_type = 'client backend'"
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        while time.monotonic() < measured.until:
            ((number,),) = await (await connection.execute(query)).fetchall()
            measured.connections = max(measured.connections, number)
            await asyncio.sleep(0.1)


def quantile(values: Iterable[float], share: float) -> float:
    """Return the value below which this share lies; not a number if there is none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


class Table:
    """A table of Markdown, printed row by row, each with its ratios to the last run; `headings` are separated by |."""

    def __init__(self, headings: str):
        self._rows = history.Rows(headings)
        print(f"\n|{headings}|\n|" + "---|" * (1 + headings.count("|")), flush=True)

    def row(self, *cells: object, errors: Sequence[str] | None = None) -> None:
        """Print a row; with `errors`, their number is the last cell, and examples follow the row."""
        texts = [*map(_text, cells), *([] if errors is None else [str(len(errors))])]
        print(f"| {' | '.join(texts)} |", flush=True)
        if compared := self._rows.compared(cells, texts):
            print(f"  {compared}", flush=True)
        for error in sorted(set(errors or ()))[:3]:
            print(f"  error: {error}", flush=True)


def _text(cell: object) -> str:
    """Return three digits of a fraction, and all digits of a whole number."""
    if isinstance(cell, float):
        return f"{cell:,.{2 if abs(cell) < 10 else 1 if abs(cell) < 100 else 0}f}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)
