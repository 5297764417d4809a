"""Actions of an owner on many rows at once, each after a confirmation page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from audit.actions import Action
from payouts import deciding
from payouts.models import LedgerRow
from rights.roles import Role
from studies.acts import Act, Given

State = LedgerRow.State


def _on_rows(decide: Callable[..., int], note: str = "") -> Callable[[Given], int]:
    """Return what applies a decision to the chosen rows of a study; `note` is the decision's argument for the note."""

    def does(given: Given) -> int:
        more = {note: given.values["note"]} if note else {}
        return decide(study=given.target.slug, rows=given.values["rows"], user=given.request.user, **more)

    return does


def _approve(**chosen: Any) -> int:
    return sum(sums.rows for sums in deciding.approve(**chosen).values())


ACTS: Mapping[str, Act] = {
    "approve": Act(
        _("Approve"),
        _on_rows(_approve),
        icon="check_circle",
        offered=lambda row: row.state in deciding.APPROVABLE,
        explains=_(
            "Approved payments go to the recruiter at once, or on the next payment list. You can withdraw the approval "
            "until they are sent."
        ),
        log=Action.PAY_APPROVED,
        role=Role.OWNER,
    ),
    "withdraw": Act(
        _("Withdraw the approval"),
        _on_rows(deciding.withdraw),
        icon="undo",
        offered=lambda row: row.state == State.APPROVED,
        explains=_(
            "They become due again and are paid only once approved. Payments that have already been sent stay sent."
        ),
        log=Action.PAY_WITHDRAWN,
        role=Role.OWNER,
    ),
    "mark_paid": Act(
        _("Mark as paid"),
        _on_rows(deciding.mark_paid, "note"),
        icon="payments",
        offered=deciding.may_be_marked_paid,
        explains=_("Use this only for payments that participants have already received: Parley will not pay them."),
        log=Action.PAID,
        role=Role.OWNER,
        asks=_("How were they paid?"),
    ),
    "write_off": Act(
        _("Write off"),
        _on_rows(deciding.write_off, "reason"),
        icon="money_off",
        offered=deciding.may_be_written_off,
        explains=_("These payments will not be made. You can undo this later."),
        log=Action.PAY_WRITTEN_OFF,
        role=Role.OWNER,
        asks=_("Why are these not paid?"),
    ),
    "put_back": Act(
        _("Make due again"),
        _on_rows(deciding.put_back, "reason"),
        icon="undo",
        offered=deciding.may_be_put_back,
        explains=_("They become due again and can be approved and paid. Make sure that nobody has been paid already."),
        log=Action.PAY_PUT_BACK,
        role=Role.OWNER,
        asks=_("What was wrong?"),
    ),
}
"""By name; `offered` is asked about each row, and `asks` is what the required note answers."""
