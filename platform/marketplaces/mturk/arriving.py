"""Read a worker's arrival from the link with which Mechanical Turk opens our page.

mTurk does not answer questions about an assignment before it is submitted, so anyone who has another worker's link can
use it and begin an enrolment of their own, but nothing is paid for it. The worker's identity is checked with mTurk
before any payment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from marketplaces.models import Recruitment
from marketplaces.mturk.models import KEY, Assignment, Hit
from participants.models import Enrolment
from participants.states import State
from recruiters import arrivals
from recruiters.arrivals import Arrival
from recruiters.errors import EntryRefused, IncompleteLink
from recruiters.models import Identity

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""Assignment ID that mTurk sends while a worker previews a task."""
_ID = re.compile(r"[A-Za-z0-9]{1,64}")
"""Assignment and task IDs have about 30 characters, worker IDs about 14."""
_ASK_TO_OPEN = gettext_lazy("Please open the study from the task's own page on Mechanical Turk, after accepting it.")


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
    unconfirmed = published.filter(state=Hit.State.ORDERED).exists()
    if task is None and published.exclude(hit_id=None).exists() and not unconfirmed:
        raise WrongTask(_ASK_TO_OPEN)
    if task is None:
        return
    if task.over_at is not None and task.over_at < timezone.now():
        raise TaskExpired(
            _("The time limit has passed. Please return the task. Returning it does not count against you.")
        )
    if Assignment.objects.filter(assignment_id=assignment_id).exists():
        raise AlreadySubmitted(_("You do not need to do anything else. The requester will review it soon."))
    here = Enrolment.objects.filter(identity__study=study, identity__recruiter=KEY)
    active = here.filter(Q(ended_at=None) | Q(state=State.COMPLETED), identity__details__hitId=hit_id)
    if active.count() >= task.assignments:
        raise NoAssignmentLeft(_("Please return the task. Returning it does not count against you."))
    others = here.filter(identity__proof__startswith=f"{assignment_id}/", ended_at=None)
    if any(enrolment.recently_seen() for enrolment in others):
        raise InProgressElsewhere(
            _(
                "If you have just accepted this task, please wait two minutes and reload this page. If you did this "
                "task with another account, please return it."
            )
        )


arrivals.register(KEY, gettext_lazy("Mechanical Turk"), arrive)
