"""Instances of task allocation: productivities and all tasks, specified or drawn (EconEvals, section 4.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from random import Random
from typing import Annotated, Any

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from games.interface import PlainData

MEAN_SIZE = 60
"""Mean size of a worker's tasks in a drawn instance."""
LOWEST, SPREAD = 1, 18
"""Productivities are spaced equally from 1 to 19."""
PRACTICE_TASK = "J"
"""What names tasks in practice, so that no name there means anything later."""
Point = tuple[float, float]
"""(total revenue, largest minus smallest total pay)."""


class Instance(PlainData):
    """A complete instance; productivities and later periods' tasks are hidden."""

    productivities: Annotated[dict[str, Annotated[float, Field(gt=0)]], Field(min_length=2, max_length=8)] = Field(
        title="Productivities", description="Of every worker. Players do not see them."
    )
    wage: float = Field(default=1.0, gt=0, title="Wage", description="Per unit of work.")
    tasks: Annotated[
        tuple[Annotated[tuple[Annotated[float, Field(gt=0)], ...], Field(strict=False)], ...],
        Field(min_length=1, strict=False),
    ] = Field(title="Sizes of the tasks", description="A row for every period, with a task for every worker.")

    task: Annotated[str, Field(min_length=1, max_length=20)] = Field(
        "T", title="Name of the tasks", description="Before their numbers: T1, T2, …"
    )

    @model_validator(mode="after")
    def _as_many_tasks_as_workers(self) -> Instance:
        for period, sizes in enumerate(self.tasks):
            if len(sizes) != len(self.productivities):
                raise PydanticCustomError(
                    "contradiction",
                    "Period {period} needs as many tasks as there are workers: {workers}.",
                    {"period": period, "workers": len(self.productivities)},
                )
        return self

    @property
    def workers(self) -> tuple[str, ...]:
        return tuple(self.productivities)

    def task_ids(self, period: int) -> tuple[str, ...]:
        """Return the names of a period's tasks; T1, T2, … are numbered across periods."""
        n = len(self.workers)
        return tuple(f"{self.task}{period * n + number}" for number in range(1, n + 1))

    def sizes(self, period: int) -> Mapping[str, float]:
        """Return the size of each of a period's tasks, by name."""
        return dict(zip(self.task_ids(period), self.tasks[period], strict=True))

    @cached_property
    def efficient_point(self) -> Point:
        """P_eff: in every period, the largest tasks go to the most productive workers."""
        ordered = sorted(self.workers, key=lambda worker: self.productivities[worker])
        pay = dict.fromkeys(self.workers, 0.0)
        revenue = 0.0
        for sizes in self.tasks:
            for worker, size in zip(ordered, sorted(sizes), strict=True):
                pay[worker] += self.wage * size
                revenue += self.productivities[worker] * size
        return revenue, max(pay.values()) - min(pay.values())

    @cached_property
    def equal_point(self) -> Point:
        """P_eq: all workers' tasks have the same total size."""
        mean = sum(map(sum, self.tasks)) / len(self.workers)
        return mean * sum(self.productivities.values()), 0.0

    def most_productive_first(self) -> list[str]:
        return sorted(self.workers, key=lambda worker: -self.productivities[worker])


def draw_public(workers: int, periods: int, rng: Random) -> list[list[int]]:
    """Draw the tasks of every period so that equal total pay is possible.

    Each worker has a uniformly drawn composition of 60N into N positive parts; period t's tasks are the t-th parts.
    """
    compositions = [_composition(MEAN_SIZE * periods, periods, rng) for _worker in range(workers)]
    return [rng.sample(list(sizes), workers) for sizes in zip(*compositions, strict=True)]


def _composition(total: int, count: int, rng: Random) -> list[int]:
    """Draw a composition of `total` into this number of positive integers, all equally likely."""
    cuts = sorted(rng.sample(range(1, total), count - 1))
    return [high - low for low, high in zip([0, *cuts], [*cuts, total], strict=True)]


def numbered(workers: int) -> list[str]:
    """Return the names of the workers: W1, W2, …"""
    return [f"W{number}" for number in range(1, workers + 1)]


def draw_hidden(workers: Sequence[str], rng: Random) -> dict[str, Any]:
    """Draw productivities: equally spaced, in random order."""
    count = len(workers)
    steps = [LOWEST + SPREAD * number / (count - 1) for number in range(count)]
    return dict(zip(workers, rng.sample(steps, count), strict=True))
