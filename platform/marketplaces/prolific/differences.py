"""Discrepancies between Parley and Prolific about participants, and what the researcher can do about them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from marketplaces.prolific import codes
from marketplaces.prolific.deciding import payable_in_part
from marketplaces.prolific.links import KIND
from marketplaces.prolific.models import Publication, Submission
from participants.models import Enrolment
from recruiters.models import Identity

SUBMITTED = ("AWAITING REVIEW", "APPROVED", "REJECTED")
NOT_PAYABLE = ("RETURNED", "TIMED OUT", "REJECTED", "SCREENED OUT")

STATUSES: dict[str, str | Promise] = {
    "RESERVED": gettext_lazy("place reserved"),
    "ACTIVE": gettext_lazy("in progress"),
    "TIMED OUT": gettext_lazy("timed out"),
    "AWAITING REVIEW": gettext_lazy("awaiting review"),
    "APPROVED": gettext_lazy("approved"),
    "PARTIALLY APPROVED": gettext_lazy("partially paid"),
    "RETURNED": gettext_lazy("returned"),
    "REJECTED": gettext_lazy("rejected"),
    "SCREENED OUT": gettext_lazy("screened out"),
}


@dataclass(frozen=True)
class Difference:
    """One participant about whom Parley and Prolific disagree.

    Attributes:
        enrolment: the participant here; None if nobody has arrived with the submission.
        label: their pseudonym, or when they started on Prolific.
        discrepancy, advice: what differs, and what the researcher can do.
    """

    enrolment: Enrolment | None
    label: str
    discrepancy: str
    advice: str


def status_counts(publication: Publication) -> list[tuple[str, int]]:
    """Return the number of submissions with each status, in the order in which participants reach them."""
    counts = Counter(publication.submissions.values_list("status", flat=True))
    known_statuses = [(str(title), counts.pop(status)) for status, title in STATUSES.items() if counts.get(status)]
    return known_statuses + sorted(counts.items())


def differences(publication: Publication) -> list[Difference]:
    """Return all discrepancies, participants known here first."""
    submissions = list(publication.submissions.select_related("enrolment").order_by("started_at", "pk"))
    if publication.study.latest_version() is None:
        return []
    payable = payable_in_part(publication)
    rows: list[Difference] = []
    for submission in submissions:
        person = submission.enrolment
        if person is None:
            continue
        found = _difference_of(submission, person, paid=codes.is_paid(person))
        if found is None and person.pk in payable:
            found = (
                _("Ended here without pay, and has not submitted on Prolific."),
                _("Pay part of the reward, or wait until they return their submission."),
            )
        if found is not None:
            discrepancy, advice = found
            if submission.return_asked and submission.status == "AWAITING REVIEW":
                advice = _(
                    "They have been asked to return their submission but have not done so yet. Prolific automatically "
                    "approves submissions that nobody has reviewed within 21 days."
                )
            rows.append(Difference(person, person.pseudonym, discrepancy, advice))
    unknown = (
        _("Arrived here with a submission that Prolific does not have, or that belongs to another participant."),
        _("They are not paid. If this happens often, accept only signed links."),
    )
    rows += [Difference(person, person.pseudonym, *unknown) for person in _without_submission(publication)]
    never_arrived = (
        _("Submitted on Prolific, but never arrived here."),
        _("No payment is due. Find the submission on Prolific by its start time, and ask them to return it."),
    )
    absent = [one for one in submissions if one.enrolment is None and not one.came and one.status in SUBMITTED]
    return rows + [Difference(None, _start_label(submission), *never_arrived) for submission in absent]


def _difference_of(submission: Submission, person: Enrolment, *, paid: bool) -> tuple[str, str] | None:
    submitted = submission.status in SUBMITTED
    if submitted and not person.ended:
        return (
            _("Submitted on Prolific, but has not finished here."),
            _("Wait until they have finished or their time is over. They are not paid before."),
        )
    if submission.status == "APPROVED" and not paid:
        return (
            _("Approved on Prolific, although this ending pays nothing."),
            _("Someone approved the submission on Prolific. Parley does not undo this."),
        )
    if submitted and submission.code in (codes.NONE, codes.UNKNOWN) and submission.status == "AWAITING REVIEW":
        return (
            _("Submitted without the study's code."),
            _("If they finished here, they are paid anyway. A missing code proves nothing.")
            if paid
            else _("They were not promised any pay. Ask them to return their submission, or reject it."),
        )
    if submitted and not paid and submission.code == codes.COMPLETED and submission.status == "AWAITING REVIEW":
        return (
            _("Submitted with the completion code, but did not finish here."),
            _(
                "Someone shared the code with them. They are not paid. Ask them to return their submission, or reject "
                "it."
            ),
        )
    if person.ended and paid and submission.status in ("ACTIVE", "RESERVED"):
        return (
            _("Finished here, but has not submitted on Prolific."),
            _("They are paid as soon as they submit. If it takes long, send them a message on Prolific."),
        )
    if person.ended and paid and submission.status in NOT_PAYABLE:
        return (
            _("Finished here. Status on Prolific: {status}.").format(status=STATUSES[submission.status]),
            _("Prolific can no longer pay the reward for this submission. Send them a message on Prolific."),
        )
    if submission.status == "TIMED OUT" and not person.ended:
        return (
            _("Timed out on Prolific, but is still playing here."),
            _("Prolific has given the place to someone else. If they finish, pay them yourself."),
        )
    return None


def _without_submission(publication: Publication) -> list[Enrolment]:
    """Return the participants who arrived with a submission that is not theirs, or that Prolific does not have."""
    recruitment = publication.study.recruitment
    if recruitment.answered_at is None:
        return []
    matched = Submission.objects.filter(publication=publication, enrolment__isnull=False).values("enrolment")
    arrived = Identity.objects.filter(study=publication.study.slug, recruiter=KIND).exclude(enrolment__in=matched)
    people = Enrolment.objects.filter(pk__in=arrived.values("enrolment"), arrived_at__lt=recruitment.answered_at)
    return list(people.order_by("pk"))


def _start_label(submission: Submission) -> str:
    if submission.started_at is None:
        return _("unknown participant on Prolific")
    started_at = timezone.localtime(submission.started_at)
    return _("started on Prolific at {at} UTC").format(at=date_format(started_at, "Y-m-d H:i:s"))
