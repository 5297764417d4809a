"""Enrolments of simulated participants: like real ones in the same cell, but faster and unpaid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from games.interface import Role
from matches.models import Match
from participants.models import Enrolment
from participants.services import expiry_after
from piloting.models import Pilot, Walker
from studies.enrolling import steps_of
from studies.models import Cell, Version

HOURS = 24
"""Maximum age of a simulated participant's enrolment; interrupted pilots are resumed within it."""
QUICK_TIMERS = {"turn_seconds": 2, "extension_seconds": 1}
"""The time limits of participants who stop answering: the clock runs out as usual, only sooner."""
QUICK_IN_GROUPS = {"turn_seconds": 10, "extension_seconds": 1}
"""The same if others play along and need some time to answer."""
LOBBY_SECONDS = 45
"""Maximum wait in a lobby whose group stays incomplete."""


def cell_of(walker: Walker) -> Cell:
    """Return the cell of the simulated participant as a launch would have created it, unsaved."""
    return cells_of(walker.pilot)[walker.cell]


def cells_of(pilot: Pilot) -> list[Cell]:
    """Return every cell of the pilot's content, unsaved."""
    version = Version(study=pilot.study, number=0, content=pilot.content, sha256=pilot.sha256, seed=pilot.seed)
    return version.planned_cells()


def role_of(walker: Walker, cell: Cell) -> str:
    """Return the participant's seat; empty if none was assigned before a group was formed and there was no match."""
    seats = walker.enrolment.seats.all() if walker.enrolment else ()
    return next((seat.role for seat in seats), cell.role)


def seat_of(walker: Walker) -> tuple[Role, int]:
    """Return the seat reserved for the participant, and their number within the cell, from 1."""
    people = cell_of(walker).people
    before = Walker.objects.filter(pilot=walker.pilot, cell=walker.cell, number__lt=walker.number).count()
    return people[before % len(people)], before + 1


@transaction.atomic
def enrol(walker: Walker) -> Enrolment:
    """Return the participant's enrolment: the existing one, or a new one without a place."""
    if walker.enrolment is not None:
        return walker.enrolment
    cell = cell_of(walker)
    role, number = seat_of(walker)
    quick = Walker.objects.filter(pilot=walker.pilot, cell=walker.cell, plan=Walker.Plan.SILENT).exists()
    alone = cell.group_size == 1
    timers = {} if not quick else QUICK_TIMERS if alone else QUICK_IN_GROUPS
    if alone and walker.plan != Walker.Plan.SILENT:
        timers = {}
    steps = [_for_pilot(step, walker, timers) for step in steps_of(cell.version, cell, role, number=number)]
    walker.enrolment = Enrolment.objects.create(
        steps=steps, seed=walker.pilot.seed + walker.number, expires_at=expiry_after(HOURS * 60)
    )
    walker.save(update_fields=["enrolment"])
    return walker.enrolment


def _for_pilot(step: dict[str, Any], walker: Walker, timers: Mapping[str, int]) -> dict[str, Any]:
    """Return a step as used in a pilot: only the pilot's own participants meet, and its agents answer without delay."""
    if step["kind"] == "lobby":
        return {**step, "hall": f"pilot-{walker.pilot.pk}", "limit": min(step["limit"], LOBBY_SECONDS)}
    if step["kind"] != "match":
        return step
    return {
        **step,
        "purpose": Match.Purpose.PILOT,
        "budget_of": walker.pilot.budget,
        "timers": {**step["timers"], **timers},
        "agents": {label: _without_delays(agent) for label, agent in step["agents"].items()},
    }


def _without_delays(agent: dict[str, Any]) -> dict[str, Any]:
    settings = agent.get("settings", {})
    if settings.get("appears") == "delayed":
        settings = {**settings, "appears": "at_once"}
    return {**agent, "delay": 0, "settings": settings}
