"""What marketplaces report about participants' work, and decisions about it: recorded, and applied to the ledger.

When a marketplace reports that work is rejected, the payments due for it are written off; when it no longer does, they
are due again. This applies whether the decision was made here, on the marketplace's own pages, or by a request whose
answer was lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.db import transaction
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.urls import reverse
from django.utils import timezone
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.actions import Action
from marketplaces import kinds, modules
from marketplaces.kinds import NotPossible, Unclear
from marketplaces.models import Account, Submission
from marketplaces.modules import Report
from participants import services as people
from participants.models import Enrolment
from participants.states import State
from payouts import deciding
from payouts.models import LedgerRow
from payouts.payers import AssignmentStatus
from payouts.paying import scrubbed
from recruiters.models import Identity
from rights.roles import Role
from studies.acts import Act, Given
from studies.models import Study

STATUS = Submission.Status
LONGEST = 250
"""Maximum length of a note in the journal, in characters."""
ASSIGNMENT_STATUSES: Mapping[str, AssignmentStatus] = {
    STATUS.RESERVED: AssignmentStatus.WORKING,
    STATUS.WORKING: AssignmentStatus.WORKING,
    STATUS.TIMED_OUT: AssignmentStatus.TIMED_OUT,
    STATUS.SUBMITTED: AssignmentStatus.SUBMITTED,
    STATUS.APPROVED: AssignmentStatus.APPROVED,
    STATUS.PARTLY: AssignmentStatus.APPROVED,
    STATUS.RETURNED: AssignmentStatus.RETURNED,
    STATUS.REJECTED: AssignmentStatus.REJECTED,
    STATUS.SCREENED_OUT: AssignmentStatus.REJECTED,
}
"""What each status means to the ledger. The marketplace itself paid the screened out, who cannot be approved."""


# ---- recording -------------------------------------------------------------------------------------


Arrived = Mapping[str, tuple[int, bool]]
"""Who arrived with one session: by worker, the key of the enrolment, and whether it has ended."""


def record_all(study: Study, account: Account, task: str, reports: Iterable[Report]) -> None:
    """Record the submissions of one task. Known ones are read in one query, since most have not changed."""
    stored = {row.key: row for row in Submission.objects.filter(study=study, task=task)}
    by_session: dict[str, dict[str, tuple[int, bool]]] = {}
    identities = Identity.objects.filter(study=study.slug, recruiter=account.kind)
    for proof, worker, key, ended in identities.values_list("proof", "worker", "enrolment", "enrolment__ended_at"):
        by_session.setdefault(proof.partition("/")[0], {})[worker] = key, ended is not None
    for report in reports:
        if not _is_unchanged(report, stored.get(report.key), by_session.get(report.session, {})):
            record(study, account, task, report)


def _is_unchanged(report: Report, row: Submission | None, arrived: Arrived) -> bool:
    """Return whether recording this report would change nothing."""
    if row is None or any(getattr(row, name) != value for name, value in report.fields.items()):
        return False
    enrolment, ended = arrived.get(report.worker, (None, True))
    if not ended and report.status in (STATUS.RETURNED, STATUS.TIMED_OUT):
        return False
    if enrolment is not None or row.whose == Submission.Whose.OURS:
        return row.enrolment_id == enrolment
    return row.whose == (Submission.Whose.OTHER if arrived else Submission.Whose.NOBODY)


def record(study: Study, account: Account, task: str, report: Report) -> Submission:
    """Record a submission and who arrived here with it; end the enrolment of a participant who has left.

    A rejection writes off the payments due.
    """
    arrivals = Identity.objects.select_related("enrolment").filter(
        study=study.slug, recruiter=account.kind, proof__startswith=f"{report.session}/"
    )
    workers = {identity.worker: identity.enrolment for identity in arrivals}
    person = workers.get(report.worker)
    with transaction.atomic():
        previous = Submission.objects.select_for_update().filter(study=study, key=report.key).first()
        whose = Submission.Whose.OTHER if workers else Submission.Whose.NOBODY
        if person is not None or (previous is not None and previous.whose == Submission.Whose.OURS):
            whose = Submission.Whose.OURS  # without a person, they arrived here and have been erased since
        told = {"account": account, "task": task, "enrolment": person, "whose": whose, "heard_at": timezone.now()}
        defaults: dict[str, Any] = {**told, **report.fields}
        row, _new = Submission.objects.update_or_create(study=study, key=report.key, defaults=defaults)
        if person is not None:
            modules.deciding(account.kind).recorded(row)
            was_rejected = previous is not None and previous.status == STATUS.REJECTED
            if row.status == STATUS.REJECTED and not was_rejected:
                write_off_rejected(person, kind=account.kind)
            elif was_rejected and row.status != STATUS.REJECTED:
                make_due_again(person, kind=account.kind)
    if person is not None and not person.ended:
        _end(person, row.status)
    return row


def _end(person: Enrolment, status: str) -> None:
    """End an enrolment that ended on the marketplace; after a time-out there, a game in progress may be finished."""
    if status == STATUS.RETURNED:
        people.record_return(enrolment_id=person.pk)
    elif status == STATUS.TIMED_OUT and not person.recently_seen():
        with transaction.atomic():
            people.end_early(people.held(person.pk), State.TIMED_OUT)


@receiver(post_delete, sender=Identity)
def unlink_erased(sender: type[Identity], instance: Identity, **_signal: Any) -> None:
    """Remove the link from a submission to a participant whose data were erased."""
    Submission.objects.filter(enrolment=instance.enrolment_id).update(enrolment=None)


# ---- deciding --------------------------------------------------------------------------------------


def identity_of(submission: Submission) -> Identity:
    """Return the identity of a submission's participant; raise NotPossible if it was erased."""
    identity = Identity.objects.filter(enrolment=submission.enrolment_id, recruiter=submission.account.kind).first()
    if submission.enrolment_id is None or identity is None:
        raise NotPossible(_("This participant's identity has been erased."))
    return identity


