"""The door of a study with sessions: everyone who arrives waits, begins, or reads why they cannot."""

from __future__ import annotations

import secrets
from functools import partial
from typing import Any

from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from gathering import services
from gathering.models import Attendance, Session
from participants.wording import UNTITLED
from recruiters.arrivals import Arrival
from recruiters.errors import EntryRefused
from recruiters.models import LabCode
from studies import enrolling, times
from studies.entering import Admitted, arriving
from studies.models import Study

COOKIE_SALT = "gathering.browser"
COOKIE_SECONDS = 24 * 3600


class NoSession(EntryRefused):
    title = gettext_lazy("No session at the moment")
    try_again = True


@receiver(arriving)
def admit(request: HttpRequest, study: Study, arrival: Arrival, **_signal: Any) -> HttpResponse | Admitted | None:
    """Return the waiting room, or the admission of somebody who may begin; None without sessions.

    Raises:
        EntryRefused: no session admits them.
    """
    stored = request.get_signed_cookie(f"parley-session-{study.pk}", default="", salt=COOKIE_SALT)
    browser = stored or secrets.token_urlsafe(24)
    who = f"{arrival.recruiter}/{arrival.worker}/{arrival.proof}" if arrival.proof else f"browser/{browser}"
    key = salted_hmac("gathering.key", who, algorithm="sha256").hexdigest()
    is_known = bool(arrival.proof or stored)
    if is_known and (attendance := services.admitted(study, key)) is not None:
        return _admitted(attendance)
    if not services.holds_sessions(study):
        return None
    version = study.latest_version()
    enrolling.refuse_closed(study, version)
    session = services.session_for(study, key, request.GET.get("session", "").strip().upper())
    if session is None:
        raise NoSession(f"{_what_became(study, key)} {_next_session(study)}".strip())
    attendance = session.attendances.filter(key=key, left_at=None).first()
    if attendance is None:
        seat = request.GET.get("seat", "") if not arrival.proof else ""
        if session.labels and not arrival.proof and seat not in session.labels:
            return redirect("gathering:session", code=session.code)
        codes = LabCode.objects.filter(study=study.slug, code=arrival.proof)
        code = codes.first() if arrival.recruiter == "codes" else None
        try:
            attendance = services.attend(session, key, label=seat, lab_code=code, language=get_language())
        except services.SeatTaken:
            return redirect(f"{reverse('gathering:session', args=[session.code])}?taken={seat}")
        except services.TooManyWaiting:
            raise enrolling.Full(_("The waiting room is full. Please try again later.")) from None
    else:
        services.mark_present(attendance)
    standing = services.standing(attendance)
    if standing.stage == "begin":
        return _admitted(attendance)
    if standing.stage == "over":
        raise enrolling.Full(_started_without())
    return _waiting_room(request, study, session, attendance, standing, browser if not arrival.proof else "")


def _admitted(attendance: Attendance) -> Admitted:
    return Admitted(partial(services.begun, attendance), attendance.prepared)


def _waiting_room(
    request: HttpRequest,
    study: Study,
    session: Session,
    attendance: Attendance,
    standing: services.Standing,
    browser: str,
) -> HttpResponse:
    version = study.latest_version()
    context = {
        "title": version.shown_title if version else UNTITLED,
        "session": session,
        "starts": times.told(session.starts_at, session.time_zone) if session.starts_at else "",
        "attendance": attendance,
        "standing": standing,
        "form": secrets.token_urlsafe(24),
        "start": services.start_of(session),
        "moved": session.moved_at is not None and attendance.since < session.moved_at,
        "every": services.ASK_SECONDS,
    }
    page = render(request, "gathering/waiting.html", context)
    if browser:
        page.set_signed_cookie(
            f"parley-session-{study.pk}", browser, salt=COOKIE_SALT, max_age=COOKIE_SECONDS, httponly=True,
            samesite="Lax", secure=request.is_secure(),
        )  # fmt: skip
    return page


def _what_became(study: Study, key: str) -> str:
    """Return what has become of the session that somebody waited for; empty if they waited for none."""
    waited = Attendance.objects.filter(session__study=study, key=key, left_at=None, enrolment=None)
    attendance = waited.select_related("session").order_by("-since").first()
    if attendance is None:
        return ""
    return _("The session was called off.") if attendance.session.called_off else _started_without()


def _started_without() -> str:
    return _("The session has started, and all its places were taken. Thank you for coming.")


def _next_session(study: Study) -> str:
    """Return what to tell somebody whom no session admits."""
    coming = (
        study.sessions.filter(ended_at=None, started_at=None, starts_at__isnull=False).order_by("starts_at").first()
    )
    if coming is None or coming.starts_at is None:
        return _(
            "This study takes place in sessions, and no other one is planned. Please ask the people who invited you."
        )
    return _("The next session starts on {when}. Please come back then, with the same link.").format(
        when=times.told(coming.starts_at, coming.time_zone)
    )
