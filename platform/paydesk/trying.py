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
MAX_ROWS = 200


@dataclass(frozen=True)
class DryRun:
    """The result of a dry run for one row.

    Attributes:
        verdict: "pays", "waits", "fails", "by_hand" or "not_asked".
    """

    shown_row: status.ShownRow
    verdict: str
    explanation: str
    fee: Decimal | None = None


def try_out(rows: Iterable[LedgerRow]) -> list[DryRun]:
    """Fetch each row's assignment status and fee; prepare, pay and save nothing."""
    deadline = time.monotonic() + PATIENCE
    payers: dict[tuple[str, str], Payer | None] = {}
    return [_try(shown_row, payers, deadline) for shown_row in status.shown_rows(rows)]


def _try(shown_row: status.ShownRow, payers: dict[tuple[str, str], Payer | None], deadline: float) -> DryRun:
    row = shown_row.row
    if deciding.is_by_hand(row):
        return DryRun(shown_row, "by_hand", _("You pay it yourself."))
    if row.state not in (*deciding.APPROVABLE, LedgerRow.State.APPROVED):
        return DryRun(shown_row, "fails", _("This payment is {state}.").format(state=row.get_state_display()))
    if time.monotonic() > deadline:
        return DryRun(shown_row, "not_asked", _("Not asked: the recruiter is slow to respond. Try fewer at once."))
    identity = Identity.objects.filter(enrolment=row.enrolment_id).first()
    if identity is None:
        return DryRun(shown_row, "fails", _("This participant was erased, so it is unknown whom to pay."))
    try:
        key = (row.recruiter, row.study)
        if key not in payers:
            payers[key] = paying.payer_of(row)
        payer = payers[key]
        assert payer is not None
        assignment_status = payer.assignment_status(paying.order_of(row, identity))
        fee = paying.fee_of(row, payer, identity)
    except Unreachable as error:
        return DryRun(shown_row, "waits", paying.scrubbed(str(error), identity))
    if assignment_status == AssignmentStatus.WORKING:
        return DryRun(shown_row, "waits", paying.waiting_reason(assignment_status), fee)
    if assignment_status not in paying.PAYABLE_STATUSES:
        return DryRun(shown_row, "fails", paying.status_problem(assignment_status))
    return DryRun(shown_row, "pays", _("Would be paid."), fee)
