"""Fetch a study's tasks and assignments from mTurk, record what has changed, and keep our own qualifications.

mTurk shows an assignment only after it is submitted, and never one that was returned. A participant therefore counts as
gone when another worker has submitted their assignment, when its time is over, or when mTurk counts no worker on the
task and their page has sent no signal for a while.

A qualification hides a task from workers who recently began to play the same game. Its value is the time at which the
game began, in minutes since 1970. Workers receive it when they begin to play and lose it when the rest period is over.
In between, the entry check (`studies.participations`) refuses them anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import transaction
from django.forms import Form
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.actions import Action
from marketplaces import submissions
from marketplaces.fields import text
from marketplaces.kinds import NotPossible, NotThere
from marketplaces.models import Account, Offer, Recruitment, Submission
from marketplaces.modules import Report
from marketplaces.mturk import publishing
from marketplaces.mturk.client import AssignmentNow, Holder, Requester, requester_of
from marketplaces.mturk.models import Granted, Qualification
from marketplaces.mturk.terms import KEY, Status, tasks
from matches.models import Match
from participants import services
from participants.models import Enrolment
from participants.states import State
from payouts.models import LedgerRow
from recruiters.models import Identity
from studies.acts import Act, Given
from studies.models import Version

SILENT_AFTER = timedelta(minutes=2)
"""Time without a signal from a participant's page after which they can count as gone."""
GRACE = timedelta(minutes=5)
"""Extra time before an unsubmitted assignment counts as abandoned, because clocks differ."""


def sync(recruitment: Recruitment) -> None:
    """Sync all of a study's tasks with mTurk.

    Raises:
        MarketplaceError: what was recorded before the error is kept.
    """
    requester = requester_of(recruitment.account)
    hits = tasks(study=recruitment.study, account=recruitment.account)
    for hit in hits.exclude(status__in=[Status.DRAFT, Status.REFUSED, Status.DISPOSED]).order_by("pk"):
        if hit.remote_id is None:
            publishing.find_ordered(hit, requester)
        if hit.remote_id is not None:
            _sync_hit(hit, requester)
    for game in recruitment.study.games:
        sync_qualifications(recruitment.account, game, requester)


def _sync_hit(hit: Offer, requester: Requester) -> None:
    hit_id, asked_at = str(hit.remote_id), timezone.now()
    try:
        current, assignments = requester.hit(hit_id), requester.assignments(hit_id)
    except NotThere as refusal:
        hit.keep(status=Status.DISPOSED, terms={"available": 0, "pending": 0}, problem=str(refusal))
        return
    publishing.record_status(hit, current)
    submissions.record_all(hit.study, hit.account, hit_id, [report_of(assignment) for assignment in assignments])
    _end_absent(hit, {assignment.assignment_id: assignment for assignment in assignments}, asked_at)


def _end_absent(hit: Offer, submitted: Mapping[str, AssignmentNow], asked_at: datetime) -> None:
    """End the enrolments of workers who have given up their assignment, so that their places are free."""
    in_progress = Identity.objects.filter(
        study=hit.study.slug, recruiter=KEY, enrolment__ended_at=None, details__hitId=hit.remote_id
    )
    for identity in in_progress.select_related("enrolment").defer("enrolment__steps"):
        assignment = submitted.get(identity.details.get("assignmentId", ""))
        if assignment is not None and assignment.worker == identity.worker:
            continue
        taken_over = assignment is not None
        if not (taken_over or _is_absent(identity.enrolment, hit, asked_at)):
            continue
        with transaction.atomic():
            enrolment = services.held(identity.enrolment_id)
            if taken_over or _is_absent(enrolment, hit, asked_at):
                services.end_early(enrolment, State.RETURNED)


def _is_absent(enrolment: Enrolment, hit: Offer, asked_at: datetime) -> bool:
    """Return whether their time was over at `asked_at`, or nobody was working on the task and their page was silent."""
    is_overdue = asked_at > enrolment.arrived_at + timedelta(minutes=hit.terms.minutes) + GRACE
    is_silent = enrolment.last_seen_at < asked_at - SILENT_AFTER
    return is_overdue or (hit.terms.pending == 0 and is_silent)


# ---- our own qualifications ------------------------------------------------------------------------


def sync_qualifications(account: Account, game: str, requester: Requester) -> None:
    """Grant the game's qualifications to workers who began to play it; remove them when the rest period is over.

    Raise MarketplaceError.
    """
    for own in Qualification.objects.filter(account=account, game=game):
        _grant_to_starters(own, requester)
        query = {"QualificationTypeId": own.qualification_id, "Status": "Granted"}
        for holder in requester.rows("list_workers_with_qualification_type", "Qualifications", Holder, **query):
            if holder.value + own.hours * 60 <= minute(timezone.now()):
                order = {"QualificationTypeId": own.qualification_id, "WorkerId": holder.worker}
                operation, harmless = "disassociate_qualification_from_worker", "invalidqualificationstate"
                requester.call(operation, harmless=harmless, **order)


def _grant_to_starters(own: Qualification, requester: Requester) -> None:
    since = timezone.now() - timedelta(hours=own.hours)
    versions = Version.objects.filter(study__recruitment__account=own.account)
    with_game = [v for v in versions if own.game in v.games and v.purpose == Match.Purpose.STUDY]
    starters = Enrolment.objects.filter(
        arrived_at__gt=since, identity__recruiter=KEY, placement__version__in=with_game
    ).exclude(pk__in=own.granted.values("enrolment"))
    for enrolment in starters.select_related("identity").order_by("arrived_at"):
        order = {"QualificationTypeId": own.qualification_id, "WorkerId": enrolment.identity.worker}
        more = {"IntegerValue": minute(enrolment.arrived_at), "SendNotification": False}
        operation = "associate_qualification_with_worker"
        requester.call(operation, harmless="workerdoesnotexist", **order, **more)
        Granted.objects.get_or_create(qualification=own, enrolment=enrolment)


def minute(time: datetime) -> int:
    """Return the number of whole minutes since 1970."""
    return int(time.timestamp() // 60)


# ---- decisions -------------------------------------------------------------------------------------

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
    hits = tasks(study__slug=identity.study, remote_id=identity.details.get("hitId"))
    return "unsubmitted" if hits.exists() else "unknown"


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
    is_gone = tasks(remote_id=submission.task, status=Status.DISPOSED).exists()
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
    reason = text(
        gettext_lazy("Reason (shown to the worker)"),
        1000,
        gettext_lazy("20 to 1000 characters."),
        rows=4,
        min_length=20,
    )


ACTS: Mapping[str, Act] = {
    "reject": submissions.rejection(RejectForm, RULES),
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
