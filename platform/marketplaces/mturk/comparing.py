"""Compare Mechanical Turk's records of a study's workers with our own, and advise what to do about differences."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from marketplaces.mturk.models import KEY, Assignment, Hit
from participants.models import Enrolment
from participants.states import State
from payouts.models import LedgerRow
from recruiters.models import Identity
from studies.models import Study

NOT_SUBMITTED = "none"
UNKNOWN_TASK = "unknown"
_MTURK_STATUSES: dict[str, str | Promise] = {
    Assignment.Status.SUBMITTED: gettext_lazy("submitted"),
    Assignment.Status.APPROVED: gettext_lazy("approved"),
    Assignment.Status.REJECTED: gettext_lazy("rejected"),
    NOT_SUBMITTED: gettext_lazy("not submitted"),
    UNKNOWN_TASK: gettext_lazy("not one of the study's tasks"),
}


@dataclass(frozen=True)
class Line:
    """One worker.

    Attributes:
        enrolment: None if nobody arrived here with the assignment, or the participant has been erased.
        mturk_status, parley_status: the worker's status on mTurk and in Parley, as shown to researchers.
        advice: what differs and what to do; empty if both agree.
        assignment: the assignment as mTurk shows it; None if it was not submitted.
    """

    enrolment: Enrolment | None
    mturk_status: str
    parley_status: str
    advice: str
    assignment: Assignment | None

    @property
    def may_reject(self) -> bool:
        return self.assignment is not None and self.assignment.status == Assignment.Status.SUBMITTED

    @property
    def may_undo_rejection(self) -> bool:
        """Whether the assignment is rejected and its participant would otherwise be owed something."""
        one = self.assignment
        is_rejected = one is not None and one.status == Assignment.Status.REJECTED and one.taken_back_at is None
        return is_rejected and self.enrolment is not None and self.enrolment.ledger.exists()


def lines_of(study: Study) -> list[Line]:
    """Return everyone who came from mTurk or submitted work there; those who need action come first."""
    submitted = list(
        Assignment.objects.filter(hit__study=study).select_related("identity__enrolment").order_by("-submitted_at")
    )
    by_identity = {assignment.identity_id: assignment for assignment in submitted if assignment.identity_id is not None}
    by_assignment = {assignment.assignment_id: assignment for assignment in submitted}
    tasks = {hit.hit_id: hit for hit in Hit.objects.filter(study=study).exclude(hit_id=None)}
    identities = Identity.objects.filter(study=study.slug, recruiter=KEY).select_related("enrolment").order_by("-pk")
    lines = [
        _line_of_participant(
            identity,
            by_identity.get(identity.pk),
            by_assignment.get(identity.details.get("assignmentId", "")),
            tasks.get(identity.details.get("hitId")),
        )
        for identity in identities.prefetch_related("enrolment__ledger")
    ]
    lines += [_line_of_assignment(assignment) for assignment in submitted if assignment.identity_id is None]
    return sorted(lines, key=lambda line: not line.advice)


def _line_of_participant(
    identity: Identity, own_assignment: Assignment | None, same_assignment: Assignment | None, task: Hit | None
) -> Line:
    enrolment = identity.enrolment
    status = own_assignment.status if own_assignment else NOT_SUBMITTED if task is not None else UNKNOWN_TASK
    advice = _advice(enrolment, status, own_assignment, same_assignment)
    return Line(enrolment, str(_MTURK_STATUSES[status]), str(State(enrolment.state).label), advice, own_assignment)


def _advice(
    enrolment: Enrolment, status: str, own_assignment: Assignment | None, same_assignment: Assignment | None
) -> str:
    owed_reasons = {row.reason for row in enrolment.ledger.all() if row.state != LedgerRow.State.WRITTEN_OFF}
    if same_assignment is not None and own_assignment is None:
        return _(
            "Another worker submitted this assignment: either it was returned and accepted again, or this participant "
            "used another worker's link. Participants who arrived here with it are not paid."
        )
    if own_assignment is None:
        return _advice_on_missing(enrolment, owed_reasons, status)
    if not enrolment.ended:
        return _(
            "Submitted on Mechanical Turk, but still in progress here. They can continue until their time is over; "
            "nothing is lost."
        )
    if status == Assignment.Status.SUBMITTED and "base" not in owed_reasons:
        return _(
            "Submitted, although this ending pays no reward. Mechanical Turk will approve it automatically ({when}) "
            "unless an owner rejects it first."
        ).format(when=_formatted_time(own_assignment.auto_approval_at))
    if status == Assignment.Status.APPROVED and "base" not in owed_reasons:
        return _("Approved on Mechanical Turk, although this ending pays no reward. It is not in the ledger.")
    if status != Assignment.Status.REJECTED or not owed_reasons:
        return ""
    if own_assignment.taken_back_at is not None:
        return _(
            "The rejection was undone here. Approve the payments that are due on the page “Pay”, which also approves "
            "the assignment on Mechanical Turk."
        )
    return _("Rejected on Mechanical Turk, although a payment is due here. Check their payments in the ledger.")


def _advice_on_missing(enrolment: Enrolment, owed_reasons: set[str], status: str) -> str:
    if not enrolment.ended or not owed_reasons:
        return ""
    if status == UNKNOWN_TASK:
        return _(
            "They arrived with a task that is not one of the study's tasks. If the task is yours, import it on this "
            "page. Otherwise someone invented the link, and they are not paid."
        )
    return _(
        "They have finished here and payments are due, but they have not submitted the task. They can still do so with "
        "the button on their last page. Once the task's time is over, Mechanical Turk pays neither reward nor bonus "
        "for it. You can then pay them through a small extra task published only for them."
    )


def _line_of_assignment(assignment: Assignment) -> Line:
    status = str(_MTURK_STATUSES[assignment.status])
    if assignment.whose == Assignment.Whose.OURS:
        return Line(None, status, _("erased"), "", assignment)
    is_others = assignment.whose == Assignment.Whose.OTHER
    here = _("arrived as another worker") if is_others else _("nobody arrived with it")
    advice = _(
        "Submitted on Mechanical Turk, but nobody finished this assignment here. Mechanical Turk will approve it "
        "automatically ({when}) unless an owner rejects it first. If the worker claims to have played, look for a "
        "participant who was here at that time."
    ).format(when=_formatted_time(assignment.auto_approval_at))
    return Line(None, status, here, advice if assignment.status == Assignment.Status.SUBMITTED else "", assignment)


def _formatted_time(time: datetime | None) -> str:
    return date_format(time, "Y-m-d H:i") + " UTC" if time else _("date unknown")
