"""How workers arrive from Mechanical Turk's page, which frames ours, and how they return to it.

mTurk does not answer questions about an assignment before it is submitted, so anyone who has another worker's link can
use it and begin an enrolment of their own, but nothing is paid for it. The worker's identity is checked with mTurk
before any payment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from marketplaces import kinds
from marketplaces.models import Recruitment, Submission
from marketplaces.mturk.terms import KEY, Status, tasks
from participants.models import Enrolment
from participants.returning import ReturnInstructions
from participants.states import State
from recruiters.arrivals import Arrival
from recruiters.errors import EntryRefused, IncompleteLink
from recruiters.models import Identity

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""Assignment ID that mTurk sends while a worker previews a task."""
_SITES = kinds.get(KEY).pages.values()
SUBMIT = "/mturk/externalSubmit"
REDIRECT_SITES = ("https://*.mturk.com",)
"""Sites to which externalSubmit may redirect the browser."""
_ID = re.compile(r"[A-Za-z0-9]{1,64}")
"""Assignment and task IDs have about 30 characters, worker IDs about 14."""
_ASK_TO_OPEN = gettext_lazy("Please open the study from the task's own page on Mechanical Turk, after accepting it.")
_RETURN = gettext_lazy("Please return the task. Returning it does not count against you.")


# ---- arriving --------------------------------------------------------------------------------------


def arrive(study: str, link: Mapping[str, str]) -> Arrival:
    """Read `?workerId=&assignmentId=&hitId=[&turkSubmitTo=]`, or the preview of a task.

    Raise IncompleteLink or EntryRefused.
    """
    assignment_id, worker_id, hit_id = (link.get(name, "").strip() for name in ("assignmentId", "workerId", "hitId"))
    if assignment_id == PREVIEW:
        return Arrival(KEY, worker="", proof="", preview=True)
    if not all(_ID.fullmatch(identifier) for identifier in (assignment_id, worker_id, hit_id)):
        raise IncompleteLink(_ASK_TO_OPEN)
    submit_to = link.get("turkSubmitTo", "").replace("\x00", "")[:200]
    details = {"hitId": hit_id, "assignmentId": assignment_id, "turkSubmitTo": submit_to}
    arrival = Arrival(KEY, worker=worker_id, proof=f"{assignment_id}/{worker_id}", details=details)
    if not Identity.objects.filter(study=study, recruiter=KEY, proof=arrival.proof).exists():
        _refuse(study, assignment_id=assignment_id, hit_id=hit_id)
    return arrival


def _refuse(study: str, *, assignment_id: str, hit_id: str) -> None:
    """Refuse a link with which mTurk would not have opened our page."""
    published = tasks(study__slug=study).exclude(status=Status.DRAFT)
    if not published.exists() and Recruitment.objects.filter(study__slug=study, account__kind=KEY).exists():
        reason = _("You can only preview it for now. Please come back when it is available on Mechanical Turk.")
        raise EntryRefused(reason, title=_("This task is not published yet"))
    task = published.filter(remote_id=hit_id).first()
    if task is None:
        unconfirmed = published.filter(status=Status.ORDERED).exists()
        if published.exclude(remote_id=None).exists() and not unconfirmed:
            raise EntryRefused(_ASK_TO_OPEN, title=_("This task does not belong to this study"))
        return
    if (over_at := task.terms.over_at) is not None and over_at < timezone.now():
        reason = _("The time limit has passed. {back}").format(back=_RETURN)
        raise EntryRefused(reason, title=_("This task has expired"), status=410)
    if Submission.objects.filter(study__slug=study, key=assignment_id).exists():
        reason = _("You do not need to do anything else. The requester will review it soon.")
        raise EntryRefused(reason, title=_("This assignment has been submitted already"))
    here = Enrolment.objects.filter(identity__study=study, identity__recruiter=KEY)
    active = here.filter(Q(ended_at=None) | Q(state=State.COMPLETED), identity__details__hitId=hit_id)
    if active.count() >= task.places:
        raise EntryRefused(_RETURN, title=_("All places in this task are taken"))
    others = here.filter(identity__proof__startswith=f"{assignment_id}/", ended_at=None)
    if any(enrolment.recently_seen() for enrolment in others):
        # mTurk may give a returned assignment to another worker at once.
        reason = _(
            "If you have just accepted this task, please wait two minutes and reload this page. If you did this task "
            "with another account, please return it."
        )
        raise EntryRefused(reason, title=_("Someone else is working on this assignment"), try_again=True)


# ---- returning -------------------------------------------------------------------------------------


def leave(enrolment: Enrolment, identity: Identity) -> ReturnInstructions | None:
    """Return the button with which the worker's browser posts the assignment to mTurk's externalSubmit page.

    None if the worker has to return it or copy a code.
    """
    may_submit = enrolment.state == State.COMPLETED or enrolment.is_paid
    site = submit_site(identity) if may_submit else ""
    if not site:
        return None
    form_fields = {"assignmentId": identity.details["assignmentId"], "completionCode": enrolment.completion_code}
    return ReturnInstructions(
        gettext_lazy("One last step: submit the task with this button so that your work is recorded and paid."),
        address=f"{site}{SUBMIT}",
        label=gettext_lazy("Submit the task"),
        form_fields=form_fields,
        redirect_sites=REDIRECT_SITES if site in _SITES else (),
    )


def submit_site(identity: Identity) -> str:
    """Return the site where this worker's assignment is submitted, or "" if the link names no valid site.

    Anyone can type a link, so only mTurk's own two sites are accepted, or the stand-in's site in a rehearsal. If the
    study's account is known, only the site that belongs to it is accepted.
    """
    try:
        submit_to = urlsplit(str(identity.details.get("turkSubmitTo", "")))
    except ValueError:  # such as a bracket that is not closed
        return ""
    origin = f"{submit_to.scheme}://{submit_to.netloc}"
    recruitment = Recruitment.objects.select_related("account").filter(study__slug=identity.study).first()
    if recruitment is None or recruitment.account.kind != KEY:
        return origin if origin in _SITES else ""
    return origin if origin == recruitment.account.pages else ""
