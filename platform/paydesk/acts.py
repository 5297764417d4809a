"""Operations that an owner can apply to many rows at once, each after a confirmation page."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from audit.actions import Action
from payouts import deciding
from payouts.models import LedgerRow

State = LedgerRow.State


@dataclass(frozen=True)
class Operation:
    """One operation on rows.

    Attributes:
        applies: whether it is possible for a row in its present state.
        warns: a warning shown before confirming.
        note: the question that the required note answers; empty if no note is needed.
        run: called with a study, row keys, a user and a note; returns how many rows were changed.
    """

    key: str
    title: Any
    icon: str
    applies: Callable[[LedgerRow], bool]
    warns: Any
    action: Action
    run: Callable[[str, Collection[int], Any, str], int]
    note: Any = ""


def _approve(study: str, rows: Collection[int], user: Any, note: str) -> int:
    return sum(sums.rows for sums in deciding.approve(study=study, rows=rows, user=user).values())


OPERATIONS = {
    operation.key: operation
    for operation in (
        Operation(
            key="approve",
            title=_("Approve"),
            icon="check_circle",
            applies=lambda row: row.state in deciding.APPROVABLE,
            warns=_(
                "Approved payments go to the recruiter at once, or on the next payment list. You can withdraw the "
                "approval until they are sent."
            ),
            action=Action.PAY_APPROVED,
            run=_approve,
        ),
        Operation(
            key="withdraw",
            title=_("Withdraw the approval"),
            icon="undo",
            applies=lambda row: row.state == State.APPROVED,
            warns=_(
                "They become due again and are paid only once approved. Payments that have already been sent stay sent."
            ),
            action=Action.PAY_WITHDRAWN,
            run=lambda study, rows, user, note: deciding.withdraw(study=study, rows=rows, user=user),
        ),
        Operation(
            key="mark_paid",
            title=_("Mark as paid"),
            icon="payments",
            applies=deciding.may_be_marked_paid,
            warns=_("Use this only for payments that participants have already received: Parley will not pay them."),
            action=Action.PAID,
            run=lambda study, rows, user, note: deciding.mark_paid(study=study, rows=rows, user=user, note=note),
            note=_("How were they paid?"),
        ),
        Operation(
            key="write_off",
            title=_("Write off"),
            icon="money_off",
            applies=deciding.may_be_written_off,
            warns=_("These payments will not be made. You can undo this later."),
            action=Action.PAY_WRITTEN_OFF,
            run=lambda study, rows, user, note: deciding.write_off(study=study, rows=rows, user=user, reason=note),
            note=_("Why are these not paid?"),
        ),
        Operation(
            key="put_back",
            title=_("Make due again"),
            icon="undo",
            applies=deciding.may_be_put_back,
            warns=_("They become due again and can be approved and paid. Make sure that nobody has been paid already."),
            action=Action.PAY_PUT_BACK,
            run=lambda study, rows, user, note: deciding.put_back(study=study, rows=rows, user=user, reason=note),
            note=_("What was wrong?"),
        ),
    )
}
