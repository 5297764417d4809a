"""Compare a marketplace's records of a study's participants with our own, and advise what to do about differences."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from marketplaces import kinds, modules
from marketplaces.models import Account, Recruitment, Submission
from participants.models import Enrolment
from payouts.models import LedgerRow
from recruiters.models import Identity
from studies.models import Study

STATUS, WHOSE = Submission.Status, Submission.Whose
SUBMITTED = (STATUS.SUBMITTED, STATUS.APPROVED, STATUS.REJECTED)
NOT_PAYABLE = (STATUS.RETURNED, STATUS.TIMED_OUT, STATUS.REJECTED, STATUS.SCREENED_OUT)
NO_CODE, OTHER_CODE, FINISHED_CODE = "none", "unknown", "completed"
"""Kinds of codes (`Submission.code`) that a participant may submit with, beside the study's other codes."""

FINDINGS: dict[str, tuple[str | Promise, str | Promise]] = {
    "unfinished": (
        gettext_lazy("Submitted on {there}, but has not finished here."),
        gettext_lazy("Wait until they have finished or their time is over. They are not paid before."),
    ),
    "approved": (
        gettext_lazy("Approved on {there}, although this ending pays nothing."),
        gettext_lazy("Someone, or {there} itself, approved it there. Parley does not undo this."),
    ),
    "no code, paid": (
        gettext_lazy("Submitted without the study's code."),
        gettext_lazy("If they finished here, they are paid anyway. A missing code proves nothing."),
    ),
    "no code": (
        gettext_lazy("Submitted without the study's code."),
        gettext_lazy("They were not promised any pay. Ask them to return their submission, or reject it."),
    ),
    "shared code": (
        gettext_lazy("Submitted with the completion code, but did not finish here."),
        gettext_lazy(
            "Someone shared the code with them. They are not paid. Ask them to return their submission, or reject it."
        ),
    ),
    "unpaid": (
        gettext_lazy("Submitted, although this ending pays no reward."),
        gettext_lazy("{there} will approve it automatically ({when}) unless an owner rejects it first."),
    ),
    "return asked": (
        gettext_lazy("Submitted, and asked to return their submission."),
        gettext_lazy(
            "They have been asked to return their submission but have not done so yet. {there} automatically approves "
            "submissions that nobody has reviewed within 21 days."
        ),
    ),
    "unsubmitted": (
        gettext_lazy("Finished here, but has not submitted on {there}."),
        gettext_lazy("They are paid as soon as they submit. If it takes long, send them a message on {there}."),
    ),
    "undone": (
        gettext_lazy("The rejection was undone here."),
        gettext_lazy(
            "Approve the payments that are due on the page “Pay”, which also approves the submission on {there}."
        ),
    ),
    "unpayable": (
        gettext_lazy("Finished here. Status on {there}: {status}."),
        gettext_lazy(
            "{there} can no longer pay the reward for it, although a payment is due here. Check their payments in the "
            "ledger, and send them a message on {there}."
        ),
    ),
    "timed out": (
        gettext_lazy("Timed out on {there}, but is still playing here."),
        gettext_lazy("{there} has given the place to someone else. If they finish, pay them yourself."),
    ),
    "part": (
        gettext_lazy("Ended here without pay, and has not submitted on {there}."),
        gettext_lazy("Pay part of the reward, or wait until they return their submission."),
    ),
    "unknown": (
        gettext_lazy(
            "Arrived here with a submission that {there} does not have, or that belongs to another participant."
        ),
        gettext_lazy("They are not paid. If this happens often, accept only signed links."),
    ),
    "somebody else": (
        gettext_lazy("Another participant submitted with the link that they arrived with."),
        gettext_lazy(
            "Either the work was returned and accepted again, or this participant used someone else's link. They are "
            "not paid."
        ),
    ),
    "never arrived": (
        gettext_lazy("Submitted on {there}, but never arrived here."),
        gettext_lazy("No payment is due. Find the submission on {there} by its start time, and decide about it there."),
    ),
}
"""By name, what differs and what to do; a marketplace's `deciding.ADVICE` replaces some advice. {there} is its name."""


@dataclass(frozen=True)
class Line:
    """One participant or submission about which there is something to read or to do.

    Attributes:
        enrolment: None if nobody arrived here with the submission, or the participant has been erased.
        label: their pseudonym, or when they started.
        theirs, ours: their status on the marketplace and in Parley.
        finding: the name in `FINDINGS`; "" if both agree.
        actions: (title, address) of what an owner can do about it.
    """

    enrolment: Enrolment | None
    label: str
    theirs: str
    ours: str
    finding: str = ""
    discrepancy: str = ""
    advice: str = ""
    actions: tuple[tuple[str, str], ...] = ()


def status_counts(study: Study) -> list[tuple[str, int]]:
    """Return the number of submissions with each status, in the order in which participants reach them."""
    counts = Counter(Submission.objects.filter(study=study).values_list("status", flat=True))
    known = [(str(status.label), counts.pop(status)) for status in STATUS if counts.get(status)]
    return known + sorted(counts.items())


