"""What Prolific reports about submissions, and what owners decide about those that await review, one at a time.

Approvals come from the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.dateparse import parse_datetime
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.actions import Action
from marketplaces import submissions
from marketplaces.kinds import MarketplaceError, NotPossible, Unclear
from marketplaces.models import Offer, Recruitment, Submission
from marketplaces.modules import Report
from marketplaces.prolific import authenticity, codes
from marketplaces.prolific.client import client_of, normalised_status, participant_of, text_of
from marketplaces.prolific.forms import LEAST_PERCENT, MOST_PERCENT, PartForm, RejectForm, ReturnForm
from marketplaces.prolific.publishing import find_created, refresh
from marketplaces.prolific.terms import publication_of, was_published
from marketplaces.submissions import identity_of
from payouts.models import LedgerRow
from payouts.services import keep_paid_elsewhere
from plans.pay import cents
from recruiters.models import Identity
from studies.acts import Act

STATUS = Submission.Status
_SALT = "marketplaces.prolific.submission"

RULES = (
    gettext_lazy(
        "Prolific asks you to let participants return their submission first: this does not count against them."
    ),
    gettext_lazy(
        "A rejection needs one of Prolific's reasons and a message of at least 100 characters, which the participant "
        "reads. They are not paid, and it counts against them."
    ),
    gettext_lazy("Parley cannot undo a rejection on Prolific; only Prolific's support can."),
)
ADVICE: Mapping[str, str | Promise] = {
    "never arrived": gettext_lazy(
        "No payment is due. Find the submission on Prolific by its start time, and ask them to return it."
    )
}


def key_of(session: str) -> str:
    """Return a name for a submission that does not reveal which one it is."""
    return salted_hmac(_SALT, session, algorithm="sha256").hexdigest()


def _offer_of(submission: Submission) -> Offer:
    publication = publication_of(study=submission.study_id)
    assert publication is not None
    return publication


def report_of(publication: Offer, row: Mapping[str, Any]) -> Report:
    """Return what Prolific reports about one submission; raise Unclear if it is invalid."""
    session, flag = text_of(row, "id"), authenticity.reported_flag(row)
    fields = {
        **({"authenticity": flag} if flag else {}),
        "status": normalised_status(text_of(row, "status"))[:30],
        "code": codes.entered(publication.terms.codes, row.get("study_code") or row.get("entered_code")),
        "return_asked": bool(row.get("return_requested")),
        "started_at": _parsed_time(row.get("started_at")),
    }
    return Report(key_of(session), session, str(participant_of(row)), fields)


def fetch(submission: Submission) -> Report:
    identity = identity_of(submission)
    report = report_of(_offer_of(submission), client_of(submission.account).submission(_session(identity)))
    if report.worker != identity.worker or report.key != submission.key:
        raise NotPossible(_("According to Prolific, this submission belongs to another participant."))
    return report


def reject(submission: Submission, *, reason: str, category: str, **_sure: bool) -> None:
    session = _session(identity_of(submission))
    client_of(submission.account).decide(session, "REJECT", message=reason, rejection_category=category)


def recorded(submission: Submission) -> None:
    """Record in the ledger what Prolific itself paid a participant, once."""
    publication = _offer_of(submission)
    screen_out = publication.terms.screen_out
    if submission.status == STATUS.SCREENED_OUT and screen_out is not None:
        _keep_paid(submission, publication, "screen_out", screen_out)
    if submission.status == STATUS.PARTLY and submission.part is not None:
        _keep_paid(submission, publication, "part", cents(publication.reward * submission.part / 100))


def _keep_paid(submission: Submission, publication: Offer, reason: str, amount: Any) -> None:
    slug, kind = submission.study.slug, submission.account.kind
    paid = {"reason": reason, "amount": amount, "currency": publication.currency}
    assert submission.enrolment is not None
    keep_paid_elsewhere(submission.enrolment, study=slug, recruiter=kind, **paid)


def unsubmitted(identity: Identity, owed: set[str]) -> str:
    """Return that Prolific, which reports a submission from its beginning, does not know it."""
    return "unknown"


def _session(identity: Identity) -> str:
    return str(identity.details.get("SESSION_ID", ""))


def _parsed_time(value: Any) -> datetime | None:
    try:
        time = parse_datetime(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return time if time is None or timezone.is_aware(time) else timezone.make_aware(time)


# ---- decisions -------------------------------------------------------------------------------------


def not_reviewable(submission: Submission) -> str:
    person = submission.enrolment
    if submission.status == STATUS.SUBMITTED and person is not None and person.ended:
        return ""
    return _("This participant has no submission that awaits review.")


def _not_to_ask(submission: Submission) -> str:
    already_asked = _("Prolific has already asked this participant to return their submission.")
    return not_reviewable(submission) or (already_asked if submission.return_asked else "")


def not_payable_in_part(submission: Submission) -> str:
    """Return why a participant cannot be paid part of the reward; "" if they ended without pay and did not submit."""
    person = submission.enrolment
    if submission.status == STATUS.WORKING and person is not None and person.ended:
        is_unpaid = not LedgerRow.objects.filter(enrolment=person).exists()
        if is_unpaid and _offer_of(submission).terms.parts:
            return ""
    return _("Prolific can pay part of the reward only to a participant who ended without pay and has not submitted.")


def ask_return(submission: Submission, *, reasons: Sequence[str], record: Callable[[], None] = lambda: None) -> None:
    """Have Prolific ask a participant to return their submission, once (`submissions.decide`).

    This does not count against them.

    Args:
        reasons: shown to the participant.
    """
    client, session = client_of(submission.account), _session(identity_of(submission))
    submissions.decide(
        submission,
        lambda: client.ask("POST", f"/submissions/{session}/request-return/", {"request_return_reasons": reasons}),
        happened=lambda report: bool(report.fields["return_asked"]),
        record=record,
        hindrance=_not_to_ask,
    )
    Submission.objects.filter(pk=submission.pk).update(return_asked=True)


def pay_part(submission: Submission, *, percent: int, message: str, record: Callable[[], None] = lambda: None) -> None:
    """Complete a participant's submission on Prolific for part of the reward, which the ledger records as paid there.

    Prolific completes a submission only once, so a repeated request pays nobody twice.

    Args:
        percent: of the reward, from `LEAST_PERCENT` to `MOST_PERCENT`.
        message: what the participant reads.

    Raises:
        NotPossible: the participant is owed or was paid something here, or has submitted.
        MarketplaceError: nothing was done, or the outcome is unknown until the next sync.
    """
    refusal = not_payable_in_part(submission)
    if refusal or not LEAST_PERCENT <= percent <= MOST_PERCENT:
        raise NotPossible(refusal or _("The percentage is out of range."))
    gone = _("This participant is no longer active on Prolific. Refresh the page and check their status.")
    submissions.refuse_unless(submission, STATUS.WORKING, gone)
    publication, stored = _offer_of(submission), Submission.objects.filter(pk=submission.pk)
    record()
    stored.update(part=percent)
    session, code = _session(identity_of(submission)), publication.terms.codes[codes.PARTIAL_PAYMENT]
    data = {"percentage_of_reward": percent, "message_to_participant": message}
    order = {"completion_code": code, "completion_code_data": data}
    try:
        status = report_of(publication, client_of(submission.account).decide(session, "COMPLETE", **order)).status
    except Unclear:
        status = fetch(submission).status
        if status != STATUS.PARTLY:
            raise
    except MarketplaceError:
        stored.update(part=None)
        raise
    with transaction.atomic():
        stored.update(status=status)
        recorded(stored.get())


ACTS: Mapping[str, Act] = {
    "ask_return": submissions.decision(
        gettext_lazy("Ask to return a submission"),
        lambda given: ask_return(given.target, **given.values, record=given.record),
        gettext_lazy("Prolific has asked the participant to return their submission."),
        explains=gettext_lazy(
            "Prolific sends them your reasons. If they return their submission, they are not paid, it does not count "
            "against them, and their place is free again. If they decline, approve or reject the submission."
        ),
        button=gettext_lazy("Ask to return"),
        log=Action.RETURN_ASKED,
        form=ReturnForm,
        hindrance=_not_to_ask,
    ),
    "pay_part": submissions.decision(
        gettext_lazy("Pay part of the reward"),
        lambda given: pay_part(given.target, **given.values, record=given.record),
        gettext_lazy("Prolific pays {percent} percent of the reward."),
        explains=lambda submission: _(
            "Prolific completes their submission and pays them this percentage of {amount} {currency}. This can't be "
            "undone. The ledger records the payment as paid elsewhere."
        ).format(amount=_offer_of(submission).reward, currency=_offer_of(submission).currency),
        button=gettext_lazy("Pay part"),
        log=Action.CHANGED,
        form=PartForm,
        hindrance=not_payable_in_part,
    ),
    "reject": submissions.rejection(RejectForm, RULES, hindrance=not_reviewable),
}


# ---- syncing ---------------------------------------------------------------------------------------


def sync(recruitment: Recruitment) -> None:
    """Sync one study. Raise MarketplaceError; what was stored before the error remains."""
    if (publication := publication_of(study=recruitment.study_id)) is None:
        return
    if publication.remote_id is None:
        find_created(publication)
        return
    refresh(publication)
    if was_published(publication):
        key = str(publication.remote_id)
        rows = client_of(publication.account).rows("/submissions/", study=key)
        reports = [report_of(publication, row) for row in rows]
        submissions.record_all(publication.study, publication.account, key, reports)
