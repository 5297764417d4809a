"""A walk's stages as a list: which are done, which comes next, and how conditions were judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from participants.models import Enrolment
from participants.services import result_step
from participants.states import State
from participants.steps import step_object


@dataclass(frozen=True)
class StageRow:
    """One step of the path.

    Attributes:
        name: its stage's, as researchers call it.
        levels: of the factors within participants.
        condition: as written; empty if it is always shown.
        shown: whether the condition holds; None as long as it cannot be judged.
    """

    position: int
    title: str
    name: str
    status: Literal["done", "now", "next"]
    levels: Mapping[str, object] = field(default_factory=dict)
    condition: str = ""
    shown: bool | None = None


def stages_of(enrolment: Enrolment) -> list[StageRow]:
    """Return every step of the path, the skipped ones included."""
    here = len(enrolment.steps) if ending_in(enrolment) else enrolment.position
    return [
        StageRow(
            position=position,
            title=str(step_object(enrolment, step).title),
            name=str(step.get("stage") or step.get("name") or ""),
            status="done" if position < here else "now" if position == here else "next",
            levels=step.get("given", {}),
            condition=step.get("show_if", ""),
            shown=step.get("shown"),
        )
        for position, step in enumerate(enrolment.steps)
    ]


def ending_in(enrolment: Enrolment) -> str:
    """Return the ending whose page is shown; empty if the walk goes on."""
    return str(State(enrolment.state).label) if enrolment.ended and result_step(enrolment) is None else ""
