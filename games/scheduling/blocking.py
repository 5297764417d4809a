"""The blocking pairs that a random schedule would have (EconEvals, section 3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from operator import mul
from typing import Any


def expected_blocking(worker_ranks: Any, task_ranks: Any) -> float | None:
    """Return the expected number of blocking pairs in a uniform random matching.

    It is Σ (n - rank_w(t))(n - rank_t(w)) / (n(n-1)).

    Args:
        worker_ranks: rank of each task by each worker, from 1, as rows or {worker: {task: rank}}.
        task_ranks: rank of each worker by each task, in the same form.
    """
    by_worker, by_task = _rows(worker_ranks), _rows(task_ranks)
    n = len(by_worker)
    if n < 2:
        return None
    # Σ (n - a)(n - b) = Σ ab - n³, because every row of ranks contains 1 to n exactly once.
    ranks_by_tasks = zip(*by_task, strict=True)  # for each worker, the ranks that all tasks give to the worker
    total = sum(sum(map(mul, row, ranks)) for row, ranks in zip(by_worker, ranks_by_tasks, strict=True)) - n**3
    return total / (n * (n - 1))


def _rows(ranks: Any) -> list[list[int]]:
    if isinstance(ranks, Mapping):
        return [list(row.values()) if isinstance(row, Mapping) else list(row) for row in ranks.values()]
    return [list(row.values()) if isinstance(row, Mapping) else list(row) for row in ranks]
