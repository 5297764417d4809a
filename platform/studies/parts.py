"""Which rows belong to a study, so that only its members see them."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from audit.models import Record
from checks.models import Verdict
from matches.models import Match
from opponents.models import Call
from participants.models import Enrolment, ProblemReport
from payouts.models import LedgerRow, Posting
from quality.models import Behaviour, PageView
from recruiters.models import Delivery, OtreeServer
from rights.members import creators_own
from rights.parts import belongs
from rights.records import recorded_of
from studies.models import Cell, Draft, LogEntry, Placement, Study, Version
from surveys.models import Response

_OF_ENROLMENT = "placement__version__study"
_OF_MATCH = f"seats__enrolment__{_OF_ENROLMENT}"


def _call_of(studies: QuerySet[Study]) -> Q:
    return Q(match_uid__in=Match.objects.filter(**{f"{_OF_MATCH}__in": studies}).values("uid"))


def declare() -> None:
    """Declare what belongs to studies, and who owns a new one."""
    creators_own(Study)
    belongs(Study, to=Study, by="pk")
    for model in (Version, Draft, LogEntry):
        belongs(model, to=Study, by="study")
    belongs(Cell, to=Study, by="version__study")
    belongs(Placement, to=Study, by="version__study")
    belongs(Enrolment, to=Study, by=_OF_ENROLMENT)
    for record in (ProblemReport, Verdict, LedgerRow, Response, Delivery, PageView, Behaviour):
        belongs(record, to=Study, by=f"enrolment__{_OF_ENROLMENT}")
    belongs(Posting, to=Study, by=f"row__enrolment__{_OF_ENROLMENT}")
    belongs(Match, to=Study, by=_OF_MATCH)
    belongs(Call, to=Study, by=_call_of)
    belongs(OtreeServer, to=Study, by="study", at="slug")
    belongs(Record, to=Study, by=recorded_of(Study))
