"""How workers arrive from Mechanical Turk's page, which frames ours, and how they return to it.

mTurk does not answer questions about an assignment before it is submitted, so anyone who has another worker's link can
use it and begin an enrolment of their own, but nothing is paid for it. The worker's identity is checked with mTurk
before any payment.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django.db.models import Q
from django.db.models.signals import post_save
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from marketplaces.models import Account, Recruitment, Submission
from marketplaces.mturk.models import KEY, Hit
from participants import returning
from participants.models import Enrolment
from participants.returning import ReturnInstructions
from participants.states import State
from recruiters import arrivals
from recruiters.arrivals import Arrival
from recruiters.errors import EntryRefused, IncompleteLink
from recruiters.models import Identity

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""Assignment ID that mTurk sends while a worker previews a task."""
SITES = {
    Account.Place.PRODUCTION.value: "https://www.mturk.com",
    Account.Place.SANDBOX.value: "https://workersandbox.mturk.com",
}
SUBMIT = "/mturk/externalSubmit"
REDIRECT_SITES = ("https://*.mturk.com",)
"""Sites to which externalSubmit may redirect the browser."""
_ID = re.compile(r"[A-Za-z0-9]{1,64}")
"""Assignment and task IDs have about 30 characters, worker IDs about 14."""
_ASK_TO_OPEN = gettext_lazy("Please open the study from the task's own page on Mechanical Turk, after accepting it.")
_RETURN = gettext_lazy("Please return the task. Returning it does not count against you.")


# ---- arriving --------------------------------------------------------------------------------------


class WrongTask(EntryRefused):
    title = gettext_lazy("This task does not belong to this study")


class TaskExpired(EntryRefused):
    status = 410
    title = gettext_lazy("This task has expired")


class AlreadySubmitted(EntryRefused):
    title = gettext_lazy("This assignment has been submitted already")


class NotPublished(EntryRefused):
    title = gettext_lazy("This task is not published yet")


class NoAssignmentLeft(EntryRefused):
    title = gettext_lazy("All places in this task are taken")


class InProgressElsewhere(EntryRefused):
    """Raised for a worker who has just accepted a returned assignment; they have to wait a moment."""

    try_again = True
    title = gettext_lazy("Someone else is working on this assignment")


def arrive(study: str, link: Mapping[str, str]) -> Arrival:
    """Read `?workerId=&assignmentId=&hitId=[&turkSubmitTo=]`, or the preview of a task.

    Raises:
        IncompleteLink, NotPublished, WrongTask, TaskExpired, AlreadySubmitted, NoAssignmentLeft, InProgressElsewhere
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
    published = Hit.objects.filter(study__slug=study)
    if not published.exists() and Recruitment.objects.filter(study__slug=study, account__kind=KEY).exists():
        raise NotPublished(
            _("You can only preview it for now. Please come back when it is available on Mechanical Turk.")
        )
    task = published.filter(hit_id=hit_id).first()
    if task is None:
        unconfirmed = published.filter(state=Hit.State.ORDERED).exists()
        if published.exclude(hit_id=None).exists() and not unconfirmed:
            raise WrongTask(_ASK_TO_OPEN)
        return
    if task.over_at is not None and task.over_at < timezone.now():
        raise TaskExpired(_("The time limit has passed. {back}").format(back=_RETURN))
    if Submission.objects.filter(study__slug=study, key=assignment_id).exists():
        raise AlreadySubmitted(_("You do not need to do anything else. The requester will review it soon."))
    here = Enrolment.objects.filter(identity__study=study, identity__recruiter=KEY)
    active = here.filter(Q(ended_at=None) | Q(state=State.COMPLETED), identity__details__hitId=hit_id)
    if active.count() >= task.assignments:
        raise NoAssignmentLeft(_RETURN)
    others = here.filter(identity__proof__startswith=f"{assignment_id}/", ended_at=None)
    if any(enrolment.recently_seen() for enrolment in others):
        raise InProgressElsewhere(
            _(
                "If you have just accepted this task, please wait two minutes and reload this page. If you did this "
                "task with another account, please return it."
            )
        )


arrivals.register(KEY, gettext_lazy("Mechanical Turk"), arrive)


# ---- returning -------------------------------------------------------------------------------------


@returning.register
def to_mturk(enrolment: Enrolment) -> ReturnInstructions | None:
    """Return the button with which the worker's browser posts the assignment to mTurk's externalSubmit page.

    None if the worker has to return it or copy a code.
    """
    identity = Identity.objects.filter(enrolment=enrolment, recruiter=KEY).first()
    may_submit = enrolment.state == State.COMPLETED or bool((enrolment.earnings or {}).get("amounts"))
    site = submit_site(identity) if identity is not None and may_submit else ""
    if identity is None or not site:
        return None
    form_fields = {"assignmentId": identity.details["assignmentId"], "completionCode": enrolment.completion_code}
    return ReturnInstructions(
        gettext_lazy("One last step: submit the task with this button so that your work is recorded and paid."),
        address=f"{site}{SUBMIT}",
        label=gettext_lazy("Submit the task"),
        form_fields=form_fields,
        redirect_sites=REDIRECT_SITES if site in SITES.values() else (),
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
        return origin if origin in SITES.values() else ""
    return origin if origin == site_of(recruitment.account) else ""


def site_of(account: Account) -> str:
    """Return the site on which an account's workers submit."""
    if account.place == Account.Place.REHEARSAL:
        stand_in = urlsplit(account.address)
        return f"{stand_in.scheme}://{stand_in.netloc}"
    return SITES[account.place]


# ---- framing in rehearsals -------------------------------------------------------------------------

_ENTRY_PATH, _PARTICIPANT_PATH = re.compile(r"/join/([^/]+)/?$"), re.compile(r"/p/([^/]+)/")
_CSP_UPDATE = "_csp_update"
"""Attribute of a response that CSPMiddleware reads."""
REHEARSAL = Q(account__kind=KEY, account__place=Account.Place.REHEARSAL)
CACHE_SECONDS = 1.0
"""Seconds for which a web process remembers whether a study is in rehearsal, because the check delays every page."""
_cached: dict[str, tuple[float, bool]] = {}


def _any_rehearsal() -> bool:
    checked_at, has_rehearsal = _cached.get(KEY, (0.0, False))
    if not has_rehearsal and time.monotonic() - checked_at > CACHE_SECONDS:
        has_rehearsal = Recruitment.objects.filter(REHEARSAL).exists()
        _cached[KEY] = time.monotonic(), has_rehearsal
    return has_rehearsal


@receiver(post_save, sender=Recruitment)
@receiver(post_save, sender=Account)
def _forget(**_signal: Any) -> None:
    _cached.clear()


class RehearsalFrames(MiddlewareMixin):
    """Add a rehearsal's stand-in to the sites that may frame a participant's page, as mTurk's own pages do.

    It goes below CSPMiddleware.
    """

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        if not response.get("Content-Type", "").startswith("text/html"):
            return response
        if match := _ENTRY_PATH.match(request.path_info):
            recruitments = Recruitment.objects.filter(study__slug=match[1])
        elif match := _PARTICIPANT_PATH.match(request.path_info):
            recruitments = Recruitment.objects.filter(study__versions__cells__placements__enrolment__token=match[1])
        else:
            return response
        if not _any_rehearsal():
            return response
        if (rehearsal := recruitments.filter(REHEARSAL).select_related("account").first()) is not None:
            csp_update = getattr(response, _CSP_UPDATE, None) or {}
            setattr(response, _CSP_UPDATE, {**csp_update, "frame-ancestors": site_of(rehearsal.account)})
        return response
