"""Failures in a study, newest first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from matches.models import Match
from monitoring.clocks import budget_of
from monitoring.models import HandEnding
from opponents.models import Call
from participants.states import State
from studies.models import Study

MAX_FAILURES = 12


@dataclass(frozen=True)
class Failure:
    """One failure.

    Attributes:
        title: a match that ended without a result, or a model that did not answer.
        reason: the reason; it may quote the provider's message.
        match: the primary key of the match; None if unknown.
        answering: the event that the model should have answered.
    """

    at: datetime
    title: str
    reason: str
    match: int | None
    uid: str
    answering: int | None = None


def failures_of(study: Study) -> list[Failure]:
    """Return the latest failures of the study's matches and of their model calls."""
    failures = [*_matches(study), *_calls(study)]
    return sorted(failures, key=lambda failure: failure.at, reverse=True)[:MAX_FAILURES]


def _matches(study: Study) -> list[Failure]:
    ended = Match.objects.filter(budget_of=budget_of(study), status=Match.Status.ABANDONED, ended_at__isnull=False)
    rows = list(ended.order_by("-ended_at").values_list("pk", "uid", "ended_at", "ending")[:MAX_FAILURES])
    reasons = dict(HandEnding.objects.filter(match__in=[row[0] for row in rows]).values_list("match", "reason"))
    return [
        Failure(at, _("match ended without a result"), _why(ending, reasons.get(pk)), pk, str(uid))
        for pk, uid, at, ending in rows
        if at is not None
    ]


def _why(ending: str, given_reason: str | None) -> str:
    if given_reason is not None:
        return _("ended by a researcher: {reason}").format(reason=given_reason)
    return str(State(ending).label) if ending in State.values else ending.replace("_", " ")


def _calls(study: Study) -> list[Failure]:
    failed = Call.objects.filter(budget_of=budget_of(study), outcome=Call.Outcome.FAILED).order_by("-at")
    rows = list(failed.values_list("at", "match_uid", "answering", "endpoint", "model", "record__error")[:MAX_FAILURES])
    matches = dict(Match.objects.filter(uid__in={row[1] for row in rows}).values_list("uid", "pk"))
    silent = _("{model}: no answer")
    return [
        Failure(at, silent.format(model=f"{endpoint}:{model}"), error or "", matches.get(uid), str(uid), turn)
        for at, uid, turn, endpoint, model, error in rows
    ]