def lines_of(study: Study, account: Account) -> list[Line]:
    """Return all discrepancies, participants known here first; and rejections that can be undone."""
    if study.latest_version() is None:
        return []
    submissions = list(
        Submission.objects.filter(study=study, account__kind=account.kind)
        .select_related("enrolment", "account", "study")
        .prefetch_related("enrolment__ledger")
        .order_by("started_at", "pk")
    )
    lines = [
        _line(one, one.enrolment, _finding_of(one, one.enrolment, reasons_owed(one.enrolment)))
        for one in submissions
        if one.enrolment is not None
    ]
    lines += _without_submission(study, account, {one.key for one in submissions})
    never_arrived = [one for one in submissions if one.enrolment is None and one.whose != WHOSE.OURS]
    lines += [
        _line(one, None, "never arrived") for one in never_arrived if one.status in (STATUS.SUBMITTED, STATUS.APPROVED)
    ]
    return [line for line in lines if line.finding or any("take_back" in url for _title, url in line.actions)]


def reasons_owed(person: Enrolment) -> set[str]:
    """Return for which reasons the ledger owes a participant pay or has paid them."""
    return {
        row.reason
        for row in person.ledger.all()
        if row.state != LedgerRow.State.WRITTEN_OFF and row.reason in ("base", "bonus")
    }


def _finding_of(one: Submission, person: Enrolment, owed: set[str]) -> str:
    if one.status in SUBMITTED and not person.ended:
        return "unfinished"
    if one.status == STATUS.APPROVED and "base" not in owed:
        return "approved"
    if one.status == STATUS.SUBMITTED:
        found = _finding_at_review(one, owed)
        return "return asked" if found and one.return_asked else found
    if owed and person.ended:
        if one.status == STATUS.REJECTED and one.taken_back_at is not None:
            return "undone"
        if one.status in (STATUS.WORKING, STATUS.RESERVED):
            return "unsubmitted"
        return "unpayable" if one.status in NOT_PAYABLE else ""
    if one.status == STATUS.TIMED_OUT and not person.ended:
        return "timed out"
    acts = modules.deciding(one.account.kind).ACTS
    return "part" if "pay_part" in acts and not acts["pay_part"].hindrance(one) else ""


def _finding_at_review(one: Submission, owed: set[str]) -> str:
    if one.code in (NO_CODE, OTHER_CODE):
        return "no code, paid" if owed else "no code"
    if one.code == FINISHED_CODE:
        return "" if owed else "shared code"
    return "unpaid" if not one.code and "base" not in owed else ""


def _without_submission(study: Study, account: Account, keys: set[str]) -> list[Line]:
    """Return those who arrived with a submission that is not theirs, or that the marketplace does not have (yet)."""
    recruitment = Recruitment.objects.filter(study=study).first()
    if recruitment is None or recruitment.answered_at is None:
        return []
    marketplace = modules.deciding(account.kind)
    matched = Submission.objects.filter(study=study, enrolment__isnull=False).values("enrolment")
    arrived = (
        Identity.objects.filter(study=study.slug, recruiter=account.kind)
        .exclude(enrolment__in=matched)
        .filter(enrolment__arrived_at__lt=recruitment.answered_at)
        .select_related("enrolment")
        .prefetch_related("enrolment__ledger")
        .order_by("enrolment")
    )
    lines = []
    for identity in arrived:
        taken = marketplace.key_of(identity.proof.partition("/")[0]) in keys
        found = "somebody else" if taken else marketplace.unsubmitted(identity, reasons_owed(identity.enrolment))
        lines.append(_line(None, identity.enrolment, found, account))
    return lines


def _line(one: Submission | None, person: Enrolment | None, found: str, account: Account | None = None) -> Line:
    kind = kinds.get((one.account if one is not None else account).kind)  # type: ignore[union-attr]
    theirs = one.status_label if one is not None else _("not submitted")
    ours = str(person.get_state_display()) if person is not None else _("nobody arrived with it")
    if person is None and one is not None and one.whose != WHOSE.NOBODY:
        ours = _("erased") if one.whose == WHOSE.OURS else _("arrived as another worker")
    when = _time(one.auto_approval_at) if one is not None and one.auto_approval_at else _("date unknown")
    discrepancy, advice = FINDINGS[found] if found else ("", "")
    advice = modules.deciding(kind.key).ADVICE.get(found, advice)
    words = {"there": kind.title, "status": theirs, "when": when}
    label = person.pseudonym if person is not None else _start_label(one, words)
    differs, remedy = (str(text).format(**words) for text in (discrepancy, advice))
    return Line(person, label, theirs, ours, found, differs, remedy, actions_on(one) if one is not None else ())


def actions_on(submission: Submission) -> tuple[tuple[str, str], ...]:
    """Return (title, address) of the decisions that are possible about a submission."""
    return tuple(
        (str(act.button or act.title), reverse(f"admin:marketplaces_submission_{name}", args=[submission.pk]))
        for name, act in modules.deciding(submission.account.kind).ACTS.items()
        if not act.hindrance(submission)
    )


def _start_label(one: Submission | None, words: dict[str, Any]) -> str:
    if one is not None and one.started_at is not None:
        return _("started on {there} at {at}").format(at=_time(one.started_at), **words)
    if one is not None and one.submitted_at is not None:
        return _("submitted on {there} at {at}").format(at=_time(one.submitted_at), **words)
    return _("unknown participant on {there}").format(**words)


def _time(time: Any) -> str:
    return date_format(timezone.localtime(time), "Y-m-d H:i:s") + " UTC"
