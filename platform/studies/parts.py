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


def declare_enrolments(by: str) -> None:
    """Declare that enrolments belong to the study that this lookup leads to, with what participants leave behind."""

    def call_of(studies: QuerySet[Study]) -> Q:
        matches = Match.objects.filter(**{f"seats__enrolment__{by}__in": studies})
        return Q(match_uid__in=matches.values("uid"))

    belongs(Enrolment, to=Study, by=by)
    for model in (ProblemReport, Verdict, Response):
        belongs(model, to=Study, by=f"enrolment__{by}")
    belongs(Match, to=Study, by=f"seats__enrolment__{by}")
    belongs(Call, to=Study, by=call_of)


def declare() -> None:
    """Declare what belongs to studies, and who owns a new one."""
    creators_own(Study)
    belongs(Study, to=Study, by="pk")
    for model in (Version, Draft, LogEntry):
        belongs(model, to=Study, by="study")
    belongs(Cell, to=Study, by="version__study")
    belongs(Placement, to=Study, by="version__study")
    declare_enrolments("placement__version__study")
    for record in (LedgerRow, Delivery, PageView, Behaviour):
        belongs(record, to=Study, by="enrolment__placement__version__study")
    belongs(Posting, to=Study, by="row__enrolment__placement__version__study")
    belongs(OtreeServer, to=Study, by="study", at="slug")
    belongs(Record, to=Study, by=recorded_of(Study))
