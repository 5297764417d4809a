"""Rejecting a submitted assignment: by an owner, with a reason that the worker reads. Approving is the ledger's."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from marketplaces.mturk import syncing
from marketplaces.mturk.client import requester_of
from marketplaces.mturk.models import Assignment
from marketplaces.mturk.publishing import NotPossible
from payouts.deciding import COMMITTED, write_off
from payouts.models import LedgerRow

SHORTEST_REASON, LONGEST_REASON = 20, 1000


def refuse_reason(reason: str) -> None:
    """Raises NotPossible for a reason that says too little, or more than mTurk takes."""
    if not SHORTEST_REASON <= len(reason.strip()) <= LONGEST_REASON:
        raise NotPossible(
            _("Please give the worker a reason of {least} to {most} characters.").format(
                least=SHORTEST_REASON, most=LONGEST_REASON
            )
        )


def reject(assignment: Assignment, *, reason: str, who: Any) -> None:
    """Refuse the reward of a submitted assignment, and write off what the ledger says is owed for it.

    Raises:
        NotPossible: it is not waiting for a decision, is being paid, or the reason says too little.
        Trouble
    """
    refuse_reason(reason)
    owed = _owed(assignment)
    if any(row.state in COMMITTED for row in owed):
        raise NotPossible(_("They are being paid: the ledger has approved what they are owed."))
    requester = requester_of(assignment.hit.account)
    now = requester.assignment(assignment.assignment_id)
    if now is None or now.status != "Submitted" or now.hit_id != assignment.hit.hit_id:
        if now is not None:
            syncing.keep(assignment.hit, now)
        raise NotPossible(_("It has been decided already."))
    requester.reject(assignment.assignment_id, reason=reason.strip())
    Assignment.objects.filter(pk=assignment.pk).update(status=Assignment.Status.REJECTED)
    study = assignment.hit.study.slug
    write_off(study=study, rows=[row.pk for row in owed], who=who, reason=_("Rejected at Mechanical Turk."))


def _owed(assignment: Assignment) -> list[LedgerRow]:
    if assignment.identity is None:
        return []
    return list(LedgerRow.objects.filter(enrolment=assignment.identity.enrolment_id))
