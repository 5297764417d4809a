"""Closing a study's door, for a while or for good, and opening it again. Whoever is in goes on."""

from __future__ import annotations

from django.utils.translation import gettext as _

from studies.models import Study


class NotRunning(Exception):
    """The study can be neither paused, resumed nor closed; `str(error)` says why."""


def pause(study: Study) -> bool:
    """Let nobody new in for now; returns whether that changed anything.

    Raises:
        NotRunning: it is a draft or closed.
    """
    return _turn(study, to=Study.Status.PAUSED)


def resume(study: Study) -> bool:
    """Let people in again, to the version they met before; returns whether that changed anything.

    Raises:
        NotRunning: it is a draft or closed.
    """
    return _turn(study, to=Study.Status.LAUNCHED)


def close(study: Study) -> bool:
    """Let nobody new in any more; returns whether that changed anything.

    Raises:
        NotRunning: it is a draft.
    """
    running = (Study.Status.LAUNCHED, Study.Status.PAUSED)
    changed = Study.objects.filter(pk=study.pk, status__in=running).update(status=Study.Status.CLOSED)
    study.refresh_from_db(fields=["status"])
    if study.status == Study.Status.DRAFT:
        raise NotRunning(_("The study is a draft: it lets nobody in anyway."))
    return bool(changed)


def _turn(study: Study, *, to: Study.Status) -> bool:
    running = (Study.Status.LAUNCHED, Study.Status.PAUSED)
    (other,) = (status for status in running if status != to)
    changed = Study.objects.filter(pk=study.pk, status=other).update(status=to)
    study.refresh_from_db(fields=["status"])
    if study.status == Study.Status.DRAFT:
        raise NotRunning(_("The study is a draft and lets nobody in: launch it first."))
    if study.status == Study.Status.CLOSED:
        raise NotRunning(_("The study is closed and takes nobody in any more."))
    return bool(changed)
