"""What an owner can do with many rows at once: each is asked about on a page of its own before it is done."""

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
class Act:
    """One thing to do with rows.

    Attributes:
        states: of the rows that it is offered for; `applies` says of which of them.
        warns: what one should know before.
        note: what the note that it needs is about; empty where it needs none.
        run: does it to the rows with these keys of a study, for a user, with a note; returns how many.
    """

    key: str
    title: Any
    icon: str
    states: tuple[str, ...]
    applies: Callable[[LedgerRow], bool]
    warns: Any
    action: Action
    run: Callable[[str, Collection[int], Any, str], int]
    note: Any = ""


def _approve(study: str, rows: Collection[int], who: Any, note: str) -> int:
    return sum(sums.rows for sums in deciding.approve(study=study, rows=rows, who=who).values())


ACTS = {
    act.key: act
    for act in (
        Act(
            key="approve",
            title=_("Approve"),
            icon="check_circle",
            states=(State.DUE, State.FAILED),
            applies=lambda row: row.state in deciding.APPROVABLE,
            warns=_(
                "What is approved is paid through the recruiter at once, or goes on the next payment list. Until it is "
                "sent you can withdraw it."
            ),
            action=Action.PAY_APPROVED,
            run=_approve,
        ),
        Act(
            key="withdraw",
            title=_("Withdraw the approval"),
            icon="undo",
            states=(State.APPROVED,),
            applies=lambda row: row.state == State.APPROVED,
            warns=_("They are due again, and not paid until somebody approves them. What is sent by then stays sent."),
            action=Action.PAY_WITHDRAWN,
            run=lambda study, rows, who, note: deciding.withdraw(study=study, rows=rows, who=who),
        ),
        Act(
            key="mark_paid",
            title=_("Mark as paid"),
            icon="payments",
            states=(State.APPROVED, State.FAILED),
            applies=deciding.may_be_marked_paid,
            warns=_("Say this only of what people really have: Parley pays nothing now, and nothing later."),
            action=Action.PAID,
            run=lambda study, rows, who, note: deciding.mark_paid(study=study, rows=rows, who=who, note=note),
            note=_("How were they paid?"),
        ),
        Act(
            key="write_off",
            title=_("Write off"),
            icon="money_off",
            states=(State.DUE, State.FAILED),
            applies=deciding.may_be_written_off,
            warns=_("These people are not paid. It can be put back later."),
            action=Action.PAY_WRITTEN_OFF,
            run=lambda study, rows, who, note: deciding.write_off(study=study, rows=rows, who=who, reason=note),
            note=_("Why are they not paid?"),
        ),
        Act(
            key="put_back",
            title=_("Put back"),
            icon="undo",
            states=(State.WRITTEN_OFF, State.CONFIRMED),
            applies=deciding.may_be_put_back,
            warns=_("They are due again, and can be approved and paid. Be sure that nobody was paid already."),
            action=Action.PAY_PUT_BACK,
            run=lambda study, rows, who, note: deciding.put_back(study=study, rows=rows, who=who, reason=note),
            note=_("What was wrong?"),
        ),
    )
}
