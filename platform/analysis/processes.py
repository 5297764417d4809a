"""Share analyses between this process and a fork of it, which shares the memory of everything loaded so far.

Processes that load the dataset for themselves, joblib's among them, take more time and memory.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from analysis.parallel import in_order

R = TypeVar("R")
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


def in_two(work: Callable[[int], R], items: Iterable[int]) -> list[R]:
    """Return the results of `work` in order; if the fork dies, this process repeats its work.

    Args:
        work: returns something that can be pickled, and gives the same result in either process.
        items: taken as needed; if that raises an exception, both processes end.
    """
    import statsmodels.regression.linear_model
    import statsmodels.stats.multitest  # noqa: F401 - loaded once, for both processes

    children = set(multiprocessing.active_children())
    _shared["work"] = work
    gc.collect()
    gc.freeze()  # otherwise the collector would write to all shared memory and thereby copy it
    try:
        with warnings.catch_warnings():
            # Later Python versions warn about forks in processes with threads, but pyarrow's threads survive a fork.
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
            return list(in_order(_do, items, processes=2, chunk=1, start=_prepare, how="fork", caller_works=True,
                                 queued=1))  # fmt: skip
    finally:
        gc.unfreeze()
        for child in set(multiprocessing.active_children()) - children:
            child.kill()


def _prepare() -> None:
    """Leave interrupts to the parent process, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do(item: int) -> Any:
    return _shared["work"](item)
