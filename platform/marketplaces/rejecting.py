"""Apply a marketplace's rejections to the ledger.

When the marketplace reports that work is rejected, the payments due for it are written off. When it no longer does,
they are due again. This applies whether the decision was made here, on the marketplace's own pages, or by a request
whose answer was lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from marketplaces import kinds
from marketplaces.kinds import NotPossible, Unclear
from participants.models import Enrolment
from payouts import deciding
from payouts.models import LedgerRow
from payouts.paying import scrubbed
from recruiters.models import Identity

LONGEST = 250
"""Maximum length of a note in the journal, in characters."""


def refuse_while_paid(person: Enrolment) -> None:
    """Raise NotPossible if a payment to the person has been approved or may have been made."""
    if LedgerRow.objects.filter(enrolment=person, state__in=deciding.COMMITTED).exists():
        raise NotPossible(_("They are being paid: their payments have been approved in the ledger."))


def reject(
    person: Enrolment | None,
    *,
    kind: str,
    reason: str,
    user: Any,
    ask: Callable[[], object],
    is_rejected: Callable[[], bool],
    mark: Callable[[], object],
) -> None:
    """Have the marketplace reject a person's work, and write off what the ledger owes for it.

    Args:
        person: None if nobody arrived here with this work.
        ask: sends the request.
        is_rejected: looks whether the work is rejected now; asked if the request's answer was lost.
        mark: records the rejection here.

    Raises:
        MarketplaceError: nothing was done, or the outcome is unknown until the next sync.
    """
    try:
        ask()
    except Unclear:
        if not is_rejected():
            raise
    with transaction.atomic():
        mark()
        if person is not None:
            write_off_rejected(person, kind=kind, reason=reason, user=user)


def write_off_rejected(person: Enrolment, *, kind: str, reason: str = "", user: Any = None) -> int:
    """Write off a person's due and failed payments after a rejection; return the number of rows.

    Args:
        kind: the marketplace.
        reason: the reason given to the participant; kept in the journal.
        user: the user who rejected the work; None if the marketplace reported it.
    """
    note = Truncator(f"{_note_prefix(kind)} {without_identifiers(reason, person)}".strip()).chars(LONGEST)
    return sum(
        deciding.write_off(study=row.study, rows=[row.pk], user=user, reason=note, rejected=True)
        for row in LedgerRow.objects.filter(enrolment=person)
    )


def without_identifiers(note: str, person: Enrolment | None) -> str:
    """Return a message to a participant for the records: without their identifiers, and shortened if it is long."""
    return scrubbed(note, Identity.objects.filter(enrolment=person).first() if person is not None else None)


def make_due_again(person: Enrolment, *, kind: str, user: Any = None) -> int:
    """Make payments due again that were written off because of a rejection; return the number of rows.

    Payments written off for another reason are not changed.
    """
    note = _("The rejection on {marketplace} was undone.").format(marketplace=kinds.get(kind).title)
    return sum(
        deciding.put_back(study=row.study, rows=[row.pk], user=user, reason=note)
        for row in LedgerRow.objects.filter(enrolment=person, rejected=True)
    )


def update_ledger(person: Enrolment, *, kind: str, was_rejected: bool, is_rejected: bool) -> None:
    """Update the ledger when the marketplace reports a rejection or its reversal; do nothing if nothing changed."""
    if is_rejected and not was_rejected:
        write_off_rejected(person, kind=kind)
    elif was_rejected and not is_rejected:
        make_due_again(person, kind=kind)


def _note_prefix(kind: str) -> str:
    return _("Rejected on {marketplace}.").format(marketplace=kinds.get(kind).title)
