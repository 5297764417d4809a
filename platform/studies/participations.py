"""How often the same person may take part, and how long they must wait between two games of one kind.

People are identified by their recruiter. Only enrolments in real studies count, not pilots or demonstrations.
Every enrolment counts, however it ended.
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

from games import registry
from matches.models import Match
from participants.models import Enrolment
from participants.states import WITHOUT_ASSIGNMENT
from recruiters import otree
from recruiters.arrivals import Arrival
from recruiters.errors import DifferentParticipant, NotAgain, TooSoon
from studies.models import Placement, Version


def lock_worker(arrival: Arrival) -> None:
    """Let the same person arrive only once at a time, in any study, until the transaction ends.

    SQLite runs transactions one at a time anyway. PostgreSQL gets an advisory lock derived from the person's ID.
    """
    if not arrival.worker or connection.vendor != "postgresql":
        return
    digest = hashlib.sha256(f"{arrival.recruiter}/{arrival.worker}".encode()).digest()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s::bigint)", [int.from_bytes(digest[:8], "big", signed=True)])


def refuse(version: Version, arrival: Arrival) -> None:
    """Raise an error if the person may not begin another enrolment now; call under `lock_worker`.

    Raises:
        DifferentParticipant: they have an unfinished one, begun with another link.
        NotAgain: they have taken part as often as the study allows.
        TooSoon: with the time from which they may come back.
    """
    if not arrival.worker or version.purpose != Match.Purpose.STUDY:
        return
    rule = version.study.entry_rules()
    enrolments = Enrolment.objects.filter(
        identity__recruiter=arrival.recruiter,
        identity__worker=arrival.worker,
        placement__version__document__purpose=Match.Purpose.STUDY,
    )
    in_this_study = enrolments.filter(placement__version__study=version.study_id)
    _refuse_concurrent(in_this_study.exclude(identity__proof=arrival.proof), arrival, limit=rule.participations)
    if rule.participations is not None and in_this_study.count() >= rule.participations:
        raise NotAgain(_limit_message(rule.participations))
    if rule.rest_hours:
        games = set(version.games) - {registry.CONVERSATION}
        played = [
            placement.enrolment_id
            for placement in Placement.objects.filter(enrolment__in=enrolments).select_related("version")
            if games.intersection(placement.version.games)
        ]
        _refuse_too_soon(Enrolment.objects.filter(pk__in=played), rule.rest_hours)


def refuse_browser(version: Version, earlier: Enrolment) -> None:
    """Raise an error if a browser that comes back through an open link may not begin another enrolment now.

    An open link knows only the browser's latest enrolment, so a limit of several sessions cannot be checked.

    Raises:
        NotAgain, TooSoon
    """
    if version.purpose != Match.Purpose.STUDY:
        return
    rule = version.study.entry_rules()
    if rule.participations == 1:
        raise NotAgain(_limit_message(1))
    if rule.rest_hours:
        _refuse_too_soon(Enrolment.objects.filter(pk=earlier.pk), rule.rest_hours)


def _refuse_concurrent(others: QuerySet[Enrolment], arrival: Arrival, *, limit: int | None) -> None:
    unfinished = others.filter(ended_at=None).first()
    if limit == 1 and unfinished is None and others.exists():
        if arrival.recruiter in WITHOUT_ASSIGNMENT:
            raise NotAgain(_limit_message(1))
        raise NotAgain(
            _(
                "You have already taken part, and each person can take part once. Please return this task on "
                "the page that brought you here."
            )
        )
    if unfinished is None:
        return
    message = _("You have already started a game in this study with another link. Please finish that one first.")
    if limit == 1:
        message = _(
            "You have already started this study with another link. Please use that one; each person can "
            "take part once."
        )
    # Only a signed link proves who the person is, so that it may lead to what another link began.
    raise DifferentParticipant(
        message, unfinished_url=unfinished.get_absolute_url() if arrival.recruiter == otree.KIND else ""
    )


def _limit_message(limit: int) -> str:
    if limit == 1:
        return _("You have already taken part in this study, and each person can take part once. Thank you!")
    return ngettext(
        "You have already taken part in this study, and each person can take part at most {number} time. Thank you!",
        "You have already taken part in this study, and each person can take part at most {number} times. Thank you!",
        limit,
    ).format(number=limit)


def _refuse_too_soon(enrolments: QuerySet[Enrolment], hours: int) -> None:
    latest = enrolments.order_by("-arrived_at").values_list("arrived_at", flat=True).first()
    allowed_from = latest + timedelta(hours=hours) if latest else None
    if allowed_from is not None and allowed_from > timezone.now():
        raise TooSoon(
            _(
                "You started a game of this kind within the last {hours} hours. You can come back in {wait}, "
                "from {when}, with the same link if it is still offered to you then."
            ).format(hours=hours, wait=describe_wait(allowed_from - timezone.now()), when=_rounded_time(allowed_from))
        )


def _rounded_time(moment: datetime) -> str:
    """Return the first whole minute at or after a moment, unambiguous worldwide: "22 November 2026, 03:15 UTC"."""
    moment += timedelta(seconds=-moment.timestamp() % 60)
    return f"{date_format(moment, 'j F Y, H:i')} {timezone.get_current_timezone_name()}"


def describe_wait(wait: timedelta) -> str:
    """Return a wait in hours and minutes, rounded up: "1 hour and 5 minutes"."""
    minutes = max(1, -(-wait // timedelta(minutes=1)))
    hours, minutes = divmod(minutes, 60)
    parts = []
    if hours:
        parts.append(ngettext("{number} hour", "{number} hours", hours).format(number=hours))
    if minutes:
        parts.append(ngettext("{number} minute", "{number} minutes", minutes).format(number=minutes))
    return _(" and ").join(parts)
