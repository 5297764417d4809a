"""A study's status for the API."""

from __future__ import annotations

from django.db.models import Count

from api import schemas
from api.reading import matches_of
from opponents.agents import candidates
from participants.states import ENDED, State
from plans.agents import PERSON
from studies.models import Cell, Placement, Study, Version


def summary_of(study: Study) -> schemas.StudySummary:
    return schemas.StudySummary.of(study, state=study.status)


def status_of(study: Study) -> schemas.StudyOut:
    """Return the study's state, latest version, participants, matches and cells."""
    version = study.latest_version()
    return schemas.StudyOut.of(
        study,
        state=study.status,
        version=schemas.VersionOut.of(version) if version else None,
        participants=_participants(study),
        matches=_matches(study),
        cells=_cells(version) if version else [],
    )


def _participants(study: Study) -> schemas.Participants:
    placements = Placement.objects.filter(version__study=study).order_by()
    states = dict(placements.values_list("enrolment__state").annotate(Count("pk")))
    return schemas.Participants(
        arrived=sum(states.values()),
        live=sum(count for state, count in states.items() if state not in ENDED),
        completed=states.get(State.COMPLETED, 0),
        states=states,
    )


def _matches(study: Study) -> schemas.MatchCounts:
    counts = dict(matches_of(study).order_by().values_list("status").annotate(Count("pk")))
    return schemas.MatchCounts(**{name: counts.get(name, 0) for name in schemas.MatchCounts.model_fields})


def _cells(version: Version) -> list[schemas.CellOut]:
    found = []
    for cell in Cell.counted(version):
        cell.version = version
        agents = cell.plan.agents
        opponents = {
            role: " | ".join(agents[label].spec for label in candidates(seat))
            for role, seat in cell.seats.items()
            if seat != PERSON
        }
        found.append(schemas.CellOut.of(cell, opponents=opponents))
    return found
