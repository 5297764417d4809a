"""Enrolments of simulated participants: like real ones in the same cell, but faster and unpaid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from games.interface import Role
from matches.models import Match
from participants.models import Enrolment
from participants.services import expiry_after
from participants.values import register_values
from piloting.models import Pilot, Walker
from studies.journeys import steps_of, variables_of
from studies.models import Cell, Placement, Version

ENROLMENT_HOURS = 24
"""Hours until a simulated participant's enrolment expires; an interrupted pilot can be resumed until then."""
QUICK_TIMERS = {"turn_seconds": 2, "extension_seconds": 1, "absence": 0}
"""Time limits if a participant stops answering: the clock runs out as usual, only sooner."""
QUICK_IN_GROUPS = {"turn_seconds": 10, "extension_seconds": 1, "absence": 0}
"""The same in groups, whose other members need some time to answer."""
LOBBY_SECONDS = 45
"""Maximum wait in the lobby for a group to become complete."""


def version_of(pilot: Pilot) -> Version:
    """Return the version that a launch would have made, unsaved."""
    return Version(
        study=pilot.study,
        number=0,
        document=pilot.document,
        sha256=pilot.sha256,
        frozen=pilot.frozen,
        seed=pilot.seed,
    )


def cell_of(walker: Walker) -> Cell:
    """Return the simulated participant's cell as a launch would have made it, unsaved."""
    return Cell.planned(version_of(walker.pilot), walker.cell)


def placement_in(cell: Cell, enrolment: Enrolment) -> Placement:
    """Return a placement in an unsaved cell, unsaved: nothing that counts places finds it."""
    return Placement(enrolment=enrolment, version=cell.version, cell=cell)


@register_values
def factors_of(enrolment: Enrolment) -> Mapping[str, Any]:
    """Return the factors of a simulated participant, as conditions see them."""
    walker = Walker.objects.select_related("pilot__study").filter(enrolment=enrolment).first()
    if walker is None:
        return {}
    cell = cell_of(walker)
    return {**variables_of(cell.version.reader, cell.factors), "recruiter": {}}


def role_of(walker: Walker, cell: Cell) -> str:
    """Return the participant's role; empty if the cell does not fix it and no match has begun."""
    seats = walker.enrolment.seats.all() if walker.enrolment else ()
    return next((seat.role for seat in seats), cell.role)


def seat_of(walker: Walker) -> tuple[Role, int]:
    """Return the seat reserved for the participant, and their number within the cell, from 1."""
    people = cell_of(walker).people
    number_before = Walker.objects.filter(pilot=walker.pilot, cell=walker.cell, number__lt=walker.number).count()
    return people[number_before % len(people)], number_before + 1


@transaction.atomic
def enrol(walker: Walker) -> Enrolment:
    """Return the participant's enrolment; create one, without a placement, if there is none."""
    if walker.enrolment is not None:
        return walker.enrolment
    cell = cell_of(walker)
    role, number = seat_of(walker)
    is_quick = Walker.objects.filter(pilot=walker.pilot, cell=walker.cell, plan=Walker.Plan.SILENT).exists()
    is_alone = cell.group_size == 1
    timers = {} if not is_quick else QUICK_TIMERS if is_alone else QUICK_IN_GROUPS
    if is_alone and walker.plan != Walker.Plan.SILENT:
        timers = {}
    steps = [_for_pilot(step, walker, timers) for step in steps_of(cell.version, cell, role, number=number)]
    walker.enrolment = Enrolment.objects.create(
        steps=steps,
        seed=walker.pilot.seed + walker.number,
        language=cell.version.language,
        expires_at=expiry_after(ENROLMENT_HOURS * 60),
    )
    walker.save(update_fields=["enrolment"])
    return walker.enrolment


def _for_pilot(step: dict[str, Any], walker: Walker, timers: Mapping[str, int]) -> dict[str, Any]:
    """Return the step as a pilot uses it: only the pilot's own participants meet, and agents answer without delay."""
    if step["kind"] == "lobby":
        return {**step, "hall": f"pilot-{walker.pilot.pk}", "limit": min(step["limit"], LOBBY_SECONDS)}
    if step["kind"] != "match":
        return step
    return {
        **step,
        "purpose": Match.Purpose.PILOT,
        "budget_of": walker.pilot.budget,
        "timers": {**step["timers"], **timers},
        "agents": {label: without_delays(agent) for label, agent in step["agents"].items()},
    }


def without_delays(agent: dict[str, Any]) -> dict[str, Any]:
    """Return an agent, as plain data, that answers at once."""
    settings = agent.get("settings", {})
    if settings.get("appears") == "delayed":
        settings = {**settings, "appears": "at_once"}
    return {**agent, "delay": 0, "settings": settings}
