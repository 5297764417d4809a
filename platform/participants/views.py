"""A participant's pages: one address, which always shows where the person stands.

The token in the address is the key to these pages and there is no cookie, so they work inside a
recruiter's frame and need no CSRF token: no browser sends a token by itself.
"""

from __future__ import annotations

from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from participants import paid, services
from participants.farewells import farewell_of
from participants.markdown import to_html
from participants.models import Enrolment
from participants.states import ending_of
from participants.steps import Step, StepRefused, of


def participant_page(view):
    """Find the enrolment behind the token; a link nobody was given, or an old one, gets a clear page."""

    @csrf_exempt
    @xframe_options_exempt
    @never_cache
    @wraps(view)
    def found(request: HttpRequest, token: str, **kwargs: Any) -> HttpResponse:
        enrolment = Enrolment.objects.filter(token=token).first()
        if enrolment is None:
            return render(request, "participants/no_such_link.html", status=404)
        if not enrolment.ended and enrolment.expires_at < timezone.now():
            services.drop_absent()
            enrolment.refresh_from_db()
        return view(request, enrolment, **kwargs)

    return found


@participant_page
@require_http_methods(["GET", "POST"])
def page(request: HttpRequest, enrolment: Enrolment) -> HttpResponse:
    """Show the present step, or take its answer and redirect here again."""
    errors: dict[str, Any] = {}
    if request.method == "POST":
        try:
            position = int(request.POST.get("position", "-1"))
        except ValueError:
            position = -1
        try:
            services.answer_step(enrolment_id=enrolment.pk, position=position, data=request.POST)
            return redirect(enrolment)
        except StepRefused as refusal:
            errors = dict(refusal.errors)
    return show_page(request, enrolment, errors=errors)


def show_page(request: HttpRequest, enrolment: Enrolment, *, errors: dict[str, Any]) -> HttpResponse:
    """The page of the present step, with the reasons why its answer was not taken, or of the ending."""
    enrolment, step = services.show_step(enrolment_id=enrolment.pk)
    if step is None:
        return _ending(request, enrolment)
    return _step(request, enrolment, step, errors)


def _step(request: HttpRequest, enrolment: Enrolment, step: Step, errors: dict[str, Any]) -> HttpResponse:
    if errors:
        step.posted, step.errors = request.POST, errors
    context = {
        **_frame(enrolment),
        "step": step,
        "title": step.title,
        "position": enrolment.position,
        "errors": errors,
        "posted": request.POST,
        **step.context(),
    }
    return render(request, step.template, context, status=422 if errors else 200)


def _ending(request: HttpRequest, enrolment: Enrolment) -> HttpResponse:
    earnings = enrolment.earnings or {}
    ending = ending_of(enrolment.state, paid=bool(earnings.get("amounts")), entry=earnings.get("entry", ""))
    debriefing = earnings.get("debriefing", "")
    farewell = farewell_of(enrolment)
    own_code = enrolment.completion_code if ending.gives_code else ""
    context = {
        **_frame(enrolment),
        "title": ending.title,
        "ending": ending,
        "farewell": farewell,
        "completion_code": farewell.code if farewell is not None else own_code,
        "earnings": enrolment.earnings,
        "paying": paid.told(enrolment),
        "debriefing": to_html(debriefing) if debriefing else "",
    }
    response = render(request, "participants/ending.html", context)
    if farewell is not None and farewell.posts is not None:
        where = urlsplit(farewell.address)
        response._csp_update = {"form-action": [f"{where.scheme}://{where.netloc}", *farewell.leads_on]}
    return response


def _frame(enrolment: Enrolment) -> dict[str, Any]:
    """What the frame around every page shows: the way, and how far the person has come."""
    total = len(enrolment.steps)
    done = total if enrolment.ended else enrolment.position
    titles = [of(enrolment, step).title for step in enrolment.steps]
    return {"enrolment": enrolment, "progress": {"done": done, "total": total, "titles": titles}}


@participant_page
@require_http_methods(["GET", "POST"])
def leave(request: HttpRequest, enrolment: Enrolment) -> HttpResponse:
    """Ask whether the person wants to stop; only the posted answer stops."""
    if request.method == "POST":
        services.withdraw(enrolment_id=enrolment.pk)
        return redirect(enrolment)
    pays = next(
        (step["leaving"] for step in enrolment.steps if "leaving" in step), _("Leaving before the end pays nothing.")
    )
    context = {**_frame(enrolment), "title": _("Leave the study?"), "pays": pays}
    return render(request, "participants/leave.html", context)


@participant_page
@require_http_methods(["GET", "POST"])
def problem(request: HttpRequest, enrolment: Enrolment) -> HttpResponse:
    """Take a problem report; the person goes back to where they were."""
    sent = False
    if request.method == "POST" and request.POST.get("text", "").strip():
        services.report_problem(enrolment_id=enrolment.pk, text=request.POST["text"].strip())
        sent = True
    context = {**_frame(enrolment), "title": _("Report a problem"), "sent": sent}
    return render(request, "participants/problem.html", context)
