"""The parameters of task allocation, its move, and the assignments so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from games.interface import Form, Move
from games.periods import InstanceConfig, Periods, Submitted
from games.task_allocation.instances import Instance
from games.words import gettext_noop


class TaskAllocationConfig(InstanceConfig):
    """One treatment. Defaults: the paper's litmus test."""

    periods: int = Field(30, ge=1, le=300, title="Periods", description="Number of periods; players are not told.")
    workers: int = Field(4, ge=2, le=8, title="Workers", description="Number of workers, and of tasks in every period.")
    goal: Literal["both", "efficiency", "equality"] = Field(
        "both", title="Goal", description="The goal in the instructions; both: no weights are given."
    )
    instance: Instance | None = Field(
        None, title="Instance", description="The productivities and tasks. Empty: drawn at random."
    )

    @model_validator(mode="after")
    def _check_instance(self) -> TaskAllocationConfig:
        if self.instance is not None and len(self.instance.tasks) != self.periods:
            raise PydanticCustomError(
                "contradiction",
                "The instance needs tasks for each of the {periods} periods; it has {found}.",
                {"periods": self.periods, "found": len(self.instance.tasks)},
            )
        return self


class AssignmentMove(Move):
    """The assignment of this period's tasks."""

    assignment: Annotated[Submitted, WithJsonSchema({"type": "object", "additionalProperties": {"type": "string"}})] = (
        Field(
            title=gettext_noop("Your assignment"),
            description=gettext_noop("A worker for every task; every worker once."),
        )
    )


FORM = Form(
    "assignment",
    gettext_noop("Assign the tasks"),
    AssignmentMove,
    help=gettext_noop("Assign each task a different worker. This closes the period."),
    tool="submit_assignment",
)


class PeriodNumber(Move):
    """The period whose notes to read."""

    period_number: int = Field(title=gettext_noop("Period"), description=gettext_noop("From 0."))


@dataclass(frozen=True, kw_only=True)
class Allocation(Periods):
    """The instance, and each period's worker by task."""

    instance: Instance
    assignments: tuple[Mapping[str, str], ...] = ()

    def totals(self) -> tuple[dict[str, float], dict[str, float]]:
        """Return total size and revenue by worker."""
        sizes, revenues = dict.fromkeys(self.instance.workers, 0.0), dict.fromkeys(self.instance.workers, 0.0)
        for period, assignment in enumerate(self.assignments):
            size_of = self.instance.sizes(period)
            for task, worker in assignment.items():
                sizes[worker] += size_of[task]
                revenues[worker] += size_of[task] * self.instance.productivities[worker]
        return sizes, revenues

    def point(self) -> tuple[float, float]:
        """Return P: total revenue, and largest minus smallest total pay."""
        sizes, revenues = self.totals()
        pay = [self.instance.wage * size for size in sizes.values()]
        return sum(revenues.values()), max(pay) - min(pay)
