"""Share work between two processes; the results do not depend on which process did which part."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

R = TypeVar("R")
Begin = Callable[[int, int], None]
"""Called before a piece of work begins, with the number done or under way and the index of this one."""
RUNS_THREADS = {"vl_convert", "sklearn"}
"""Libraries whose threads make a fork hang; analyses import them on first use."""
POLL_SECONDS = 0.2
"""Seconds between checks on the fork's progress once this process has nothing left to do."""


def fork_is_possible() -> bool:
    """Return whether this process can be forked safely and a second core is available."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    can_fork = "fork" in multiprocessing.get_all_start_methods()
    safe = not RUNS_THREADS & sys.modules.keys() and not multiprocessing.current_process().daemon
    return cores > 1 and can_fork and safe


def in_order(work: Callable[[int], R], number: int, begin: Begin) -> list[R]:
    """Return `work(0)`, …, `work(number - 1)`, all computed in this process."""
    results = []
    for index in range(number):
        begin(index, index)
        results.append(work(index))
    return results


def from_both_ends(work: Callable[[int], R], number: int, begin: Begin) -> list[R]:
    """Return `work(0)`, …, `work(number - 1)` in order, computed in this process and a fork of it.

    This process works from the first piece and the fork from the last, until they meet. The fork shares the memory
    of everything loaded so far. If the fork dies, this process repeats its work.

    Args:
        work: returns something that can be pickled, and gives the same result in either process.
        begin: called in this process; if it raises an exception, both processes end.
    """
    forking = multiprocessing.get_context("fork")
    taken_counts = forking.Array("i", [0, 0])  # pieces taken from the beginning and from the end
    receiving, sending = forking.Pipe(duplex=False)
    gc.collect()
    gc.freeze()  # otherwise the collector would write to all shared memory and thereby copy it
    fork = forking.Process(target=_from_the_end, args=(work, number, taken_counts, sending), daemon=True)
    try:
        with warnings.catch_warnings():
            # Later Python versions warn about forks in processes with threads, but pyarrow's threads survive a fork.
            warnings.simplefilter("ignore", DeprecationWarning)
            fork.start()
        gc.unfreeze()
        sending.close()
        results: dict[int, R] = {}
        while (index := _take_next(taken_counts, 0, number)) is not None:
            begin(taken_counts[0] + taken_counts[1] - 1, index)
            results[index] = work(index)
        results |= _results_of_fork(receiving, taken_counts, number, begin)
        for index in range(number):
            if index not in results:
                results[index] = work(index)
        return [results[index] for index in range(number)]
    finally:
        if fork.pid is not None:
            fork.kill()
            fork.join()
        receiving.close()


def _take_next(taken_counts: Any, end: int, number: int) -> int | None:
    """Return the index of the next piece of work from the beginning (0) or the end (1); None if none is left."""
    with taken_counts.get_lock():
        if taken_counts[0] + taken_counts[1] >= number:
            return None
        count: int = taken_counts[end]
        taken_counts[end] = count + 1
        return count if end == 0 else number - 1 - count


def _from_the_end(work: Callable[[int], R], number: int, taken_counts: Any, sending: Connection) -> None:
    """Run the fork: work from the end, and send all results once nothing is left."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process ends the fork
    threading.Thread(target=_end_with_parent, daemon=True).start()
    results = {}
    try:
        while (index := _take_next(taken_counts, 1, number)) is not None:
            results[index] = work(index)
        sending.send_bytes(pickle.dumps(results, protocol=pickle.HIGHEST_PROTOCOL))
    except Exception:  # noqa: BLE001 - the parent repeats the work and raises the same exception
        os._exit(1)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _results_of_fork(receiving: Connection, taken_counts: Any, number: int, begin: Begin) -> dict[int, Any]:
    """Wait for the fork and return its results; empty if it died."""
    reported = 0
    try:
        while not receiving.poll(POLL_SECONDS):
            if taken_counts[1] != reported:
                reported = taken_counts[1]
                begin(taken_counts[0] + reported - 1, number - reported)
        results: dict[int, Any] = pickle.loads(receiving.recv_bytes())
        return results
    except (EOFError, OSError):
        return {}
