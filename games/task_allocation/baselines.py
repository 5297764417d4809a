"""Scripts for task allocation. Only `optimum` knows productivities."""

from __future__ import annotations

from random import Random

from games.interface import MoveData, Role
from games.practice import WithPractice, also_in_practice
from games.task_allocation.state import Allocation, TaskAllocationConfig

TaskAllocation = WithPractice[TaskAllocationConfig, Allocation]

LEARNING = 5
"""Number of random periods before `greedy_efficiency` uses what it has learnt."""


def _assign_in_order(state: Allocation, period: int, workers: list[str]) -> MoveData:
    """Assign the largest task to the first worker, the next to the second, and so on."""
    sizes = state.instance.sizes(period)
    tasks = sorted(sizes, key=lambda task: -sizes[task])
    return {"assignment": dict(zip(tasks, workers, strict=True))}


def optimum(game: TaskAllocation, state: Allocation, role: Role, rng: Random) -> MoveData:
    """Assign the largest tasks to the most productive workers."""
    return _assign_in_order(state, game.period(state), state.instance.most_productive_first())


def random(game: TaskAllocation, state: Allocation, role: Role, rng: Random) -> MoveData:
    """Assign tasks at random."""
    workers = list(state.instance.workers)
    return _assign_in_order(state, game.period(state), rng.sample(workers, len(workers)))


def greedy_efficiency(game: TaskAllocation, state: Allocation, role: Role, rng: Random) -> MoveData:
    """Start at random; then assign the largest tasks to the workers with the highest revenue per unit of size."""
    if game.period(state) < LEARNING:
        return random(game, state, role, rng)
    sizes, revenues = state.totals()
    workers = sorted(state.instance.workers, key=lambda worker: -revenues[worker] / sizes[worker])
    return _assign_in_order(state, game.period(state), workers)


def greedy_equality(game: TaskAllocation, state: Allocation, role: Role, rng: Random) -> MoveData:
    """Assign the largest task to the worker with the lowest total pay, and so on; ties by number."""
    sizes, _revenues = state.totals()
    return _assign_in_order(state, game.period(state), sorted(state.instance.workers, key=lambda worker: sizes[worker]))


SCRIPTS = also_in_practice(optimum, random, greedy_efficiency, greedy_equality)
