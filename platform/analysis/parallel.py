"""Work on many small items in several processes, with results in order and bounded memory."""

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
"""Number of items sent to a process at once."""
MIN_ITEMS = 500
"""Number of items below which the work finishes before other processes could start."""
Initializer = Callable[..., None]
"""Function that a process calls before its first work; it must be a module-level function."""
CHUNKS_AHEAD = 3
"""Chunks per process that are in progress, or done and not yet consumed."""
CHUNKS_QUEUED = 2
"""Chunks queued for each other process while the calling process works too."""
MAX_PENDING = 24
"""Maximum number of chunks then in progress, or done and not yet consumed; more than are done while processes start."""


def in_order(
    work: Callable[[T], R],
    items: Iterable[T],
    *,
    processes: int | None = None,
    chunk: int = CHUNK,
    min_items: int = MIN_ITEMS,
    start: Initializer | None = None,
    start_args: tuple[Any, ...] = (),
    how: str = "spawn",
    caller_works: bool = False,
    queued: int = CHUNKS_QUEUED,
) -> Iterator[R]:
    """Yield the result of `work` for each item, in order.

    Args:
        work: a module-level function; exceptions that it raises are not handled.
        items: what to work on, taken as needed.
        processes: None: one per core if there are enough items; 1: in this process.
        chunk: number of items sent to a process at once.
        min_items: number of items from which several processes are worthwhile.
        start: called with `start_args` in each new process.
        how: how a process starts; "spawn", since a fork would share this process's database connections and locks.
        caller_works: whether this process works too, for callers that have nothing else to do: one process fewer is
            started, and work begins before the others are ready.
        queued: chunks then queued for each other process; 1 if there is one for each.
    """
    items = iter(items)
    process_count = processes if processes is not None else os.cpu_count() or 1
    if process_count == 1 or multiprocessing.current_process().daemon:
        yield from map(work, items)
        return
    if processes is None:
        first = list(islice(items, min_items))
        if len(first) < min_items:
            yield from map(work, first)
            return
        items = chain(first, items)
    chunks = iter(lambda: list(islice(items, chunk)), [])
    workers = process_count - 1 if caller_works else process_count
    context = multiprocessing.get_context(how)
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=start, initargs=start_args)
    try:
        if caller_works:
            yield from _results_with_caller(work, chunks, pool, workers * queued)
        else:
            yield from _results_from_pool(work, chunks, pool, workers * CHUNKS_AHEAD)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _results_from_pool(
    work: Callable[[T], R], chunks: Iterator[list[T]], pool: ProcessPoolExecutor, ahead: int
) -> Iterator[R]:
    """Yield the results of other processes, which have `ahead` chunks queued."""
    pending: deque[tuple[list[T], Future[list[R]] | None]] = deque()
    pending += ((chunk, _submit(pool, work, chunk)) for chunk in islice(chunks, ahead))
    while pending:
        chunk, future = pending.popleft()
        results = _result(future)
        # Submit the next chunk before yielding these results, so that no process waits for the consumer.
        pending += ((next_chunk, _submit(pool, work, next_chunk)) for next_chunk in islice(chunks, 1))
        yield from map(work, chunk) if results is None else results


def _results_with_caller(
    work: Callable[[T], R], chunks: Iterator[list[T]], pool: ProcessPoolExecutor, ahead: int
) -> Iterator[R]:
    """Yield the results of this process and of others, which have `ahead` chunks queued."""
    pending: deque[tuple[list[T], Future[list[R]] | None]] = deque()
    while True:
        busy = sum(future is not None and not future.done() for _chunk, future in pending)
        to_submit = min(ahead - busy, MAX_PENDING - len(pending))
        pending += ((chunk, _submit(pool, work, chunk)) for chunk in islice(chunks, max(to_submit, 0)))
        if not pending:
            return
        next_future = pending[0][1]
        ready = next_future is None or next_future.done()
        if not ready and len(pending) < MAX_PENDING and (own_chunk := next(chunks, None)) is not None:
            pending.append(([], _finished_future(_process_chunk(work, own_chunk))))
            continue
        chunk, future = pending.popleft()
        results = _result(future)
        yield from map(work, chunk) if results is None else results


def _submit(pool: ProcessPoolExecutor, work: Callable[[T], R], chunk: list[T]) -> Future[list[R]] | None:
    try:
        return pool.submit(_process_chunk, work, chunk)
    except BrokenProcessPool:
        return None


def _result(future: Future[list[R]] | None) -> list[R] | None:
    """Return the results; None if a process was killed or could not start: the caller then does its work."""
    try:
        return future.result() if future else None
    except BrokenProcessPool:
        return None


def _finished_future(results: list[R]) -> Future[list[R]]:
    future: Future[list[R]] = Future()
    future.set_result(results)
    return future


def _process_chunk(work: Callable[[T], R], chunk: list[T]) -> list[R]:
    return [work(item) for item in chunk]
