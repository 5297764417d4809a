"""When a study opens and closes automatically, as its plan's entry says.

Arrivals are judged by the clock, so that a late task admits nobody. The task closes the study, and records both.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from audit import services as audit
from audit.actions import Action
from audit.models import Record
from plans.plan import Entry
from studies import pausing, recruiting
from studies.models import Study
from studies.times import told

LATE = timedelta(days=7)
"""How long after the opening it is still recorded, after an outage."""


def past_times(entry: Entry, launched: Entry | None) -> dict[str, str]:
    """Return what is wrong with times that have passed, by field; an opening that was launched as it is may stay."""
    now, problems = timezone.now(), {}
    passed = _("This time has passed: {when}. Choose a later one, or leave the field empty.")
    if entry.opens_at and entry.opens_at < now and (launched is None or launched.opens_at != entry.opens_at):
        problems["opens"] = passed.format(when=told(entry.opens_at, entry.time_zone))
    if entry.closes_at and entry.closes_at < now:
        problems["closes"] = passed.format(when=told(entry.closes_at, entry.time_zone))
    return problems


def opens_later(entry: Entry) -> str:
    """Return when a study opens, in words; empty if it is not to open later."""
    return _told_ahead(entry.opens_at, entry)


def closes_later(entry: Entry) -> str:
    """Return when a study closes, in words; empty if it does not close automatically."""
    return _told_ahead(entry.closes_at, entry)


def has_closed(entry: Entry) -> bool:
    """Return whether the time at which a study closes has come."""
    return entry.closes_at is not None and entry.closes_at <= timezone.now()


def _told_ahead(moment: datetime | None, entry: Entry) -> str:
    return told(moment, entry.time_zone) if moment and moment > timezone.now() else ""


def carry_out() -> None:
    """Close the studies whose time has come, and record what opened and closed."""
    for study in Study.with_entry().filter(status__in=(Study.Status.LAUNCHED, Study.Status.PAUSED)):
        entry = study.entry_rules()
        if has_closed(entry):
            _close(study, entry)
        elif entry.opens_at and study.status == Study.Status.LAUNCHED and entry.opens_at <= timezone.now():
            _record_opening(study, entry.opens_at, entry)


def _close(study: Study, entry: Entry) -> None:
    with transaction.atomic():
        if not pausing.close(study):
            return
        details = {"closes": entry.closes, "time_zone": entry.time_zone}
        audit.record(action=Action.CLOSED, user=None, target=study, details=details)
    recruiting.follow(study, None)


def _record_opening(study: Study, opens_at: datetime, entry: Entry) -> None:
    if opens_at < timezone.now() - LATE or opens_at < study.created_at:
        return
    details = {"opens": entry.opens, "time_zone": entry.time_zone}
    of_study = {"kind": study._meta.label_lower, "key": str(study.pk)}
    if not Record.objects.filter(action=Action.OPENED, details=details, **of_study).exists():
        audit.record(action=Action.OPENED, user=None, target=study, details=details)
