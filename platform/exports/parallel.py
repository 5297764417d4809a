"""Work on many small things in several processes, with results in order and memory bounded."""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

CHUNK = 50
"""Things that travel to a process together."""
WORTHWHILE = 500
"""Fewer things than this are done sooner than processes have started."""
START = Callable[..., None]
"""What a process does before its first work; a module's function."""
AHEAD = 3
"""Chunks per process that are under way or done and not yet asked for."""


def in_order(
    work: Callable[[T], R],
    things: Iterable[T],
    *,
    processes: int | None = None,
    chunk: int = CHUNK,
    worthwhile: int = WORTHWHILE,
    start: START | None = None,
    given: tuple[Any, ...] = (),
) -> Iterator[R]:
    """`work` of each thing, in order.

    Args:
        work: a module's function; it raises nothing that is to be survived.
        things: what to work on, taken as they are needed.
        processes: None: one per core if there are enough things; 1: in this process.
        chunk: things that travel to a process together.
        worthwhile: how many things are enough.
        start: called with `given` in each new process.
    """
    things = iter(things)
    number = processes if processes is not None else os.cpu_count() or 1
    if number == 1 or multiprocessing.current_process().daemon:
        yield from map(work, things)
        return
    if processes is None:
        first = list(islice(things, worthwhile))
        if len(first) < worthwhile:
            yield from map(work, first)
            return
        things = chain(first, things)
    yield from _with_processes(work, iter(lambda: list(islice(things, chunk)), []), number, start, given)


def _with_processes(
    work: Callable[[T], R], chunks: Iterator[list[T]], number: int, start: START | None, given: tuple[Any, ...]
) -> Iterator[R]:
    # Spawned and not forked: a fork would share this process's database connections and locks.
    spawned = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(number, mp_context=spawned, initializer=start, initargs=given)
    under_way: deque[tuple[list[T], Future[list[R]] | None]] = deque()
    try:
        under_way += ((chunk, _submit(pool, work, chunk)) for chunk in islice(chunks, number * AHEAD))
        while under_way:
            chunk, future = under_way.popleft()
            done = _result(future)
            # The next chunk goes out before these results do, so that no process waits for who takes them.
            under_way += ((following, _submit(pool, work, following)) for following in islice(chunks, 1))
            yield from map(work, chunk) if done is None else done
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _submit(pool: ProcessPoolExecutor, work: Callable[[T], R], chunk: list[T]) -> Future[list[R]] | None:
    try:
        return pool.submit(_each, work, chunk)
    except BrokenProcessPool:
        return None


def _result(future: Future[list[R]] | None) -> list[R] | None:
    """None where a process was killed or could not start: its work is then done by the one who asks."""
    try:
        return future.result() if future else None
    except BrokenProcessPool:
        return None


def _each(work: Callable[[T], R], chunk: list[T]) -> list[R]:
    return [work(thing) for thing in chunk]
