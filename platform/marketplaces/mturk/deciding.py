"""What Mechanical Turk reports about submitted assignments, and what owners decide about them.

Approvals come from the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from django.core.validators import MinLengthValidator
from django.db import transaction
from django.forms import Form
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.actions import Action
from marketplaces import submissions
from marketplaces.fields import text
from marketplaces.kinds import NotPossible
from marketplaces.models import Submission
from marketplaces.mturk.client import AssignmentNow, requester_of
from marketplaces.mturk.models import Hit
from marketplaces.submissions import Report
from payouts.models import LedgerRow
from recruiters.models import Identity
from studies.admin.acts import Act, Given

SHORTEST_REASON, LONGEST_REASON = 20, 1000
REVERSAL_PERIOD = timedelta(days=30)
"""Time after submission in which mTurk lets a rejected assignment be approved (API reference, "ApproveAssignment")."""
STATUS = Submission.Status
_STATUSES = {"Submitted": STATUS.SUBMITTED, "Approved": STATUS.APPROVED, "Rejected": STATUS.REJECTED}

RULES = (
    gettext_lazy("The worker reads your reason, and gets neither reward nor bonus."),
    gettext_lazy(
        "A rejection lowers the worker's approval rate, which limits the work they can get. Reject only work that was "
        "clearly not done. A failed attention check alone is not a sufficient reason."
    ),
    gettext_lazy("You can undo it for 30 days after the submission, as long as the task exists on Mechanical Turk."),
)
ADVICE: Mapping[str, str | Promise] = {
    "unsubmitted": gettext_lazy(
        "They can still do so with the button on their last page. Once the task's time is over, Mechanical Turk pays "
        "neither reward nor bonus for it. You can then pay them through a small extra task published only for them."
    ),
    "unknown": gettext_lazy(
        "If their task is yours, import it on this page. Otherwise someone invented the link, and they are not paid."
    ),
    "never arrived": gettext_lazy(
        "Mechanical Turk will approve it automatically ({when}) unless an owner rejects it first. If the worker claims "
        "to have played, look for a participant who was here at that time."
    ),
}


def key_of(session: str) -> str:
    return session


def report_of(assignment: AssignmentNow) -> Report:
    fields = {
        "status": _STATUSES.get(assignment.status, STATUS.SUBMITTED),
        "submitted_at": assignment.submitted_at,
        "auto_approval_at": assignment.auto_approval_at,
    }
    return Report(assignment.assignment_id, assignment.assignment_id, assignment.worker, fields)


def fetch(submission: Submission) -> Report:
    current = requester_of(submission.account).assignment(submission.key)
    if current is None or current.hit_id != submission.task:
        raise NotPossible(_("Mechanical Turk does not have this submitted assignment, or no longer has it."))
    return report_of(current)


def reject(submission: Submission, *, reason: str) -> None:
    requester_of(submission.account).call(
        "reject_assignment", AssignmentId=submission.key, RequesterFeedback=reason.strip()
    )


def recorded(submission: Submission) -> None:
    """Do nothing: all that mTurk pays is in the ledger."""


def unsubmitted(identity: Identity, owed: set[str]) -> str:
    """Return a finding only for those who are owed something: mTurk does not report work in progress."""
    if not identity.enrolment.ended or not owed:
        return ""
    tasks = Hit.objects.filter(study__slug=identity.study, hit_id=identity.details.get("hitId"))
    return "unsubmitted" if tasks.exists() else "unknown"


def _not_rejected(submission: Submission) -> str:
    if submission.status != STATUS.REJECTED:
        return _("This assignment is not, or no longer, rejected on Mechanical Turk.")
    if submission.enrolment is None:
        return _("Nobody arrived here with it, so no payment is due for it. Approve it on Mechanical Turk itself.")
    if submission.taken_back_at is not None:
        return _("The rejection has already been undone. Approve the payments that are due on the page “Pay”.")
    return ""


def take_back(given: Given) -> None:
    """Undo a rejection: payments written off because of it are due again, and approving them pays the worker.

    Raises:
        NotPossible: the assignment is not rejected, mTurk no longer allows its approval, or nothing is owed for it.
        MarketplaceError
    """
    submission: Submission = given.target
    is_gone = Hit.objects.filter(hit_id=submission.task, state=Hit.State.DISPOSED).exists()
    submitted_at = submission.submitted_at
    if is_gone or submitted_at is None or submitted_at + REVERSAL_PERIOD < timezone.now():
        raise NotPossible(
            _(
                "A rejected assignment can be approved only within 30 days of its submission and while its task still "
                "exists on Mechanical Turk."
            )
        )
    submissions.refuse_unless(submission, STATUS.REJECTED, _not_rejected(Submission()))
    person = submission.enrolment
    assert person is not None
    with transaction.atomic():
        unchanged = Submission.objects.filter(pk=submission.pk, taken_back_at=None)
        if not unchanged.update(taken_back_at=timezone.now()):
            raise NotPossible(_("The rejection has already been undone."))
        submissions.make_due_again(person, kind=submission.account.kind, user=given.request.user)
        if not person.ledger.filter(reason="base").exclude(state=LedgerRow.State.WRITTEN_OFF).exists():
            raise NotPossible(
                _(
                    "No reward of this participant was written off because of a rejection. If it was written off for "
                    "another reason, first make it due again on the page “Pay”."
                )
            )
        given.record()


class RejectForm(Form):
    """Form for the reason for rejecting an assignment."""

    reason = text(
        gettext_lazy("Reason (shown to the worker)"),
        LONGEST_REASON,
        gettext_lazy("20 to 1000 characters."),
        rows=4,
        validators=[MinLengthValidator(SHORTEST_REASON)],
    )


ACTS: Mapping[str, Act] = {
    "reject": submissions.rejection(
        RejectForm,
        gettext_lazy(
            "Rejected workers are not paid, and the rejection lowers their approval rate on Mechanical Turk, which "
            "limits the work they can get. Reject only work that was clearly not done. A failed attention check alone "
            "is not a sufficient reason."
        ),
    ),
    "take_back": submissions.decision(
        gettext_lazy("Undo a rejection"),
        take_back,
        gettext_lazy(
            "Rejection undone: the payments that were written off are due again. To pay them, approve them on the page "
            "“Pay”."
        ),
        explains=gettext_lazy(
            "The payments that were written off become due again. When you approve them on the page “Pay”, Parley asks "
            "Mechanical Turk to approve the rejected assignment, which also corrects the worker's approval rate."
        ),
        button=gettext_lazy("Undo rejection"),
        log=Action.REJECTION_TAKEN_BACK,
        hindrance=_not_rejected,
    ),
}
