"""Declare that a pilot's enrolments and matches belong to its study, although they have no placement."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from checks.models import Verdict
from matches.models import Match
from opponents.models import Call
from participants.models import Enrolment, ProblemReport
from piloting.models import Pilot, Walker
from rights.parts import belongs
from studies.models import Study
from surveys.models import Response

_OF_ENROLMENT = "walker__pilot__study"
_OF_MATCH = f"seats__enrolment__{_OF_ENROLMENT}"


def _call_of(studies: QuerySet[Study]) -> Q:
    return Q(match_uid__in=Match.objects.filter(**{f"{_OF_MATCH}__in": studies}).values("uid"))


def declare() -> None:
    """Declare which rows belong to a study through one of its pilots."""
    belongs(Pilot, to=Study, by="study")
    belongs(Walker, to=Study, by="pilot__study")
    belongs(Enrolment, to=Study, by=_OF_ENROLMENT)
    for model in (ProblemReport, Verdict, Response):
        belongs(model, to=Study, by=f"enrolment__{_OF_ENROLMENT}")
    belongs(Match, to=Study, by=_OF_MATCH)
    belongs(Call, to=Study, by=_call_of)
