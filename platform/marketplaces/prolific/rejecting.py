"""Rejecting a submission: by an owner, with a reason, one at a time."""

from __future__ import annotations

from django.utils.translation import gettext as _

from marketplaces.prolific.client import client_of
from marketplaces.prolific.links import KIND
from marketplaces.prolific.models import Publication
from marketplaces.prolific.paying import spelled
from marketplaces.prolific.publishing import NotPossible
from participants.models import Enrolment
from payouts.deciding import COMMITTED
from payouts.models import LedgerRow
from recruiters.models import Identity

REVIEWED = "AWAITING REVIEW"


def rejectable(publication: Publication) -> dict[int, Enrolment]:
    """Whose submissions await review, as far as was heard, by key."""
    found = publication.submissions.select_related("enrolment").filter(status=REVIEWED, enrolment__isnull=False)
    return {one.enrolment.pk: one.enrolment for one in found if one.enrolment is not None and one.enrolment.ended}


def reject(publication: Publication, person: Enrolment, *, category: str, message: str) -> None:
    """Reject somebody's submission at Prolific.

    Raises:
        NotPossible: they are being paid, or somebody was quicker.
        Trouble: the answer was lost; the next sync says what became of it.
    """
    if LedgerRow.objects.filter(enrolment=person, state__in=COMMITTED).exists():
        raise NotPossible(_("They are being paid: the ledger has approved what they are owed."))
    identity = Identity.objects.filter(enrolment=person, recruiter=KIND).first()
    if identity is None:
        raise NotPossible(_("Nobody knows any more who they were on Prolific."))
    client, session = client_of(publication.account), identity.details.get("SESSION_ID", "")
    now = client.submission(session)
    if now.get("participant") != identity.worker or spelled(now["status"]) != REVIEWED:
        raise NotPossible(_("Prolific says that this submission does not await review. Ask Prolific again first."))
    client.reject(session, message=message, category=category)
    publication.submissions.filter(enrolment=person).update(status="REJECTED")
