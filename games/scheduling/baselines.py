"""Scripts for scheduling. Only `optimum` knows the preferences."""

from __future__ import annotations

from random import Random

from games.interface import MoveData, Role
from games.practice import Benchmark, also_in_practice
from games.scheduling.state import Attempts, SchedulingConfig

Scheduling = Benchmark[SchedulingConfig, Attempts]


def optimum(game: Scheduling, state: Attempts, role: Role, rng: Random) -> MoveData:
    """Submit the stable matching that is best for the workers."""
    return {"assignment": state.instance.stable_matching()}


def random(game: Scheduling, state: Attempts, role: Role, rng: Random) -> MoveData:
    """Submit a random matching."""
    workers, tasks = state.instance.workers, list(state.instance.tasks)
    return {"assignment": dict(zip(workers, rng.sample(tasks, len(tasks)), strict=True))}


def repair(game: Scheduling, state: Attempts, role: Role, rng: Random) -> MoveData:
    """Start with the identity; then match the first reported pair, and their former partners with each other."""
    if not state.attempts:
        return {"assignment": dict(zip(state.instance.workers, state.instance.tasks, strict=True))}
    last = state.attempts[-1]
    matching = dict(last.matching)
    if last.told:
        worker, task = last.told[0]
        rival = next(holder for holder, assigned_task in matching.items() if assigned_task == task)
        matching[rival], matching[worker] = matching[worker], task
    return {"assignment": matching}


SCRIPTS = also_in_practice(optimum, random, repair)
