"""The parameters of scheduling, its move, and the attempts so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from games.interface import Form, Move
from games.periods import InstanceConfig, Periods, Submitted
from games.scheduling.instances import Instance, Matching, Pair, Preferences
from games.words import gettext_noop


class SchedulingConfig(InstanceConfig):
    """One treatment. Defaults: the paper's basic level."""

    level: Literal["basic", "medium", "hard", "small"] = Field(
        "basic", title="Level", description="Number of workers and tasks; small is meant for people."
    )
    preferences: Preferences | None = Field(
        None, title="Preferences", description="How preferences are drawn. Empty: chosen by the instance seed."
    )
    feedback: Annotated[int, Field(ge=1, le=50)] | None = Field(
        None, title="Reported blocking pairs", description="Maximum after each attempt. Empty: set by the level."
    )
    instance: Instance | None = Field(
        None,
        title="Instance",
        description="Everybody's preferences. Empty: drawn at random.",
        examples=[
            {
                "worker_preferences": {"W1": ["T1", "T2", "T3"], "W2": ["T1", "T3", "T2"], "W3": ["T2", "T1", "T3"]},
                "task_preferences": {"T1": ["W2", "W1", "W3"], "T2": ["W1", "W3", "W2"], "T3": ["W3", "W2", "W1"]},
            }
        ],
    )


class AssignmentMove(Move):
    """The schedule for this period."""

    assignment: Annotated[Submitted, WithJsonSchema({"type": "object", "additionalProperties": {"type": "string"}})] = (
        Field(
            title=gettext_noop("Your schedule"), description=gettext_noop("A task for every worker; every task once.")
        )
    )


FORM = Form(
    "assignment",
    gettext_noop("Submit a schedule"),
    AssignmentMove,
    help=gettext_noop("Assign each worker a different task. This closes the period."),
    tool="submit_assignment",
)


@dataclass(frozen=True)
class Attempt:
    """One period: the matching, its number of blocking pairs, and the pairs that were reported."""

    matching: Matching
    blocking: int
    told: tuple[Pair, ...]


@dataclass(frozen=True, kw_only=True)
class Attempts(Periods):
    """The instance, and the attempts so far."""

    instance: Instance
    attempts: tuple[Attempt, ...] = ()