def refuse_unless(submission: Submission, status: str, refusal: str = "") -> None:
    """Ask the marketplace for a submission's status, record it, and refuse any other than this one.

    Raise NotPossible or MarketplaceError.
    """
    report = modules.deciding(submission.account.kind).fetch(submission)
    row = record(submission.study, submission.account, submission.task, report)
    if row.status != status:
        template = _("According to {marketplace}, this submission is not awaiting review.")
        raise NotPossible(refusal or template.format(marketplace=submission.marketplace))


def refuse_while_paid(submission: Submission) -> None:
    """Raise NotPossible if a payment to the participant has been approved or may have been made."""
    committed = LedgerRow.objects.filter(enrolment=submission.enrolment_id, state__in=deciding.COMMITTED)
    if submission.enrolment_id is not None and committed.exists():
        raise NotPossible(_("They are being paid: their payments have been approved in the ledger."))


def decide(
    submission: Submission,
    request: Callable[[], Any],
    *,
    happened: Callable[[Report], bool],
    record: Callable[[], None],
    hindrance: Callable[[Submission], str] = lambda submission: "",
) -> None:
    """Send a request about a submission that awaits review, unless its participant is being paid.

    Args:
        happened: says of the marketplace's report whether the request took effect, if its answer was lost.
        record: records the action; called when nothing prevents it, before the request.
        hindrance: returns why it is not possible after all, given what was just reported.

    Raises:
        NotPossible: it is being paid, or no longer awaits review.
        MarketplaceError: nothing was done, or the outcome is unknown until the next sync.
    """
    refuse_while_paid(submission)
    refuse_unless(submission, STATUS.SUBMITTED)
    submission.refresh_from_db()
    if refusal := hindrance(submission):
        raise NotPossible(refusal)
    record()
    try:
        request()
    except Unclear:
        if not happened(modules.deciding(submission.account.kind).fetch(submission)):
            raise


