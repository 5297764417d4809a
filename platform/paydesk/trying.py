"""Dry run: ask the recruiter what paying would do, without moving money."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext as _

from paydesk import status
from payouts import deciding, paying
from payouts.models import LedgerRow
from payouts.payers import AssignmentStatus, Payer, Unreachable
from recruiters.models import Identity

PATIENCE = 25.0
"""Seconds that one dry run may take; remaining rows are reported as not asked."""
MOST = 200


@dataclass(frozen=True)
class Tried:
    """The result of a dry run for one row.

    Attributes:
        verdict: "pays", "waits", "fails", "by_hand" or "not_asked".
    """

    shown: status.ShownRow
    verdict: str
    says: str
    fee: Decimal | None = None


def try_out(rows: Iterable[LedgerRow]) -> list[Tried]:
    """Fetch each row's assignment status and fee; prepare, pay and save nothing."""
    until = time.monotonic() + PATIENCE
    payers: dict[tuple[str, str], Payer | None] = {}
    return [_try(one, payers, until) for one in status.shown(rows)]


def _try(one: status.ShownRow, payers: dict[tuple[str, str], Payer | None], until: float) -> Tried:
    row = one.row
    if deciding.is_by_hand(row):
        return Tried(one, "by_hand", _("You pay it yourself."))
    if row.state not in (*deciding.APPROVABLE, LedgerRow.State.APPROVED):
        return Tried(one, "fails", _("This payment is {state}.").format(state=row.get_state_display()))
    if time.monotonic() > until:
        return Tried(one, "not_asked", _("Not asked: the recruiter is slow to respond. Try fewer at once."))
    identity = Identity.objects.filter(enrolment=row.enrolment_id).first()
    if identity is None:
        return Tried(one, "fails", _("This participant was erased, so it is unknown whom to pay."))
    try:
        key = (row.recruiter, row.study)
        if key not in payers:
            payers[key] = paying.payer_of(row)
        payer = payers[key]
        assert payer is not None
        found = payer.assignment_status(paying.order_of(row, identity))
        fee = paying.fee_of(row, payer, identity)
    except Unreachable as error:
        return Tried(one, "waits", paying.scrubbed(str(error), identity))
    if found == AssignmentStatus.WORKING:
        return Tried(one, "waits", paying.waiting_reason(found), fee)
    if found not in paying.PAYABLE_STATUSES:
        return Tried(one, "fails", paying.status_problem(found))
    return Tried(one, "pays", _("Would be paid."), fee)
