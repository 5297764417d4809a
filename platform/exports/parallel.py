"""Work on many small things in several processes, with results in order and bounded memory."""

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
"""Number of things sent to a process at once."""
WORTHWHILE = 500
"""Number of things below which the work finishes sooner than processes can start."""
START = Callable[..., None]
"""Function that a process calls before its first work; it must be a module-level function."""
AHEAD = 3
"""Chunks per process that are in progress, or done and not yet consumed."""
WAITING = 2
"""Chunks queued for each other process while the calling process works too."""
HELD = 24
"""Most chunks then in progress, or done and not yet consumed: more than are done while processes start."""


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
    """Yield the result of `work` for each thing, in order.

    Args:
        work: a module-level function; exceptions that it raises are not handled.
        things: what to work on, taken as needed.
        processes: None: one per core if there are enough things; 1: in this process.
        chunk: number of things sent to a process at once.
        worthwhile: number of things that is enough.
        start: called with `given` in each new process.
        helping: whether this process works too, for callers that have nothing else to do: one process fewer is started,
            and work begins before the others are ready.
        waiting: chunks then queued for each other process; 1 if there is one for each.
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
    # Spawned, not forked: a fork would share this process's database connections and locks.
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
    """Yield the results of other processes, which have `ahead` chunks queued."""
    pending: deque[tuple[list[T], Future[list[R]] | None]] = deque()
    pending += ((chunk, _submit(pool, work, chunk)) for chunk in islice(chunks, ahead))
    while pending:
        chunk, future = pending.popleft()
        done = _result(future)
        # Submit the next chunk before yielding these results, so that no process waits for the consumer.
        pending += ((following, _submit(pool, work, following)) for following in islice(chunks, 1))
        yield from map(work, chunk) if done is None else done


def _helped(work: Callable[[T], R], chunks: Iterator[list[T]], pool: ProcessPoolExecutor, ahead: int) -> Iterator[R]:
    """Yield the results of other processes, which have `ahead` chunks queued, and of this one meanwhile."""
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
    """Return the results; None if a process was killed or could not start: the caller then does its work."""
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
