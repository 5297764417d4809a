"""Work in two processes on two cores, with results that don't depend on which process did what."""

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
"""Called before a piece of work begins: how many are done or under way, and the number of this one."""
RUNS_THREADS = {"vl_convert", "sklearn"}
"""Libraries whose threads don't survive a fork, which then hangs; analyses import them on first use."""
LOOK = 0.2
"""Seconds between checks of the other process's progress, once this one has nothing left to do."""


def possible() -> bool:
    """Return whether this process can be forked safely and there is a second core for the fork."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    can_fork = "fork" in multiprocessing.get_all_start_methods()
    safe = not RUNS_THREADS & sys.modules.keys() and not multiprocessing.current_process().daemon
    return cores > 1 and can_fork and safe


def in_order(work: Callable[[int], R], number: int, begin: Begin) -> list[R]:
    """Return `work(0)`, …, `work(number - 1)`, all computed by this process."""
    found = []
    for at in range(number):
        begin(at, at)
        found.append(work(at))
    return found


def from_both_ends(work: Callable[[int], R], number: int, begin: Begin) -> list[R]:
    """Return `work(0)`, …, `work(number - 1)` in order, computed by this process and a fork of it.

    This process starts with the first piece of work and the fork with the last, until they meet. The fork shares
    the memory of everything loaded so far. If it dies, this process does its share too.

    Args:
        work: must return something that can be pickled, and give the same result in either process.
        begin: called in this process; an exception that it raises ends both processes.
    """
    forking = multiprocessing.get_context("fork")
    taken = forking.Array("i", [0, 0])  # from the beginning, from the end
    receiving, sending = forking.Pipe(duplex=False)
    gc.collect()
    gc.freeze()  # or the collector would touch, and thereby copy, all shared memory
    other = forking.Process(target=_from_the_end, args=(work, number, taken, sending), daemon=True)
    try:
        with warnings.catch_warnings():
            # Later Python versions warn of forks in processes with threads; pyarrow's threads survive a fork.
            warnings.simplefilter("ignore", DeprecationWarning)
            other.start()
        gc.unfreeze()
        sending.close()
        found: dict[int, R] = {}
        while (at := _take(taken, 0, number)) is not None:
            begin(taken[0] + taken[1] - 1, at)
            found[at] = work(at)
        found |= _waited_for(receiving, taken, number, begin)
        for at in range(number):
            if at not in found:
                found[at] = work(at)
        return [found[at] for at in range(number)]
    finally:
        if other.pid is not None:
            other.kill()
            other.join()
        receiving.close()


def _take(taken: Any, end: int, number: int) -> int | None:
    """Return the next piece of work from the beginning (0) or the end (1); None where none is left."""
    with taken.get_lock():
        if taken[0] + taken[1] >= number:
            return None
        before: int = taken[end]
        taken[end] = before + 1
        return before if end == 0 else number - 1 - before


def _from_the_end(work: Callable[[int], R], number: int, taken: Any, sending: Connection) -> None:
    """Work from the end, and send all results once nothing is left; the fork's whole life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process ends this one
    threading.Thread(target=_end_with_parent, daemon=True).start()
    found = {}
    try:
        while (at := _take(taken, 1, number)) is not None:
            found[at] = work(at)
        sending.send_bytes(pickle.dumps(found, protocol=pickle.HIGHEST_PROTOCOL))
    except Exception:  # noqa: BLE001 - the parent repeats the work and meets the same exception
        os._exit(1)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _waited_for(receiving: Connection, taken: Any, number: int, begin: Begin) -> dict[int, Any]:
    """Return what the other process found; nothing if it died."""
    told = 0
    try:
        while not receiving.poll(LOOK):
            if taken[1] != told:
                told = taken[1]
                begin(taken[0] + told - 1, number - told)
        found: dict[int, Any] = pickle.loads(receiving.recv_bytes())
        return found
    except (EOFError, OSError):
        return {}
