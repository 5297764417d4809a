"""What a rejection at a marketplace means for the ledger.

What was owed is written off once the marketplace says that the work is rejected, and due again once it says so no
more; whether it was done at a desk here, at the marketplace's own pages, or by a call whose answer was lost.
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
"""Characters of a note in the journal."""


def refuse_while_paid(person: Enrolment) -> None:
    """Raises NotPossible where the ledger has approved what somebody is owed, or it may have been paid."""
    if LedgerRow.objects.filter(enrolment=person, state__in=deciding.COMMITTED).exists():
        raise NotPossible(_("They are being paid: the ledger has approved what they are owed."))


def rejected(person: Enrolment, *, kind: str, reason: str = "", who: Any = None) -> int:
    """Write off what is due or failed of somebody whose work was rejected; returns how many rows.

    Args:
        kind: the marketplace.
        reason: what the worker was told; kept in the journal.
        who: the user whose act it was; None for what the marketplace was heard to say.
    """
    words = Truncator(f"{_mark(kind)} {nameless(reason, person)}".strip()).chars(LONGEST)
    return sum(
        deciding.write_off(study=row.study, rows=[row.pk], who=who, reason=words)
        for row in LedgerRow.objects.filter(enrolment=person)
    )


def nameless(words: str, person: Enrolment | None) -> str:
    """What was written to a worker, for the records: without their identifiers, cut where it is long."""
    return scrubbed(words, Identity.objects.filter(enrolment=person).first() if person is not None else None)


def taken_back(person: Enrolment, *, kind: str, who: Any = None) -> int:
    """Make due again what was written off by a rejection that holds no more; returns how many rows.

    What was written off for another reason stays so.
    """
    words = _("The rejection at {marketplace} was taken back.").format(marketplace=kinds.get(kind).title)
    return sum(
        deciding.put_back(study=row.study, rows=[row.pk], who=who, reason=words) for row in _written_off(person, kind)
    )


def heard(person: Enrolment, *, kind: str, was_rejected: bool, is_rejected: bool) -> None:
    """Let the ledger follow what a marketplace says of somebody's work; where that has not changed, nothing happens."""
    if is_rejected and not was_rejected:
        rejected(person, kind=kind)
    elif was_rejected and not is_rejected:
        taken_back(person, kind=kind)


def _written_off(person: Enrolment, kind: str) -> list[LedgerRow]:
    """The rows whose last posting is the rejection's."""
    found = []
    for row in LedgerRow.objects.filter(enrolment=person, state=LedgerRow.State.WRITTEN_OFF):
        last = row.postings.order_by("-number").first()
        if last is not None and last.why.startswith(_mark(kind)):
            found.append(row)
    return found


def _mark(kind: str) -> str:
    return _("Rejected at {marketplace}.").format(marketplace=kinds.get(kind).title)
