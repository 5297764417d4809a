"""What opening, pausing and closing a study does to its tasks on Mechanical Turk."""

from __future__ import annotations

import uuid

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from marketplaces.kinds import MarketplaceError, NotPossible
from marketplaces.models import Recruitment
from marketplaces.mturk import publishing
from marketplaces.mturk.models import Hit
from studies.models import Study
from studies.recruiting import places_sentence

GONE = (Hit.State.ORDERED, Hit.State.REFUSED, Hit.State.DISPOSED)


def _hits(recruitment: Recruitment) -> list[Hit]:
    return list(Hit.objects.filter(study=recruitment.study).exclude(state__in=GONE).select_related("account"))


def _to_change(recruitment: Recruitment, status: str) -> list[Hit]:
    """Return the tasks to offer again for an open study, and to end for others."""
    now = timezone.now()
    hits = [(hit, hit.expires_at) for hit in _hits(recruitment) if hit.available]
    if status == Study.Status.LAUNCHED:
        return [hit for hit, until in hits if until and until <= now and hit.account_id == recruitment.account_id]
    return [hit for hit, until in hits if until and until > now]


def state(recruitment: Recruitment) -> str:
    """Return the number of tasks and what is available, as last reported."""
    hits, offered = _hits(recruitment), _to_change(recruitment, Study.Status.PAUSED)
    if not hits:
        return _("no tasks yet")
    tasks = ngettext("{number} task", "{number} tasks", len(hits)).format(number=len(hits))
    available = places_sentence(sum(hit.available for hit in offered))
    return _("{tasks}, {available} available").format(tasks=tasks, available=available)


def due(recruitment: Recruitment, status: str) -> str:
    """Return what is done with the tasks when the study gets this status; empty if nothing."""
    number = len(_to_change(recruitment, status))
    if not number or status == Study.Status.DRAFT:
        return ""
    if status == Study.Status.LAUNCHED:
        return ngettext(
            "On Mechanical Turk, {number} task is offered again.",
            "On Mechanical Turk, {number} tasks are offered again.",
            number,
        ).format(number=number)
    return ngettext(
        "On Mechanical Turk, {number} task ends: no more workers can accept it.",
        "On Mechanical Turk, {number} tasks end: no more workers can accept them.",
        number,
    ).format(number=number)


def follow(recruitment: Recruitment, status: str) -> str:
    """End the tasks, or offer them again for as long as at first.

    Raises:
        MarketplaceError: some tasks were not changed; the others were.
    """
    problems, hits = [], _to_change(recruitment, status)
    for hit in hits:
        try:
            hours = max(1, hit.lifetime // 3600) if status == Study.Status.LAUNCHED else -1
            publishing.offer_for(hit, hours=hours)
        except MarketplaceError as problem:
            problems.append(str(problem))
    if problems:
        template = _("{number} of {all} tasks were not changed. {reason}")
        raise MarketplaceError(template.format(number=len(problems), all=len(hits), reason=problems[0]))
    return _("On Mechanical Turk, the study now has {state}.").format(state=state(recruitment))


def places(recruitment: Recruitment) -> int | None:
    """Return the assignments of all tasks; None before the first."""
    return sum(hit.assignments for hit in _hits(recruitment)) or None


def add_places(recruitment: Recruitment, number: int) -> str:
    """Add assignments to the newest task. Raise NotPossible or MarketplaceError."""
    hits = [hit for hit in _hits(recruitment) if hit.account_id == recruitment.account_id]
    if not hits:
        raise NotPossible(_("There is no task yet. Publish one."))
    publishing.extend(hits[0], number=number, token=uuid.uuid4())
    return _("On Mechanical Turk, the study now has {state}.").format(state=state(recruitment))
