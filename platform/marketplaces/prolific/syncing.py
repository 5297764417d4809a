"""Sync what Prolific reports about a study and its participants, and release the places of those who left."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.dateparse import parse_datetime

from marketplaces import rejecting
from marketplaces.models import Recruitment
from marketplaces.prolific import authenticity, codes
from marketplaces.prolific.client import client_of, text_of
from marketplaces.prolific.deciding import record_part
from marketplaces.prolific.links import KIND
from marketplaces.prolific.models import Publication, Submission
from marketplaces.prolific.paying import PARTIALLY_APPROVED, normalised_status, participant_of
from marketplaces.prolific.publishing import store_study
from participants import services as people
from participants.models import Enrolment
from participants.states import State
from payouts.services import keep_paid_elsewhere
from recruiters.models import Identity

log = logging.getLogger(__name__)

_SALT = "marketplaces.prolific.submission"
RETURNED, TIMED_OUT, REJECTED, SCREENED_OUT = "RETURNED", "TIMED OUT", "REJECTED", "SCREENED OUT"


def sync(recruitment: Recruitment) -> None:
    """Sync one study. Raise MarketplaceError; what was stored before the error remains."""
    publication = (
        Publication.objects.select_related("account", "study")
        .filter(study=recruitment.study_id)
        .exclude(prolific_id="")
        .first()
    )
    if publication is None:
        return
    client = client_of(publication.account)
    store_study(publication, client.study(publication.prolific_id))
    if not publication.was_published:
        return
    submissions = list(client.submissions(publication.prolific_id))
    stored = _Stored(publication)
    for report in submissions:
        if not stored.has(report):
            _store(publication, report)


def fingerprint(session: str) -> str:
    """Return a name for a submission that does not reveal which one it is."""
    return salted_hmac(_SALT, session, algorithm="sha256").hexdigest()


class _Stored:
    """What is already stored about a publication's submissions, read in one query because most reports contain no
    news.
    """

    def __init__(self, publication: Publication) -> None:
        self._publication = publication
        self._rows = {submission.fingerprint: submission for submission in publication.submissions.all()}
        arrivals = Identity.objects.filter(study=publication.study.slug, recruiter=KIND)
        self._arrivals = {
            proof: (enrolment, ended is not None)
            for proof, enrolment, ended in arrivals.values_list("proof", "enrolment", "enrolment__ended_at")
        }

    def has(self, report: Mapping[str, Any]) -> bool:
        """Return whether this report about one submission would change nothing."""
        session, status = text_of(report, "id"), normalised_status(text_of(report, "status"))
        row = self._rows.get(fingerprint(session))
        if row is None:
            return False
        enrolment, ended = self._arrivals.get(f"{session}/{participant_of(report)}", (None, True))
        is_same = all(
            getattr(row, name) == value for name, value in _reported_fields(self._publication, report).items()
        )
        return is_same and row.enrolment_id == enrolment and (ended or status not in (RETURNED, TIMED_OUT))


def _reported_fields(publication: Publication, report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of Prolific's report about a submission that are stored."""
    flag = authenticity.reported_flag(report)
    return {
        **({"authenticity": flag} if flag else {}),
        "status": normalised_status(report["status"])[:30],
        "code": codes.entered(publication.codes, report.get("study_code") or report.get("entered_code")),
        "return_asked": bool(report.get("return_requested")),
        "started_at": _parsed_time(report.get("started_at")),
    }


def _store(publication: Publication, report: Mapping[str, Any]) -> None:
    """Store a report about one submission; end the enrolment if the participant returned it or ran out of time.

    A rejection writes off the payments due.
    """
    session, status = text_of(report, "id"), normalised_status(text_of(report, "status"))
    participant = participant_of(report)
    arrivals = list(
        Identity.objects.select_related("enrolment").filter(
            study=publication.study.slug, recruiter=KIND, proof__startswith=f"{session}/"
        )
    )
    own_identity = next((identity for identity in arrivals if identity.worker == participant), None)
    enrolment = own_identity.enrolment if own_identity else None
    lookup = {"publication": publication, "fingerprint": fingerprint(session)}
    with transaction.atomic():
        previous = Submission.objects.select_for_update().filter(**lookup).first()
        Submission.objects.update_or_create(
            **lookup,
            defaults={
                "enrolment": enrolment,
                "came": own_identity is not None or (previous is not None and previous.came),
                **_reported_fields(publication, report),
                "heard_at": timezone.now(),
            },
        )
        if enrolment is not None:
            was_rejected = previous is not None and previous.status == REJECTED
            if status == SCREENED_OUT:
                _record_screen_out_pay(publication, enrolment)
            if status == PARTIALLY_APPROVED:
                record_part(publication, enrolment)
            rejecting.update_ledger(enrolment, kind=KIND, was_rejected=was_rejected, is_rejected=status == REJECTED)
    if enrolment is not None and not enrolment.ended:
        _end(enrolment, status)


def _record_screen_out_pay(publication: Publication, enrolment: Enrolment) -> None:
    """Record a screen-out payment by Prolific in the ledger as paid elsewhere, once."""
    if publication.screen_out_reward is None:
        return
    keep_paid_elsewhere(
        enrolment,
        study=publication.study.slug,
        recruiter=KIND,
        reason="screen_out",
        amount=publication.screen_out_reward,
        currency=publication.currency,
    )


@receiver(post_delete, sender=Identity)
def unlink_erased(sender: type[Identity], instance: Identity, **_signal: Any) -> None:
    """Remove the link from a submission to a participant whose data were erased."""
    Submission.objects.filter(enrolment=instance.enrolment_id).update(enrolment=None)


def _end(enrolment: Enrolment, status: str) -> None:
    """End an enrolment that ended on Prolific; after a time-out there, a game in progress may be finished."""
    if status == RETURNED:
        people.record_return(enrolment_id=enrolment.pk)
    elif status == TIMED_OUT and not enrolment.recently_seen():
        with transaction.atomic():
            people.end_early(people.held(enrolment.pk), State.TIMED_OUT)


def _parsed_time(value: Any) -> datetime | None:
    try:
        time = parse_datetime(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return time if time is None or timezone.is_aware(time) else timezone.make_aware(time)
