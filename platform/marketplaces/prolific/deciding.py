"""Decide about a submission that awaits review: reject it, or ask its participant to return it.

Only owners decide, one submission at a time. Approvals come from the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from marketplaces import rejecting
from marketplaces.kinds import MarketplaceError, NotPossible, Unclear
from marketplaces.prolific.client import Client, client_of
from marketplaces.prolific.codes import PARTIAL_PAYMENT
from marketplaces.prolific.links import KIND
from marketplaces.prolific.models import Publication
from marketplaces.prolific.paying import PARTIALLY_APPROVED, normalised_status
from participants.models import Enrolment
from payouts.models import LedgerRow
from payouts.services import keep_paid_elsewhere
from plans.pay import cents
from recruiters.models import Identity

AWAITING_REVIEW, REJECTED, ACTIVE = "AWAITING REVIEW", "REJECTED", "ACTIVE"
LEAST_PERCENT, MOST_PERCENT = 8, 99
"""Limits of Prolific's dynamic payment in percent of the reward (from its command-line tool, read on 2026-11-22)."""


def _ended_with(publication: Publication, status: str) -> dict[int, Enrolment]:
    """Return the participants who ended here and whose submissions have this status, as last reported, by key."""
    submissions = publication.submissions.select_related("enrolment").filter(status=status, enrolment__isnull=False)
    people = [submission.enrolment for submission in submissions if submission.enrolment is not None]
    return {person.pk: person for person in people if person.ended}


def reviewable(publication: Publication) -> dict[int, Enrolment]:
    """Return the participants whose submissions await review, as last reported, by key."""
    return _ended_with(publication, AWAITING_REVIEW)


def without_return_request(publication: Publication) -> set[int]:
    """Return the keys of `reviewable` participants who have not been asked to return their submission, as last
    reported.
    """
    already_asked = publication.submissions.filter(return_asked=True).values_list("enrolment", flat=True)
    return set(reviewable(publication)) - set(already_asked)


def payable_in_part(publication: Publication) -> dict[int, Enrolment]:
    """Return participants who ended early without base pay and have not submitted, by key; none without dynamic
    payment.
    """
    ended = _ended_with(publication, ACTIVE) if publication.pays_parts else {}
    paid = set(LedgerRow.objects.filter(enrolment__in=ended).values_list("enrolment", flat=True))
    return {key: person for key, person in ended.items() if key not in paid}


def pay_part(
    publication: Publication,
    person: Enrolment,
    *,
    percent: int,
    message: str,
    record: Callable[[], None] = lambda: None,
) -> None:
    """Complete a participant's submission on Prolific for part of the reward, which the ledger records as paid there.

    Prolific completes a submission only once, so a repeated request pays nobody twice.

    Args:
        percent: of the reward, from `LEAST_PERCENT` to `MOST_PERCENT`.
        message: what the participant reads.

    Raises:
        NotPossible: the participant is owed or was paid something here, or has submitted.
        MarketplaceError: nothing was done, or the outcome is unknown until the next sync.
    """
    if person.pk not in payable_in_part(publication) or not LEAST_PERCENT <= percent <= MOST_PERCENT:
        raise NotPossible(
            _("Prolific can pay part of the reward only to a participant who ended without pay and has not submitted.")
        )
    client, session, _current = _with_status(
        publication,
        person,
        ACTIVE,
        _("This participant is no longer active on Prolific. Refresh the page and check their status."),
    )
    record()
    own_submission = publication.submissions.filter(enrolment=person)
    own_submission.update(part=percent)
    try:
        reported = client.complete_with_part(
            session, code=publication.codes[PARTIAL_PAYMENT], percent=percent, message=message
        )
    except Unclear:
        reported = client.submission(session)
        if normalised_status(reported["status"]) != PARTIALLY_APPROVED:
            raise
    except MarketplaceError:
        own_submission.update(part=None)
        raise
    with transaction.atomic():
        own_submission.update(status=normalised_status(reported["status"])[:30])
        if normalised_status(reported["status"]) == PARTIALLY_APPROVED:
            record_part(publication, person)


def record_part(publication: Publication, person: Enrolment) -> None:
    """Record the part of the reward that Prolific paid at our request, once. Call this in a transaction."""
    percent = publication.submissions.filter(enrolment=person).values_list("part", flat=True).first()
    if percent is not None:
        keep_paid_elsewhere(
            person,
            study=publication.study.slug,
            recruiter=KIND,
            reason="part",
            amount=cents(publication.reward * percent / 100),
            currency=publication.currency,
        )


def reject(
    publication: Publication,
    person: Enrolment,
    *,
    category: str,
    message: str,
    user: Any = None,
    record: Callable[[], None] = lambda: None,
) -> None:
    """Reject a participant's submission on Prolific, and write off what the ledger says they are owed.

    Args:
        record: records the action; called when nothing prevents it, before the request to Prolific.

    Raises:
        NotPossible: the participant is being paid, or another owner acted first.
        MarketplaceError: nothing was done, or the outcome is unknown until the next sync.
    """
    client, session, _current = _awaiting_review(publication, person)
    record()
    rejecting.reject(
        person,
        kind=KIND,
        reason=message,
        user=user,
        ask=lambda: client.reject(session, message=message, category=category),
        is_rejected=lambda: normalised_status(client.submission(session)["status"]) == REJECTED,
        mark=lambda: publication.submissions.filter(enrolment=person).update(status=REJECTED),
    )


def ask_return(
    publication: Publication, person: Enrolment, *, reasons: Sequence[str], record: Callable[[], None] = lambda: None
) -> None:
    """Have Prolific ask a participant to return their submission, once. This does not count against them.

    Args:
        reasons: shown to the participant.

    Raises:
        NotPossible: the participant is being paid or has been asked before, or another owner acted first.
        MarketplaceError: nothing was done, or the outcome is unknown until the next sync.
    """
    client, session, current = _awaiting_review(publication, person)
    if current.get("return_requested"):
        publication.submissions.filter(enrolment=person).update(return_asked=True)
        raise NotPossible(_("Prolific has already asked this participant to return their submission."))
    record()
    try:
        client.ask_return(session, reasons=reasons)
    except Unclear:
        if not client.submission(session).get("return_requested"):
            raise
    publication.submissions.filter(enrolment=person).update(return_asked=True)


def _awaiting_review(publication: Publication, person: Enrolment) -> tuple[Client, str, dict[str, Any]]:
    """Return the client, the submission's Prolific ID and Prolific's data on it, if it awaits review."""
    rejecting.refuse_while_paid(person)
    return _with_status(
        publication,
        person,
        AWAITING_REVIEW,
        _("According to Prolific, this submission is not awaiting review. Ask Prolific again first."),
    )


def _with_status(
    publication: Publication, person: Enrolment, status: str, refusal: str
) -> tuple[Client, str, dict[str, Any]]:
    """Return the same for a submission that has this status now. Raise NotPossible with `refusal` for any other."""
    identity = Identity.objects.filter(enrolment=person, recruiter=KIND).first()
    if identity is None:
        raise NotPossible(_("This participant's Prolific identity has been erased."))
    client, session = client_of(publication.account), identity.details.get("SESSION_ID", "")
    current = client.submission(session)
    if current.get("participant") != identity.worker or normalised_status(current["status"]) != status:
        raise NotPossible(refusal)
    return client, session, current
