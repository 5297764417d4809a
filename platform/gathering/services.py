"""Coming to a session, waiting, and the start of all at once.

Those who have waited longest come first. People whose page has not been heard from lately hold no place; when they are
back, they queue again. A session starts by one update of its row; places are given out under its lock.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from games.catalogues import SOURCE
from gathering import announce
from gathering.models import Attendance, Session
from participants.models import Enrolment
from participants.states import ENDED
from recruiters.models import LabCode
from studies import enrolling
from studies.models import Study

KEPT = timedelta(seconds=45)
"""How long a place is kept for somebody whose page is silent."""
ASK_SECONDS = 10
"""How often a page asks. Presence is stored at most this often."""
MOST_WAITING = 5_000
"""How many people one session's waiting room holds."""
_HOLDS_SESSIONS = """
SELECT 1 FROM gathering_session WHERE study_id = %s AND (started_at IS NOT NULL OR ended_at IS NULL) LIMIT 1
"""


class SeatTaken(Exception):
    """Somebody else has this seat of the room."""


class TooManyWaiting(Exception):
    """The waiting room is full."""


# ---- which session ------------------------------------------------------------------------------------------------


def session_for(study: Study, key: str, code: str = "") -> Session | None:
    """Return the session that somebody who arrives now belongs to; None if none admits anybody.

    It is the one that they came to, the one of the code, the next one that waits, or one that has just started; never
    one in which they have already begun.
    """
    attended = Attendance.objects.filter(session__study=study, session__ended_at=None, key=key, left_at=None)
    mine = {each.session_id: each for each in attended}
    sessions = [
        session
        for session in study.sessions.filter(ended_at=None)
        if (session.code == code or not code)
        and (mine[session.pk].enrolment_id is None if session.pk in mine else _is_open(session))
    ]
    return min(
        sessions,
        key=lambda each: (each.pk not in mine, each.started_at is not None, each.starts_at or each.created_at),
        default=None,
    )


def admitted(study: Study, key: str) -> Attendance | None:
    """Return the attendance of somebody who may begin now; None if they may not. At the start, everybody asks this."""
    mine = Attendance.objects.filter(session__study=study, key=key, left_at=None, enrolment=None)
    mine = mine.filter(admitted_at__isnull=False, heard_at__gte=timezone.now() - KEPT)
    return mine.select_related("prepared").first()


def _is_open(session: Session) -> bool:
    return session.admits_until is None or timezone.now() < session.admits_until


def holds_sessions(study: Study) -> bool:
    """Return whether people begin this study only in sessions."""
    with connection.cursor() as cursor:  # asked at every arrival
        cursor.execute(_HOLDS_SESSIONS, [study.pk])
        return cursor.fetchone() is not None


# ---- coming and waiting -------------------------------------------------------------------------------------------


def attend(
    session: Session, key: str, *, label: str = "", lab_code: LabCode | None = None, language: str = SOURCE
) -> Attendance:
    """Return somebody's attendance, recording that they are here.

    Raises:
        SeatTaken, TooManyWaiting
    """
    attendance = session.attendances.filter(key=key, left_at=None).first()
    if attendance is None:
        if session.attendances.filter(left_at=None).count() >= MOST_WAITING:
            raise TooManyWaiting
        now = timezone.now()
        try:
            with transaction.atomic():
                attendance, _new = Attendance.objects.update_or_create(
                    session=session,
                    key=key,
                    defaults={
                        "label": label, "lab_code": lab_code, "language": language, "since": now, "heard_at": now,
                        "admitted_at": None, "left_at": None,
                    },
                )  # fmt: skip
        except IntegrityError:
            raise SeatTaken from None
    else:
        mark_present(attendance)
    return attendance


def mark_present(attendance: Attendance) -> None:
    """Record that somebody's page is open; after a long silence they queue again."""
    now, before = timezone.now(), attendance.heard_at
    if now - before < timedelta(seconds=ASK_SECONDS / 2):
        return
    was_away = now - before > KEPT and attendance.enrolment_id is None
    again = {"since": now, "admitted_at": None} if was_away else {}
    Attendance.objects.filter(pk=attendance.pk, heard_at=before).update(heard_at=now, **again)


def leave(attendance: Attendance) -> None:
    """Free the place and the seat of somebody who waits."""
    Attendance.objects.filter(pk=attendance.pk, enrolment=None).update(left_at=timezone.now())


def waiting(session: Session) -> QuerySet[Attendance]:
    """Return those who are here and have not been admitted, in the order of the queue."""
    here = session.attendances.filter(left_at=None, admitted_at=None, heard_at__gte=timezone.now() - KEPT)
    return here.order_by("since", "pk")


def holding(session: Session) -> QuerySet[Attendance]:
    """Return those who were admitted and hold a place: they have begun, or are about to."""
    lost = Q(enrolment=None, heard_at__lt=timezone.now() - KEPT)
    return session.attendances.filter(left_at=None, admitted_at__isnull=False).exclude(lost)


