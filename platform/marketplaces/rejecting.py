"""Apply a marketplace's rejections to the ledger.

When the marketplace says that work is rejected, what was owed is written off. When it no longer says so, the amount is
due again. It does not matter whether the decision was made at a desk here, on the marketplace's own pages, or by a call
whose answer was lost.
"""

from __future__ import annotations

from typing import Any

from django.utils.text import Truncator
from django.utils.translation import gettext as _

from marketplaces import kinds
from marketplaces.kinds import NotPossible
from participants.models import Enrolment
from payouts import deciding
from payouts.models import LedgerRow
from payouts.paying import scrubbed
from recruiters.models import Identity

LONGEST = 250
"""Maximum length of a note in the journal, in characters."""


def refuse_while_paid(person: Enrolment) -> None:
    """Raise NotPossible if the ledger has approved what the person is owed, or it may have been paid."""
    if LedgerRow.objects.filter(enrolment=person, state__in=deciding.COMMITTED).exists():
        raise NotPossible(_("They are being paid: the ledger has approved what they are owed."))


def rejected(person: Enrolment, *, kind: str, reason: str = "", who: Any = None) -> int:
    """Write off a person's due and failed payments after a rejection; return the number of rows.

    Args:
        kind: the marketplace.
        reason: what the worker was told; kept in the journal.
        who: the user who rejected the work; None if the marketplace reported it.
    """
    words = Truncator(f"{_mark(kind)} {nameless(reason, person)}".strip()).chars(LONGEST)
    return sum(
        deciding.write_off(study=row.study, rows=[row.pk], who=who, reason=words)
        for row in LedgerRow.objects.filter(enrolment=person)
    )


def nameless(words: str, person: Enrolment | None) -> str:
    """Return a message to a worker for the records: without the worker's identifiers, and shortened if it is long."""
    return scrubbed(words, Identity.objects.filter(enrolment=person).first() if person is not None else None)


def taken_back(person: Enrolment, *, kind: str, who: Any = None) -> int:
    """Make payments due again that a rejection wrote off, now that it no longer holds; return the number of rows.

    Payments written off for another reason are not changed.
    """
    words = _("The rejection at {marketplace} was taken back.").format(marketplace=kinds.get(kind).title)
    return sum(
        deciding.put_back(study=row.study, rows=[row.pk], who=who, reason=words) for row in _written_off(person, kind)
    )


def heard(person: Enrolment, *, kind: str, was_rejected: bool, is_rejected: bool) -> None:
    """Update the ledger when the marketplace reports a rejection or its reversal; do nothing if neither changed."""
    if is_rejected and not was_rejected:
        rejected(person, kind=kind)
    elif was_rejected and not is_rejected:
        taken_back(person, kind=kind)


def _written_off(person: Enrolment, kind: str) -> list[LedgerRow]:
    """Return the rows whose last posting comes from the rejection."""
    found = []
    for row in LedgerRow.objects.filter(enrolment=person, state=LedgerRow.State.WRITTEN_OFF):
        last = row.postings.order_by("-number").first()
        if last is not None and last.why.startswith(_mark(kind)):
            found.append(row)
    return found


def _mark(kind: str) -> str:
    return _("Rejected at {marketplace}.").format(marketplace=kinds.get(kind).title)
