"""Reject a submitted assignment, or undo a rejection. Only owners may do so; approvals come from the ledger."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from marketplaces import rejecting
from marketplaces.kinds import NotPossible
from marketplaces.mturk import syncing
from marketplaces.mturk.client import AssignmentNow, requester_of
from marketplaces.mturk.models import KEY, Assignment, Hit
from payouts.models import LedgerRow

SHORTEST_REASON, LONGEST_REASON = 20, 1000
REVERSAL_PERIOD = timedelta(days=30)
"""Time after submission in which mTurk lets a rejected assignment be approved (API reference, "ApproveAssignment")."""


def refuse_reason(reason: str) -> None:
    """Raise NotPossible if a reason is too short, or longer than mTurk accepts."""
    if not SHORTEST_REASON <= len(reason.strip()) <= LONGEST_REASON:
        message = _("Please give the worker a reason of {least} to {most} characters.")
        raise NotPossible(message.format(least=SHORTEST_REASON, most=LONGEST_REASON))


def reject(assignment: Assignment, *, reason: str, user: Any, record: Callable[[], None] = lambda: None) -> None:
    """Reject a submitted assignment, and write off what the ledger owes for it.

    Args:
        record: records the action; called once all checks have passed, before the request to mTurk.

    Raises:
        NotPossible: the assignment is not waiting for a decision, is being paid, or the reason's length is wrong.
        MarketplaceError
    """
    refuse_reason(reason)
    person = assignment.identity.enrolment if assignment.identity is not None else None
    if person is not None:
        rejecting.refuse_while_paid(person)
    if _fetch(assignment).status != "Submitted":
        raise NotPossible(_("This assignment has already been approved or rejected."))
    record()
    requester, key = requester_of(assignment.hit.account), assignment.assignment_id

    def is_rejected() -> bool:
        current = requester.assignment(key)
        return current is not None and current.status == "Rejected"

    rejecting.reject(
        person,
        kind=KEY,
        reason=reason,
        user=user,
        ask=lambda: requester.reject(key, reason=reason.strip()),
        is_rejected=is_rejected,
        mark=lambda: Assignment.objects.filter(pk=assignment.pk).update(status=Assignment.Status.REJECTED),
    )


def take_back(assignment: Assignment, *, user: Any, record: Callable[[], None] = lambda: None) -> None:
    """Undo a rejection: payments written off because of it are due again, and approving them pays the worker.

    Raises:
        NotPossible: the assignment is not rejected, mTurk no longer allows its approval, or nothing is owed for it.
        MarketplaceError
    """
    person = assignment.identity.enrolment if assignment.identity is not None else None
    if person is None:
        raise NotPossible(
            _("Nobody arrived here with it, so no payment is due for it. Approve it on Mechanical Turk itself.")
        )
    if assignment.hit.state == Hit.State.DISPOSED or assignment.submitted_at + REVERSAL_PERIOD < timezone.now():
        raise NotPossible(
            _(
                "A rejected assignment can be approved only within 30 days of its submission and while its task still "
                "exists on Mechanical Turk."
            )
        )
    if _fetch(assignment).status != "Rejected":
        raise NotPossible(_("This assignment is not, or no longer, rejected on Mechanical Turk."))
    with transaction.atomic():
        if not Assignment.objects.filter(pk=assignment.pk, taken_back_at=None).update(taken_back_at=timezone.now()):
            raise NotPossible(
                _("The rejection has already been undone. Approve the payments that are due on the page “Pay”.")
            )
        rejecting.make_due_again(person, kind=KEY, user=user)
        if not person.ledger.filter(reason="base").exclude(state=LedgerRow.State.WRITTEN_OFF).exists():
            raise NotPossible(
                _(
                    "No reward of this participant was written off because of a rejection. If it was written off for "
                    "another reason, first make it due again on the page “Pay”."
                )
            )
        record()


def _fetch(assignment: Assignment) -> AssignmentNow:
    """Fetch the assignment's current status from mTurk, record it and return it.

    Raises:
        NotPossible: mTurk no longer has the assignment.
        MarketplaceError
    """
    current = requester_of(assignment.hit.account).assignment(assignment.assignment_id)
    if current is None or current.hit_id != assignment.hit.hit_id:
        raise NotPossible(_("Mechanical Turk does not have this submitted assignment, or no longer has it."))
    syncing.record_assignment(assignment.hit, current)
    return current
