"""Find the alerts of studies from what their monitors show, and record each occasion once."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from helping.services import open_questions
from matches.absences import has_lost_connection, is_away, is_replaced
from matches.models import Match, Seat
from monitoring.people import people_of
from monitoring.spending import spending_of
from notifying.models import SET_UP, Alert, Kind, Recipient
from payouts.services import waiting
from studies import faults
from studies.models import Study

log = logging.getLogger(__name__)
OVER_AFTER = timedelta(minutes=30)
"""An alert that is not found for so long is over; until then, no second notice is sent."""
BUDGET_PERCENT = 80
PATIENCE = timedelta(minutes=2)
"""How long a question may wait before it is an alert: the monitor rings at once."""
LEAST_ABSENT = 2
ONCE = (Kind.BUDGET, Kind.COMPLETE, SET_UP)
"""Kinds that are over when they are told: the same is never told again."""


@dataclass(frozen=True)
class Found:
    """An alert that exists now; its attributes are those of `Alert`."""

    kind: str
    subject: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


def find_everywhere() -> int:
    """Record the alerts of all studies that tell somebody; return how many are new. One error stops no other."""
    new = 0
    for study in Study.objects.filter(notice_recipients__isnull=False).exclude(status=Study.Status.DRAFT).distinct():
        try:
            new += record(study, alerts_of(study))
        except Exception:
            log.exception("The alerts of the study %s cannot be found; other studies are not affected.", study.slug)
    return new


def record(study: Study, found: Iterable[Found]) -> int:
    """Record what was found, each occasion once however many workers find it; return how many occasions are new."""
    new, now = 0, timezone.now()
    for one in found:
        same = Alert.objects.filter(study=study, kind=one.kind, subject=one.subject[:200])
        latest = same.order_by("-number").first()
        if latest is not None and (one.kind in ONCE or latest.seen_at > now - OVER_AFTER):
            same.filter(pk=latest.pk).update(seen_at=now)
            continue
        try:
            with transaction.atomic():
                Alert.objects.create(
                    study=study,
                    kind=one.kind,
                    subject=one.subject[:200],
                    number=1 if latest is None else latest.number + 1,
                    facts=dict(one.facts),
                    found_at=now,
                    seen_at=now,
                )
            new += 1
        except IntegrityError:
            continue  # another worker was first
    return new


def alerts_of(study: Study) -> Iterator[Found]:
    """Yield the alerts of a launched study now, of the kinds that its recipients want."""
    recipients = list(Recipient.objects.filter(study=study))
    wanted = {kind for recipient in recipients for kind in recipient.kinds}
    for kind, find in _FINDERS.items():
        if kind in wanted:
            yield from find(study)
    if Kind.ABSENCE in wanted:
        absent, playing = absent_of(study)
        for percent in {one.absence_percent for one in recipients if Kind.ABSENCE in one.kinds}:
            if absent >= LEAST_ABSENT and 100 * absent >= percent * playing:
                yield Found(Kind.ABSENCE, str(percent), {"absent": absent, "playing": playing})


def _models(study: Study) -> Iterator[Found]:
    version = study.latest_version()
    if version is None or study.status == Study.Status.CLOSED:
        return
    for endpoint in faults.unavailable_endpoints(version):
        yield Found(Kind.MODEL, endpoint)
    if why := faults.why_closed(version):
        yield Found(Kind.MODEL, "closed", {"why": why})


def _budget(study: Study) -> Iterator[Found]:
    spending = spending_of(study)
    for subject, money in (("study", spending.study), (f"day {timezone.localdate()}", spending.today)):
        if money is not None and money.cap and money.percent >= BUDGET_PERCENT:
            facts = {"spent": f"{money.spent:.2f}", "cap": f"{money.cap:.2f}", "percent": money.percent}
            yield Found(Kind.BUDGET, f"{subject} of {money.cap}", facts)


def _complete(study: Study) -> Iterator[Found]:
    people = people_of(study)
    if people.cells and all(cell.completed >= cell.quota for cell in people.cells):
        yield Found(Kind.COMPLETE, f"version {people.version}", {"completed": people.filled, "version": people.version})


def _payments(study: Study) -> Iterator[Found]:
    now = waiting([study.slug]).get(study.slug)
    for subject in ("due", "unclear"):
        if now is not None and (number := getattr(now, subject)):
            yield Found(Kind.PAYMENTS, subject, {"number": number})


def _questions(study: Study) -> Iterator[Found]:
    asked = open_questions().filter(enrolment__placement__version__study=study, at__lt=timezone.now() - PATIENCE)
    if number := asked.count():
        yield Found(Kind.QUESTION, facts={"number": number})


_FINDERS = {
    Kind.MODEL: _models,
    Kind.BUDGET: _budget,
    Kind.COMPLETE: _complete,
    Kind.PAYMENTS: _payments,
    Kind.QUESTION: _questions,
}


def absent_of(study: Study) -> tuple[int, int]:
    """Return how many participants in live matches are absent: lost, or answered for; and how many there are."""
    seats = Seat.objects.filter(
        match__status=Match.Status.LIVE, enrolment__placement__version__study=study, enrolment__ended_at=None
    )
    absences = [absences.get(role, {}) for role, absences in seats.values_list("role", "match__absences")]
    return sum(has_lost_connection(one) or is_away(one) or is_replaced(one) for one in absences), len(absences)
