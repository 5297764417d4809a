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
WAITING = 2
"""Chunks that each other process has before it while the asking process works too."""
HELD = 24
"""Chunks that are then under way or done and not yet asked for: more than are done while processes start."""


def in_order(
    work: Callable[[T], R],
    things: Iterable[T],
    *,
    processes: int | None = None,
    chunk: int = CHUNK,
    worthwhile: int = WORTHWHILE,
    start: START | None = None,
    given: tuple[Any, ...] = (),
    helping: bool = False,
    waiting: int = WAITING,
) -> Iterator[R]:
    """`work` of each thing, in order.

    Args:
        work: a module's function; it raises nothing that is to be survived.
        things: what to work on, taken as they are needed.
        processes: None: one per core if there are enough things; 1: in this process.
        chunk: things that travel to a process together.
        worthwhile: how many things are enough.
        start: called with `given` in each new process.
        helping: this process is one of them, for askers that have nothing else to do: one process fewer is started,
            and work begins before the others are ready.
        waiting: chunks that each other process then has before it; 1 where there is one for each.
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
    chunks = iter(lambda: list(islice(things, chunk)), [])
    others = number - 1 if helping else number
    # Spawned and not forked: a fork would share this process's database connections and locks.
    spawned = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(others, mp_context=spawned, initializer=start, initargs=given)
    try:
        if helping:
            yield from _helped(work, chunks, pool, others * waiting)
        else:
            yield from _waited_for(work, chunks, pool, others * AHEAD)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _waited_for(
    work: Callable[[T], R], chunks: Iterator[list[T]], pool: ProcessPoolExecutor, ahead: int
) -> Iterator[R]:
    """Results of what other processes do, which have `ahead` chunks before them."""
    pending: deque[tuple[list[T], Future[list[R]] | None]] = deque()
    pending += ((chunk, _submit(pool, work, chunk)) for chunk in islice(chunks, ahead))
    while pending:
        chunk, future = pending.popleft()
        done = _result(future)
        # The next chunk goes out before these results do, so that no process waits for the consumer.
        pending += ((following, _submit(pool, work, following)) for following in islice(chunks, 1))
        yield from map(work, chunk) if done is None else done


def _helped(work: Callable[[T], R], chunks: Iterator[list[T]], pool: ProcessPoolExecutor, ahead: int) -> Iterator[R]:
    """Results of what other processes do, which have `ahead` chunks before them, and this one meanwhile."""
    pending: deque[tuple[list[T], Future[list[R]] | None]] = deque()
    while True:
        busy = sum(future is not None and not future.done() for _chunk, future in pending)
        wanted = min(ahead - busy, HELD - len(pending))
        pending += ((chunk, _submit(pool, work, chunk)) for chunk in islice(chunks, max(wanted, 0)))
        if not pending:
            return
        following = pending[0][1]
        ready = following is None or following.done()
        if not ready and len(pending) < HELD and (mine := next(chunks, None)) is not None:
            pending.append((mine, _done(_each(work, mine))))
            continue
        chunk, future = pending.popleft()
        done = _result(future)
        yield from map(work, chunk) if done is None else done


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


def _done(results: list[R]) -> Future[list[R]]:
    future: Future[list[R]] = Future()
    future.set_result(results)
    return future


def _each(work: Callable[[T], R], chunk: list[T]) -> list[R]:
    return [work(thing) for thing in chunk]