def reject(
    submission: Submission, *, reason: str, user: Any = None, record: Callable[[], None] = lambda: None, **more: Any
) -> None:
    """Have the marketplace reject a submission (`decide`), and write off what the ledger owes for it.

    Args:
        reason: what the participant reads.
        more: what else the marketplace's form asks for.
    """
    there = modules.deciding(submission.account.kind)
    decide(
        submission,
        lambda: there.reject(submission, reason=reason, **more),
        happened=lambda report: report.status == STATUS.REJECTED,
        record=record,
    )
    with transaction.atomic():
        Submission.objects.filter(pk=submission.pk).update(status=STATUS.REJECTED)
        if submission.enrolment is not None:
            write_off_rejected(submission.enrolment, kind=submission.account.kind, reason=reason, user=user)


def write_off_rejected(person: Enrolment, *, kind: str, reason: str = "", user: Any = None) -> int:
    """Write off a person's due and failed payments after a rejection; return the number of rows.

    Args:
        reason: the reason given to the participant; kept in the journal.
        user: the user who rejected the work; None if the marketplace reported it.
    """
    prefix = _("Rejected on {marketplace}.").format(marketplace=kinds.get(kind).title)
    note = Truncator(f"{prefix} {without_identifiers(reason, person)}".strip()).chars(LONGEST)
    return sum(
        deciding.write_off(study=row.study, rows=[row.pk], user=user, reason=note, rejected=True)
        for row in LedgerRow.objects.filter(enrolment=person)
    )


def make_due_again(person: Enrolment, *, kind: str, user: Any = None) -> int:
    """Make payments due again that were written off because of a rejection; return the number of rows.

    Payments written off for another reason are not changed.
    """
    note = _("The rejection on {marketplace} was undone.").format(marketplace=kinds.get(kind).title)
    return sum(
        deciding.put_back(study=row.study, rows=[row.pk], user=user, reason=note)
        for row in LedgerRow.objects.filter(enrolment=person, rejected=True)
    )


def without_identifiers(note: Any, person: Enrolment | None) -> Any:
    """Return a message to a participant, or several, for the records: without their identifiers, and shortened."""
    if isinstance(note, list):
        return [without_identifiers(entry, person) for entry in note]
    identity = Identity.objects.filter(enrolment=person).first() if person is not None else None
    return scrubbed(note, identity) if isinstance(note, str) else note


def rejection_of(person: Enrolment) -> str:
    """Return the address of the page that rejects this participant's work. Raise NotDone if there is none to reject."""
    submission = Submission.objects.filter(enrolment=person, status=STATUS.SUBMITTED).first()
    if submission is None:
        problem = _("{marketplace} reports no submission of this participant that awaits review.")
        identity = Identity.objects.get(enrolment=person)
        raise deciding.NotDone(problem.format(marketplace=kinds.get(identity.recruiter).title))
    return reverse("admin:marketplaces_submission_reject", args=[submission.pk])


# ---- the pages that ask ----------------------------------------------------------------------------


def _details(given: Given) -> dict[str, Any]:
    """Return the entered values for the audit log, without identifiers."""
    person = given.target.enrolment
    values = {name: without_identifiers(value, person) for name, value in given.values.items()}
    return {**({"person": person.pseudonym} if person is not None else {}), **values}


def not_awaiting_review(submission: Submission) -> str:
    return "" if submission.status == STATUS.SUBMITTED else _("This submission is not awaiting review.")


def decision(title: Any, does: Callable[[Given], None], done: Any, **more: Any) -> Act:
    """Return an owner's decision about one submission."""
    common = {"hindrance": not_awaiting_review, "details": _details, "role": Role.OWNER, "log_itself": True}
    return Act(title, does, done, **{**common, **more})


def rejection(form: Any, rules: Iterable[Any], **more: Any) -> Act:
    """Return the decision to reject, by a marketplace's rules, with its own form, which asks for the `reason`."""
    return decision(
        gettext_lazy("Reject a submission"),
        lambda given: reject(given.target, user=given.request.user, record=given.record, **given.values),
        gettext_lazy("Rejected. The participant reads your reason."),
        explains=(
            gettext_lazy("Reject work only if the person clearly did not do what was asked."),
            *rules,
            gettext_lazy(
                "Payments that are due to them are written off. The ledger and the audit log keep the rejection. Data "
                "are not excluded because of it."
            ),
        ),
        button=gettext_lazy("Reject"),
        log=Action.REJECTED,
        form=form,
        harmful=True,
        **more,
    )