@dataclass(frozen=True)
class Standing:
    """Where somebody is in a session.

    Attributes:
        stage: "waiting" with a place, on the "list" without one, "begin" if they may begin, or "over".
        position: in the list, from 1; 0 otherwise.
        here: how many people are here, with and without a place.
        start: identifies the planned start; when it changes, the page shows the new one.
        remaining: seconds until the start as planned, or while places may still become free; None if unknown.
    """

    stage: str
    position: int
    here: int
    remaining: int | None
    start: str = ""

    def as_data(self) -> dict[str, object]:
        return {"type": "session", **vars(self)}


def standing(attendance: Attendance) -> Standing:
    """Return where somebody is; starts the session, or fills its free places, if it is time."""
    attendance = Attendance.objects.select_related("session").get(pk=attendance.pk)
    session = attendance.session
    if attendance.left_at is None and attendance.admitted_at is None and session.ended_at is None:
        if is_due(session):
            start(session)
        elif session.started_at is not None:
            fill(session)
        attendance = Attendance.objects.select_related("session").get(pk=attendance.pk)
        session = attendance.session
    if attendance.left_at is None and attendance.admitted_at is not None:
        return Standing("begin", 0, 0, None)
    if attendance.left_at is not None or session.ended_at is not None:
        return Standing("over", 0, 0, None)
    queue = list(waiting(session).values_list("pk", flat=True))
    number = queue.index(attendance.pk) + 1 if attendance.pk in queue else len(queue) + 1
    if session.started_at is None:
        ends_at, free = session.starts_at, session.places
    elif _is_open(session):
        ends_at, free = session.admits_until, 0
    else:
        return Standing("over", 0, 0, None)
    remaining = None if ends_at is None else max(0, round((ends_at - timezone.now()).total_seconds()))
    position = max(0, number - free)
    return Standing("list" if position else "waiting", position, len(queue), remaining, start_of(session))


def start_of(session: Session) -> str:
    """Return what identifies the planned start."""
    return f"{session.local_start} {session.time_zone}"


# ---- the start ----------------------------------------------------------------------------------------------------


def is_due(session: Session) -> bool:
    """Return whether the planned start has come."""
    is_waiting = session.started_at is None and session.ended_at is None
    return is_waiting and session.starts_at is not None and session.starts_at <= timezone.now()


def start(session: Session) -> bool:
    """Start a waiting session for everyone who has a place; return False if it was not waiting."""
    with transaction.atomic():
        waits = Session.objects.filter(pk=session.pk, started_at=None, ended_at=None)
        if not waits.update(started_at=timezone.now()):
            return False
        started = Session.objects.select_related("study").get(pk=session.pk)
        _give_places(started)
        _prepare(started)
        transaction.on_commit(lambda: announce.changed(session.pk))
    return True


def fill(session: Session) -> None:
    """Give the free places of a session that has started to those who have waited longest, while people may come."""
    if not _is_open(session) or not waiting(session).exists() or holding(session).count() >= session.places:
        return
    with transaction.atomic():
        if _give_places(Session.objects.select_for_update().get(pk=session.pk)):
            transaction.on_commit(lambda: announce.changed(session.pk))


def _give_places(session: Session) -> int:
    free = session.places - holding(session).count()
    chosen = list(waiting(session).values_list("pk", flat=True)[: max(0, free)])
    return Attendance.objects.filter(pk__in=chosen).update(admitted_at=timezone.now())


def _prepare(session: Session) -> None:
    """Place everyone who begins now in the study, all at once, so that beginning costs each of them little."""
    chosen = list(holding(session).order_by("since", "pk"))
    prepared = enrolling.prepare(session.study, [each.language for each in chosen])
    for attendance, enrolment in zip(chosen, prepared, strict=False):
        attendance.prepared = enrolment
    Attendance.objects.bulk_update(chosen, ["prepared"], batch_size=500)


def begun(attendance: Attendance, enrolment: Enrolment) -> None:
    """Record which enrolment somebody began."""
    Attendance.objects.filter(pk=attendance.pk).update(enrolment=enrolment, prepared=None)


def change(session: Session, *, moved: bool, **fields: Any) -> bool:
    """Change a session that waits, and tell those who wait; return False if it does not.

    Args:
        moved: whether the start changes.
    """
    if moved:
        fields["moved_at"] = timezone.now()
    changed = Session.objects.filter(pk=session.pk, started_at=None, ended_at=None).update(**fields)
    if changed:
        transaction.on_commit(lambda: announce.changed(session.pk))
    return bool(changed)


def call_off(session: Session) -> bool:
    """Call off a session that waits; return False if it does not."""
    waits = Session.objects.filter(pk=session.pk, started_at=None, ended_at=None)
    changed = waits.update(ended_at=timezone.now())
    if changed:
        transaction.on_commit(lambda: announce.changed(session.pk))
    return bool(changed)


def sweep() -> None:
    """Start sessions whose time has come, fill free places, and end those that nobody is in any more."""
    for session in Session.objects.filter(ended_at=None):
        if session.started_at is not None:  # what was prepared for people who hold no place any more
            unused = session.attendances.exclude(prepared=None).exclude(pk__in=holding(session).values("pk"))
            enrolling.discard(list(unused.values_list("prepared__token", flat=True)))
        if is_due(session):
            start(session)
        elif session.started_at is not None and _is_open(session):
            fill(session)
        elif session.started_at is not None and not holding(session).exclude(enrolment__state__in=ENDED).exists():
            Session.objects.filter(pk=session.pk).update(ended_at=timezone.now())
