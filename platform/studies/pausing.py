"""Pause, resume and close studies. Current participants always continue."""

from __future__ import annotations

from django.utils.translation import gettext as _

from studies.models import Study


class NotRunning(Exception):
    """Raised when a study cannot be paused, resumed or closed; the message gives the reason."""


def pause(study: Study) -> bool:
    """Close the study to new participants for now; return whether that changed anything.

    Raises:
        NotRunning: it is a draft or closed.
    """
    return _change_status(study, Study.Status.PAUSED)


def resume(study: Study) -> bool:
    """Reopen the study with the same version; return whether that changed anything.

    Raises:
        NotRunning: it is a draft or closed.
    """
    return _change_status(study, Study.Status.LAUNCHED)


def close(study: Study) -> bool:
    """Close the study to new participants for good; return whether that changed anything.

    Raises:
        NotRunning: it is a draft.
    """
    running = (Study.Status.LAUNCHED, Study.Status.PAUSED)
    changed = Study.objects.filter(pk=study.pk, status__in=running).update(status=Study.Status.CLOSED)
    study.refresh_from_db(fields=["status"])
    if study.status == Study.Status.DRAFT:
        raise NotRunning(_("The study is a draft, so it is already closed to participants."))
    return bool(changed)


def _change_status(study: Study, new_status: Study.Status) -> bool:
    running = (Study.Status.LAUNCHED, Study.Status.PAUSED)
    (other,) = (status for status in running if status != new_status)
    changed = Study.objects.filter(pk=study.pk, status=other).update(status=new_status)
    study.refresh_from_db(fields=["status"])
    if study.status == Study.Status.DRAFT:
        raise NotRunning(_("The study is a draft. Launch it first."))
    if study.status == Study.Status.CLOSED:
        raise NotRunning(_("The study is closed to new participants. Only an owner can launch it again."))
    return bool(changed)
