"""How often the same person may take part, and how long they rest between two games of one kind.

A person is who the recruiter says they are. Only enrolments in studies proper count: pilots and demonstrations
neither count nor are counted. Every enrolment that was begun counts, whatever became of it.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from matches.models import Match
from participants.models import Enrolment
from participants.states import WITHOUT_ASSIGNMENT
from recruiters.arrivals import Arrival
from recruiters.errors import NotAgain, SomebodyElse, TooSoon
from studies.models import Version


def lock_worker(arrival: Arrival) -> None:
    """Let the same person arrive only once at a time, whichever studies they arrive at; until the transaction ends.

    SQLite's transactions follow one another anyway. PostgreSQL is given a number made from the person's name.
    """
    if not arrival.worker or connection.vendor != "postgresql":
        return
    name = hashlib.sha256(f"{arrival.recruiter}/{arrival.worker}".encode()).digest()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s::bigint)", [int.from_bytes(name[:8], "big", signed=True)])


def refuse(version: Version, arrival: Arrival) -> None:
    """Refuse whoever may not begin another enrolment now; call under `lock_worker`.

    Raises:
        SomebodyElse: they are in the middle of one, begun with another link.
        NotAgain: they have taken part as often as the study allows.
        TooSoon: saying when they may come back.
    """
    if not arrival.worker or version.content["purpose"] != Match.Purpose.STUDY:
        return
    rule = version.content.get("participations", {"most": 1, "rest_hours": 0})
    enrolments = _enrolments_of(arrival)
    here = enrolments.filter(placement__cell__version__study=version.study_id)
    _refuse_beside(here.exclude(identity__proof=arrival.proof), most=rule["most"], recruiter=arrival.recruiter)
    if rule["most"] is not None and here.count() >= rule["most"]:
        raise NotAgain(_too_often(rule["most"]))
    if rule["rest_hours"]:
        _refuse_unrested(
            enrolments.filter(placement__cell__version__study__game=version.study.game), rule["rest_hours"]
        )


def _enrolments_of(arrival: Arrival) -> QuerySet[Enrolment]:
    """The enrolments of this person that count."""
    return Enrolment.objects.filter(
        identity__recruiter=arrival.recruiter,
        identity__worker=arrival.worker,
        placement__cell__version__content__purpose=Match.Purpose.STUDY,
    )


def _refuse_beside(others: QuerySet[Enrolment], *, most: int | None, recruiter: str) -> None:
    if most == 1 and others.exists() and not others.filter(ended_at=None).exists():
        raise NotAgain(_took_part(recruiter))
    if most == 1 and others.exists():
        raise SomebodyElse(
            _("You have already begun this study with another link. Please use that one; each person takes part once.")
        )
    if others.filter(ended_at=None).exists():
        raise SomebodyElse(
            _("You have already begun a game of this study with another link. Please finish that one first.")
        )


def _took_part(recruiter: str) -> str:
    """For whose only enrolment has ended, and who comes with another link: a task that was accepted again, mostly."""
    if recruiter in WITHOUT_ASSIGNMENT:
        return _too_often(1)
    return _(
        "You took part already, and each person takes part once: please return this task on the page that brought you "
        "here."
    )


def _too_often(most: int) -> str:
    if most == 1:
        return _("Each person takes part in this study once, and you have. Thank you!")
    return ngettext(
        "Each person takes part in this study at most {number} time, and you have. Thank you!",
        "Each person takes part in this study at most {number} times, and you have. Thank you!",
        most,
    ).format(number=most)


def _refuse_unrested(enrolments: QuerySet[Enrolment], hours: int) -> None:
    latest = enrolments.order_by("-arrived_at").values_list("arrived_at", flat=True).first()
    until = latest + timedelta(hours=hours) if latest else None
    if until is not None and until > timezone.now():
        raise TooSoon(
            _(
                "You have begun a game of this kind within the last {hours} hours. You are welcome again in {wait}: "
                "from {when} on, with the same link if it is still offered to you then."
            ).format(hours=hours, wait=in_words(until - timezone.now()), when=_moment(until))
        )


def _moment(at: datetime) -> str:
    """The first whole minute from a moment on, as people anywhere can read it: "22 November 2026, 03:15 UTC"."""
    at += timedelta(seconds=-at.timestamp() % 60)
    return f"{date_format(at, 'j F Y, H:i')} {timezone.get_current_timezone_name()}"


def in_words(wait: timedelta) -> str:
    """A wait in hours and minutes, never shorter than it is: "1 hour and 5 minutes"."""
    minutes = max(1, -(-wait // timedelta(minutes=1)))
    hours, minutes = divmod(minutes, 60)
    parts = []
    if hours:
        parts.append(ngettext("{number} hour", "{number} hours", hours).format(number=hours))
    if minutes:
        parts.append(ngettext("{number} minute", "{number} minutes", minutes).format(number=minutes))
    return _(" and ").join(parts)
