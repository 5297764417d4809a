"""The way of a simulated person: that of a real one in the same cell, at a faster pace and on nobody's account."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from matches.models import Match
from participants.models import Enrolment
from participants.services import lifetime
from piloting.models import Pilot, Walker
from studies.enrolling import steps_of
from studies.models import Cell, Version

HOURS = 24
"""How long a simulated person's way may last: pilots that were interrupted are taken up again."""
QUICK_TIMERS = {"turn_seconds": 2, "extension_seconds": 1}
"""For those who stop answering: the clock runs out as it would, only sooner."""


def cell_of(walker: Walker) -> Cell:
    """The cell that the walker is in, as a launch would have made it; it is not kept."""
    return cells_of(walker.pilot)[walker.cell]


def cells_of(pilot: Pilot) -> list[Cell]:
    """Every cell of the pilot's content, not kept."""
    version = Version(study=pilot.study, number=0, content=pilot.content, sha256=pilot.sha256, seed=pilot.seed)
    average = Cell._meta.get_field("announced_average").to_python
    return [
        Cell(
            version=version,
            number=number,
            **{**written, "announced_average": average(written["announced_average"])},
        )
        for number, written in enumerate(pilot.content["cells"], start=1)
    ]


@transaction.atomic
def enrol(walker: Walker) -> Enrolment:
    """The walker's way: the one that was begun, or a new one without a place."""
    if walker.enrolment is not None:
        return walker.enrolment
    cell = cell_of(walker)
    steps = [_on_trial(step, walker) for step in steps_of(cell.version, cell)]
    walker.enrolment = Enrolment.objects.create(
        steps=steps, seed=walker.pilot.seed + walker.number, expires_at=lifetime(HOURS * 60)
    )
    walker.save(update_fields=["enrolment"])
    return walker.enrolment


def _on_trial(step: dict[str, Any], walker: Walker) -> dict[str, Any]:
    """A step as a pilot takes it: a match is a pilot's, its opponents wait for nothing."""
    if step["kind"] != "match":
        return step
    timers = {**step["timers"], **(QUICK_TIMERS if walker.plan == Walker.Plan.SILENT else {})}
    return {
        **step,
        "purpose": Match.Purpose.PILOT,
        "budget_of": walker.pilot.budget,
        "timers": timers,
        "agents": {role: _hurried(agent) for role, agent in step["agents"].items()},
    }


def _hurried(agent: dict[str, Any]) -> dict[str, Any]:
    settings = agent.get("settings", {})
    if settings.get("appears") == "delayed":
        settings = {**settings, "appears": "at_once"}
    return {**agent, "delay": 0, "settings": settings}
