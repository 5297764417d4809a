"""The researcher's pages of sessions: the list, one session's screen, its projector views and its receipts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial, wraps
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from audit.actions import Action
from gathering import services
from gathering.forms import SessionForm
from gathering.models import Attendance, Session
from gathering.receipts import receipts
from gathering.results import FEWEST_PEOPLE, figures
from rights import parts
from rights.admin import trail
from rights.roles import Role
from studies import recruiting
from studies.admin.views import View, of_study, study_admin, whole
from studies.models import Study
from studies.qr import qr_code
from studies.times import told


def of_session(*, role: Role = Role.VIEWER) -> Callable[[View], View]:
    """Decorator: pass the view the study and session in its URL, if the user has this role in the study."""

    def decorate(view: View) -> View:
        @never_cache
        @of_study(role=role)
        @wraps(view)
        def wrapper(request: HttpRequest, study: Study, code: str) -> HttpResponseBase:
            return view(request, study, get_object_or_404(study.sessions, code=code))

        return wrapper

    return decorate


# ---- all sessions of a study --------------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
@never_cache
@of_study()
def page(request: HttpRequest, study: Study) -> HttpResponse:
    """List the sessions of a study, and create one (POST)."""
    last = study.sessions.order_by("-pk").first()
    may_change = parts.may(request.user, study, role=Role.EDITOR)
    initial = {
        "time_zone": study.entry_rules().time_zone,
        "places": max(1, recruiting.places_of(study)),
        "grace": Session._meta.get_field("grace").default,
        **({**_entered(last), "starts_at": ""} if last else {}),
    }
    if request.method == "POST":
        study_admin().seen(request, str(study.pk), role=Role.EDITOR)
        form = SessionForm(request.POST)
        if form.is_valid():
            with transaction.atomic():
                session = Session.objects.create(study=study, **form.cleaned_data)
                _record(request, study, Action.MADE, session)
            return redirect("sessions:session", pk=study.pk, code=session.code)
    else:
        form = SessionForm(initial=initial)
    title = _("Sessions: {study}").format(study=study.title)
    context = {
        **trail(study, here=_("Sessions")),
        "study": study,
        "rows": [(each, _starts(each), each.attendances.filter(left_at=None).count()) for each in study.sessions.all()],
        "form": form,
        "may_change": may_change,
    }
    status = 400 if form.errors else 200
    return study_admin().page(request, "admin/gathering/page.html", title, context, status=status)


def _entered(session: Session) -> dict[str, Any]:
    """Return a session's details as its form has them."""
    return {
        "time_zone": session.time_zone,
        "starts_at": session.local_start,
        "places": session.places,
        "grace": session.grace,
        "labels": "\n".join(session.labels),
    }


def _starts(session: Session) -> str:
    return told(session.starts_at, session.time_zone) if session.starts_at else _("by hand")


def _record(request: HttpRequest, study: Study, action: Action, session: Session) -> None:
    study_admin().record_action(request, study, action, f"Session {session.code}.", {"session": session.code})


# ---- one session --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Here:
    """Somebody who has come, as the session's screen lists them."""

    attendance: Attendance
    label: str
    state: str
    may_free: bool


@require_GET
@of_session()
def session(request: HttpRequest, study: Study, session: Session) -> HttpResponse:
    """Show a session's screen."""
    title = _("Session {code}: {study}").format(code=session.code, study=study.title)
    context = {
        **trail(study, (_("Sessions"), reverse("sessions:page", args=[study.pk])), here=session.code),
        **_entry(request, session),
        **_now(request, study, session),
    }
    return study_admin().page(request, "admin/gathering/session.html", title, context)


@require_GET
@of_session()
def now(request: HttpRequest, study: Study, session: Session) -> HttpResponse:
    """Return the part of the screen that changes."""
    return TemplateResponse(request, "admin/gathering/now.html", _now(request, study, session))


def _entry(request: HttpRequest, session: Session) -> dict[str, Any]:
    address = request.build_absolute_uri(reverse("gathering:session", args=[session.code]))
    return {
        "address": address,
        "entrance": request.build_absolute_uri(reverse("gathering:entrance")),
        "qr": qr_code(address),
    }


def _now(request: HttpRequest, study: Study, session: Session) -> dict[str, Any]:
    may_change = parts.may(request.user, study, role=Role.EDITOR)
    queue = list(services.waiting(session).values_list("pk", flat=True))
    here = session.attendances.filter(left_at=None).select_related("enrolment", "lab_code").order_by("since", "pk")
    free = session.places if session.started_at is None else 0
    counts = _counts(session)
    return {
        "study": study,
        "session": session,
        "starts": _starts(session),
        "at": timezone.now(),
        "counts": counts,
        "listed": [_here(each, number, queue, free) for number, each in enumerate(here, start=1)] if may_change else [],
        "may_change": may_change,
        "may_pay": parts.may(request.user, study, role=Role.OWNER),
        "closed": study.status != Study.Status.LAUNCHED,
        "more_places": max(0, session.places - recruiting.places_of(study)),
    }


