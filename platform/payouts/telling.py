"""What people read on their last page about how far their pay is."""

from __future__ import annotations

from django.utils.translation import gettext as _

from participants import paid
from participants.models import Enrolment
from payouts.models import LedgerRow
from payouts.payers import method_of

State = LedgerRow.State


@paid.register
def how_far(enrolment: Enrolment) -> list[str]:
    """One sentence where all amounts are equally far, one for each amount otherwise."""
    rows = list(enrolment.ledger.order_by("reason"))
    said = [_of(row) for row in rows]
    if len(set(said)) <= 1:
        return said[:1]
    names = {"base": _("For taking part"), "bonus": _("Bonus")}
    return [f"{names.get(row.reason, row.reason)}: {says}" for row, says in zip(rows, said, strict=True)]


def _of(row: LedgerRow) -> str:
    if row.state == State.CONFIRMED:
        return _("It has been paid.")
    method = method_of(row.recruiter)
    if row.state == State.ELSEWHERE and method is not None and (method.lists or method.payer):
        return _("The page that brought you here pays this to you.")
    if row.state == State.ELSEWHERE:
        return _("The experiment that brought you here pays this to you, with whatever else you earn there.")
    if row.state == State.WRITTEN_OFF:
        return _("The researchers decided not to pay it. If you think that this is wrong, please report it below.")
    if method is None or (method.payer is None and not method.lists):
        return _("It is noted. The researchers pay it to you themselves.")
    if row.state == State.SENT:
        return _("It is being paid through the page that brought you here.")
    return _("It is noted. Once the researchers have approved it, it is paid through the page that brought you here.")
