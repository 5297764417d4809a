"""Deciding about a submission that awaits review: rejecting it, or asking its worker to return their place.

By an owner, one at a time. Approving is the ledger's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from marketplaces import rejecting
from marketplaces.kinds import NotPossible
from marketplaces.prolific.client import Client, Unclear, client_of
from marketplaces.prolific.links import KIND
from marketplaces.prolific.models import Publication
from marketplaces.prolific.paying import spelled
from participants.models import Enrolment
from recruiters.models import Identity

REVIEWED, REJECTED = "AWAITING REVIEW", "REJECTED"


def reviewable(publication: Publication) -> dict[int, Enrolment]:
    """Whose submissions await review, as far as was heard, by key."""
    found = publication.submissions.select_related("enrolment").filter(status=REVIEWED, enrolment__isnull=False)
    return {one.enrolment.pk: one.enrolment for one in found if one.enrolment is not None and one.enrolment.ended}


def may_be_asked(publication: Publication) -> set[int]:
    """The keys of those among them who have not been asked to return their place, as far as was heard."""
    asked = publication.submissions.filter(return_asked=True).values_list("enrolment", flat=True)
    return set(reviewable(publication)) - set(asked)


def reject(
    publication: Publication,
    person: Enrolment,
    *,
    category: str,
    message: str,
    who: Any = None,
    noted: Callable[[], None] = lambda: None,
) -> None:
    """Reject somebody's submission at Prolific, and write off what the ledger says they are owed.

    Args:
        noted: writes the action down; called when nothing speaks against it, before Prolific is asked.

    Raises:
        NotPossible: they are being paid, or somebody was quicker.
        MarketplaceError: nothing was done, or nobody knows; the next sync says what became of it.
    """
    client, session, _now = _awaiting(publication, person)
    noted()
    try:
        client.reject(session, message=message, category=category)
    except Unclear:
        if spelled(client.submission(session)["status"]) != REJECTED:
            raise
    with transaction.atomic():
        publication.submissions.filter(enrolment=person).update(status=REJECTED)
        rejecting.rejected(person, kind=KIND, reason=message, who=who)


def ask_return(
    publication: Publication, person: Enrolment, *, reasons: Sequence[str], noted: Callable[[], None] = lambda: None
) -> None:
    """Let Prolific ask somebody to return their place, once. It does not count against them.

    Args:
        reasons: that they read.

    Raises:
        NotPossible: they are being paid, have been asked before, or somebody was quicker.
        MarketplaceError: nothing was done, or nobody knows; the next sync says what became of it.
    """
    client, session, now = _awaiting(publication, person)
    if now.get("return_requested"):
        publication.submissions.filter(enrolment=person).update(return_asked=True)
        raise NotPossible(_("Prolific has asked them to return their place already."))
    noted()
    try:
        client.ask_return(session, reasons=reasons)
    except Unclear:
        if not client.submission(session).get("return_requested"):
            raise
    publication.submissions.filter(enrolment=person).update(return_asked=True)


def _awaiting(publication: Publication, person: Enrolment) -> tuple[Client, str, dict[str, Any]]:
    """The way to Prolific, the submission's name there, and what Prolific says of it now."""
    rejecting.refuse_while_paid(person)
    identity = Identity.objects.filter(enrolment=person, recruiter=KIND).first()
    if identity is None:
        raise NotPossible(_("Nobody knows any more who they were on Prolific."))
    client, session = client_of(publication.account), identity.details.get("SESSION_ID", "")
    now = client.submission(session)
    if now.get("participant") != identity.worker or spelled(now["status"]) != REVIEWED:
        raise NotPossible(_("Prolific says that this submission does not await review. Ask Prolific again first."))
    return client, session, now