def _counts(session: Session) -> dict[str, Any]:
    """Return how many are here and have begun, and the time left; nothing about anybody."""
    return {
        "here": services.waiting(session).count() + services.holding(session).count(),
        "begun": session.attendances.exclude(enrolment=None).count(),
        "left": _left(session),
    }


def _left(session: Session) -> str:
    """Return the time left until the planned start, such as "4:05"; empty if there is none, or more than a day."""
    if session.starts_at is None or session.status != "waiting":
        return ""
    left = max(timedelta(), session.starts_at - timezone.now())
    if left > timedelta(days=1):
        return ""
    minutes, seconds = divmod(round(left.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _here(attendance: Attendance, number: int, queue: list[int], free: int) -> Here:
    if attendance.enrolment is not None:
        state = str(attendance.enrolment.get_state_display())
    elif attendance.admitted_at is not None:
        state = _("may begin")
    elif attendance.pk not in queue:
        state = _("away")
    else:
        place = queue.index(attendance.pk) + 1 - free
        state = _("has a place") if place <= 0 else _("waiting list, position {place}").format(place=place)
    label = attendance.shown_label or _("Participant {number}").format(number=number)
    return Here(attendance, label, state, may_free=attendance.enrolment is None)


@require_http_methods(["GET", "POST"])
@of_session(role=Role.EDITOR)
def change(request: HttpRequest, study: Study, session: Session) -> HttpResponse:
    """Change a session that waits for its start; those who wait are told."""
    form = SessionForm(request.POST or None, initial=_entered(session), changes=session)
    if form.is_valid():
        moved = bool({"starts_at", "time_zone"} & {*form.changed_data})
        done = _("Changed: those who wait see it at once.")
        change = partial(services.change, moved=moved, **form.cleaned_data)
        return _while_waiting(request, study, session, change, Action.CHANGED, done)
    back = reverse("sessions:session", args=[study.pk, session.code])
    sessions = reverse("sessions:page", args=[study.pk])
    context = {
        **trail(study, (_("Sessions"), sessions), (session.code, back), here=_("Change")),
        "form": form,
        "back": back,
        "button": _("Change session"),
    }
    title, status = _("Change session {code}").format(code=session.code), 400 if form.errors else 200
    return study_admin().page(request, "admin/studies/ask.html", title, context, status=status)


@require_POST
@of_session(role=Role.EDITOR)
def start(request: HttpRequest, study: Study, session: Session) -> HttpResponse:
    """Start the session now."""
    done = _("Started: everyone who has a place begins now.")
    return _while_waiting(request, study, session, services.start, Action.STARTED, done)


@require_POST
@of_session(role=Role.EDITOR)
def call_off(request: HttpRequest, study: Study, session: Session) -> HttpResponse:
    """Call the session off; those who wait are told."""
    done = _("Called off: those who wait are told.")
    return _while_waiting(request, study, session, services.call_off, Action.STOPPED, done)


def _while_waiting(
    request: HttpRequest, study: Study, session: Session, act: Callable[[Session], bool], action: Action, done: str
) -> HttpResponse:
    """Do something to a session that waits, record it and say so, unless it was not waiting."""
    with transaction.atomic():
        if act(session):
            _record(request, study, action, session)
            messages.success(request, done)
        else:
            messages.warning(request, _("This session is not waiting for its start."))
    return redirect("sessions:session", pk=study.pk, code=session.code)


@require_POST
@of_session(role=Role.EDITOR)
def free(request: HttpRequest, study: Study, session: Session) -> HttpResponse:
    """Free the place and seat of somebody who has not begun, such as on a computer that broke."""
    attendance = session.attendances.filter(pk=whole(request.POST.get("attendance"))).first()
    if attendance is not None:
        services.leave(attendance)
    return redirect("sessions:session", pk=study.pk, code=session.code)


# ---- projector and paper ------------------------------------------------------------------------------------------


@require_GET
@of_session()
def projector(request: HttpRequest, study: Study, session: Session) -> HttpResponse:
    """Show the whole room how to join, how many have, and when it starts; nothing about anybody."""
    version = study.latest_version()
    return render(
        request,
        "gathering/projector.html",
        {
            **_entry(request, session),
            "study": study,
            "session": session,
            "heading": version.shown_title if version else _("Join the session"),
            "starts": _starts(session) if session.starts_at else "",
            "counts": _counts(session),
            "at": timezone.now(),
            "part": "part" in request.GET,
        },
    )


@require_GET
@of_session()
def results(request: HttpRequest, study: Study, session: Session) -> HttpResponse:
    """Show the room's results as figures."""
    context = {"study": study, "session": session, "figures": figures(session), "fewest": FEWEST_PEOPLE}
    return render(request, "gathering/results.html", context)


@require_POST
@of_session(role=Role.OWNER)
def receipt_list(request: HttpRequest, study: Study, session: Session) -> HttpResponse:
    """Show the receipts to print; by POST, because lists of pay are recorded in the audit log."""
    with transaction.atomic():
        _record(request, study, Action.PAY_LISTED, session)
    lines, totals = receipts(session)
    context = {"study": study, "session": session, "lines": lines, "totals": totals, "day": session.started_at}
    return render(request, "gathering/receipts.html", context)
