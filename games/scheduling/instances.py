"""Instances of scheduling: everybody's preferences, specified or drawn (EconEvals, section 3.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from random import Random
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from games.interface import PlainData
from games.scheduling.blocking import expected_blocking
from games.words import quoted

Preferences = Literal["uniform", "shared", "correlated", "correlated_shared"]
KINDS: tuple[Preferences, ...] = ("uniform", "shared", "correlated", "correlated_shared")
LEVELS: Mapping[str, tuple[int, int]] = {"basic": (10, 1), "medium": (20, 2), "hard": (50, 5), "small": (5, 1)}
"""(number of workers and of tasks, blocking pairs reported) by level."""
Ranking = Annotated[tuple[str, ...], Field(min_length=1, max_length=200, strict=False)]
Matching = Mapping[str, str]
"""Task by worker."""
Pair = tuple[str, str]
"""A worker and a task."""


class Instance(PlainData):
    """Everybody's ranking of the other side, best first; hidden from players."""

    worker_preferences: Annotated[dict[str, Ranking], Field(min_length=2, max_length=200)] = Field(
        title="Preferences of the workers", description="Every worker's ranking of all tasks, best first."
    )
    task_preferences: Annotated[dict[str, Ranking], Field(min_length=2, max_length=200)] = Field(
        title="Preferences of the tasks", description="Every task's ranking of all workers, best first."
    )

    @model_validator(mode="after")
    def _check_rankings(self) -> Instance:
        if len(self.worker_preferences) != len(self.task_preferences):
            raise PydanticCustomError("sizes", "The numbers of workers and tasks must be equal.")
        for preferences, other_side in (
            (self.worker_preferences, self.task_preferences),
            (self.task_preferences, self.worker_preferences),
        ):
            for name, ranking in preferences.items():
                if sorted(ranking) != sorted(other_side):
                    raise PydanticCustomError(
                        "ranking",
                        "The preferences of {name} must rank everyone on the other side exactly once.",
                        {"name": quoted(name, most=60)},
                    )
        return self

    @property
    def workers(self) -> tuple[str, ...]:
        return tuple(self.worker_preferences)

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(self.task_preferences)

    @cached_property
    def worker_ranks(self) -> Mapping[str, Mapping[str, int]]:
        """Each worker's ranks of the tasks, from 1."""
        return {name: _ranks(ranking) for name, ranking in self.worker_preferences.items()}

    @cached_property
    def task_ranks(self) -> Mapping[str, Mapping[str, int]]:
        """Each task's ranks of the workers, from 1."""
        return {name: _ranks(ranking) for name, ranking in self.task_preferences.items()}

    def blocking_pairs(self, matching: Matching) -> list[Pair]:
        """Return the pairs that prefer each other to what they were assigned, ordered by worker, then task."""
        held_by = {task: worker for worker, task in matching.items()}
        return [
            (worker, task)
            for worker in self.workers
            for task in self.tasks
            if self.worker_ranks[worker][task] < self.worker_ranks[worker][matching[worker]]
            and self.task_ranks[task][worker] < self.task_ranks[task][held_by[task]]
        ]

    @cached_property
    def expected_blocking_pairs(self) -> float:
        """The exact expected number of blocking pairs of a uniformly random matching."""
        by_worker = [[*map(ranks.__getitem__, self.task_preferences)] for ranks in self.worker_ranks.values()]
        by_task = [[*map(ranks.__getitem__, self.worker_preferences)] for ranks in self.task_ranks.values()]
        expected = expected_blocking(by_worker, by_task)
        assert expected is not None  # there are at least two workers
        return float(expected)

    def stable_matching(self) -> dict[str, str]:
        """Return the stable matching that is best for all workers (Gale and Shapley 1962)."""
        held_by: dict[str, str] = {}
        next_choice = dict.fromkeys(self.workers, 0)
        free = list(reversed(self.workers))
        while free:
            worker = free.pop()
            task = self.worker_preferences[worker][next_choice[worker]]
            next_choice[worker] += 1
            rival = held_by.get(task)
            if rival is None or self.task_ranks[task][worker] < self.task_ranks[task][rival]:
                held_by[task] = worker
                free += [rival] if rival is not None else []
            else:
                free.append(worker)
        by_worker = {worker: task for task, worker in held_by.items()}
        return {worker: by_worker[worker] for worker in self.workers}


def _ranks(ranking: Sequence[str]) -> dict[str, int]:
    return {name: rank for rank, name in enumerate(ranking, start=1)}


def numbered(n: int) -> tuple[list[str], list[str]]:
    """Return the names of n workers and n tasks: W1, W2, … and T1, T2, …"""
    return [f"W{i}" for i in range(1, n + 1)], [f"T{i}" for i in range(1, n + 1)]


def draw(workers: list[str], tasks: list[str], kind: Preferences, rng: Random) -> dict[str, Any]:
    """Draw the preferences of as many workers as tasks.

    Correlated: each worker and task has a score from U[1, 3]. A worker's latent value of a task is exponential with
    the task's score as its rate; smaller is better. The same holds for tasks' values of workers.
    """
    n = len(workers)
    if kind in ("uniform", "shared"):
        by_worker = {worker: rng.sample(tasks, n) for worker in workers}
        shared_ranking = rng.sample(workers, n)
        by_task = {task: shared_ranking if kind == "shared" else rng.sample(workers, n) for task in tasks}
        return {"worker_preferences": by_worker, "task_preferences": by_task}
    worker_scores = {worker: rng.uniform(1, 3) for worker in workers}
    task_scores = {task: rng.uniform(1, 3) for task in tasks}
    by_worker = {worker: _correlated_ranking(task_scores, rng) for worker in workers}
    shared_ranking = _correlated_ranking(worker_scores, rng)
    by_task = {
        task: shared_ranking if kind == "correlated_shared" else _correlated_ranking(worker_scores, rng)
        for task in tasks
    }
    return {"worker_preferences": by_worker, "task_preferences": by_task}


def _correlated_ranking(scores: Mapping[str, float], rng: Random) -> list[str]:
    latent = {name: rng.expovariate(score) for name, score in scores.items()}
    return sorted(latent, key=lambda name: latent[name])
