"""Share work between this process and a fork of it; the results do not depend on which of them did which part.

The fork shares the memory of everything loaded so far. joblib would copy the data to its processes, or wait forever
for one that was killed.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

R = TypeVar("R")
Begin = Callable[[int, int], None]
"""Called in this process before a piece of work begins, with the number done and the index of this one."""
RUNS_THREADS = {"vl_convert", "sklearn"}
"""Libraries whose threads make a fork hang; analyses import them on first use."""
_shared: dict[str, Callable[[int], Any]] = {}
"""The work under way, which the fork inherits."""


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


def in_parallel(work: Callable[[int], R], number: int, begin: Begin) -> list[R]:
    """Return `work(0)`, …, `work(number - 1)` in order; this process works from the first on, a fork from the last.

    If the fork dies, this process repeats its work.

    Args:
        work: returns something that can be pickled, and gives the same result in either process.
        begin: if it raises an exception, both processes end.
    """
    import statsmodels.regression.linear_model
    import statsmodels.stats.multitest  # noqa: F401 - loaded once, for both processes

    results: dict[int, R] = {}
    children = set(multiprocessing.active_children())
    _shared["work"] = work
    gc.collect()
    gc.freeze()  # otherwise the collector would write to all shared memory and thereby copy it
    pool = ProcessPoolExecutor(1, multiprocessing.get_context("fork"), initializer=_prepare)
    try:
        with warnings.catch_warnings():
            # Later Python versions warn about forks in processes with threads, but pyarrow's threads survive a fork.
            warnings.simplefilter("ignore", DeprecationWarning)
            of_fork = {index: pool.submit(_do, index) for index in reversed(range(number))}
        gc.unfreeze()
        for index in range(number):
            if not of_fork[index].cancel():
                break  # the fork has it, or has done it
            del of_fork[index]
            begin(len(results) + sum(future.done() for future in of_fork.values()), index)
            results[index] = work(index)
        for index, future in of_fork.items():
            if not future.done():
                begin(len(results), index)
            results[index] = future.result()
    except BrokenProcessPool:
        pass
    finally:
        for child in set(multiprocessing.active_children()) - children:
            child.kill()
        pool.shutdown(cancel_futures=True)
    return [results[index] if index in results else work(index) for index in range(number)]


def _prepare() -> None:
    """Leave interrupts to the parent process, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do(index: int) -> Any:
    return _shared["work"](index)
