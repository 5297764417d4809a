"""A participant's pages: one URL, which always shows the current step.

The token in the URL is the key to these pages. There is no cookie, so they work inside a recruiter's
frame and need no CSRF token: a browser never sends the URL's token on its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from participants import services
from participants.keeping import Participant, render_kept
from participants.markdown import to_html
from participants.models import Enrolment
from participants.returning import allow_form, return_instructions
from participants.signals import answers, explaining, telling_pay
from participants.states import ending_of
from participants.steps import Step, StepLeft, StepRefused, step_object
from participants.wording import in_own_language

MAX_POSTED_LENGTH = 3000
"""How many characters of a refused field the page shows again."""


def _invalid_link(request: HttpRequest) -> HttpResponse:
    return render(request, "participants/invalid_link.html", status=404)


def participant_page(view):
    """Decorator: look up the enrolment by its token; invalid links get an explanatory page."""

    @csrf_exempt
    @xframe_options_exempt
    @never_cache
    @in_own_language
    @wraps(view)
    def wrapped(request: HttpRequest, token: str, **kwargs: Any) -> HttpResponse:
        enrolment = Enrolment.objects.filter(token=token).first()
        if enrolment is None:
            return _invalid_link(request)
        if not enrolment.ended and enrolment.expired:
            services.end_expired()
            enrolment.refresh_from_db()
        return view(request, enrolment, **kwargs)

    return wrapped


@csrf_exempt
@xframe_options_exempt
@never_cache
@require_http_methods(["GET", "POST"])
@in_own_language
def page(request: HttpRequest, token: str) -> HttpResponse:
    """Show the current step, or take its answer and redirect back here (303, with the reasons, if refused)."""
    handle = _accept_answer if request.method == "POST" else _show_current_step
    try:
        try:
            return handle(request, token, prepared=False)
        except services.Unprepared as unprepared:
            services.prepare_step(unprepared.enrolment)
            return handle(request, token, prepared=True)
    except StepLeft:
        return redirect(request.get_full_path())
    except Enrolment.DoesNotExist:
        return _invalid_link(request)


def _accept_answer(request: HttpRequest, token: str, *, prepared: bool) -> HttpResponse:
    try:
        position = int(request.POST.get("position", "-1"))
    except ValueError:
        position = -1
    try:
        return redirect(services.answer_step(token=token, prepared=prepared, position=position, data=request.POST))
    except StepRefused as refusal:
        return refused(request, Enrolment.objects.get(token=token), refusal.errors, position=position)


def _show_current_step(request: HttpRequest, token: str, *, prepared: bool) -> HttpResponse:
    enrolment, step = services.show_step(token=token, prepared=prepared)
    if step is None:
        return _render_ending(request, enrolment)
    return _render_step(request, enrolment, step)


def refused(
    request: HttpRequest, enrolment: Enrolment, errors: Mapping[str, Any], *, position: int | None = None
) -> HttpResponse:
    """Redirect (303) to the current step's page, which shows once why the answer was refused."""
    refused_position = enrolment.position if position is None else position
    posted = {name: str(value)[:MAX_POSTED_LENGTH] for name, value in request.POST.items()}
    services.keep_refusal(enrolment_id=enrolment.pk, position=refused_position, posted=posted, errors=errors)
    response = redirect(enrolment)
    response.status_code = 303
    return response


def _render_step(request: HttpRequest, enrolment: Enrolment, step: Step) -> HttpResponse:
    refusal = services.take_refusal(enrolment) or {"posted": {}, "errors": {}}
    posted, errors = refusal["posted"], refusal["errors"]
    if errors:
        step.posted, step.errors = posted, errors
    context = {
        **page_context(enrolment),
        "step": step.kind,
        "title": str(step.title),
        "position": enrolment.position,
        "counted": any(  # whether they have consented to the recording of page use
            step["kind"] == "consent" and step.get("behaviour") for step in enrolment.steps[: enrolment.position]
        ),
        "errors": errors,
        "posted": posted,
        **step.context(),
    }
    if step.kept and not errors and not enrolment.has_unread:
        html = render_kept(step.template, {**context, "enrolment": Participant.of(enrolment)})
    else:
        html = render_to_string(step.template, context, request)
    return allow_form(HttpResponse(html), context.get("return_instructions"))


def _render_ending(request: HttpRequest, enrolment: Enrolment) -> HttpResponse:
    earnings = enrolment.earnings or {}
    ending = ending_of(
        enrolment.state,
        paid=bool(earnings.get("amounts")),
        entry=earnings.get("entry", ""),
        kinds={step["kind"] for step in enrolment.steps if step.get("shown", True)},
        unanswered=bool(services.unanswered(enrolment)),
        by_hand=earnings.get("by_hand", False),
        missed=earnings.get("missed_starts", 0),
    )
    debriefing = earnings.get("debriefing", "")
    instructions = return_instructions(enrolment)
    completion_code = enrolment.completion_code if ending.gives_code else ""
    context = {
        **page_context(enrolment),
        "title": ending.title,
        "ending": ending,
        "return_instructions": instructions,
        "completion_code": instructions.code if instructions is not None else completion_code,
        "earnings": enrolment.earnings,
        "payment_status": [sentence for sentences in answers(telling_pay, enrolment) for sentence in sentences],
        "explanations": [row for rows in answers(explaining, enrolment) for row in rows],
        "debriefing": to_html(debriefing) if debriefing else "",
    }
    return allow_form(render(request, "participants/ending.html", context), instructions)


def page_context(enrolment: Enrolment) -> dict[str, Any]:
    """Return the context of the frame around every page: the steps and the progress.

    A step with a condition is listed once it is known to be shown.
    """
    known = [n for n, step in enumerate(enrolment.steps) if step.get("shown", "show_if" not in step)]
    done = len(known) if enrolment.ended else sum(n < enrolment.position for n in known)
    titles = [str(step_object(enrolment, enrolment.steps[n]).title) for n in known]
    return {"enrolment": enrolment, "progress": {"done": done, "total": len(known), "titles": titles}}


def clock_of(enrolment: Enrolment, *, pauses: bool = False) -> dict[str, Any]:
    """Return the current step's clock for other pages; with `pauses`, opening the page may pause it."""
    if enrolment.ended or enrolment.step is None:
        return {}
    step = step_object(enrolment, enrolment.step)
    paused = step.pause() if pauses else 0
    return {"clock": step.clock(), "paused": paused}


@participant_page
@require_http_methods(["GET", "POST"])
def leave(request: HttpRequest, enrolment: Enrolment) -> HttpResponse:
    """Ask for confirmation (GET) or withdraw the participant (POST)."""
    if request.method == "POST":
        services.withdraw(enrolment_id=enrolment.pk)
        return redirect(enrolment)
    pay_notice = next(
        (step["leaving"] for step in enrolment.steps if "leaving" in step),
        _("You are not paid if you leave before the end."),
    )
    context = {
        **page_context(enrolment),
        **clock_of(enrolment),
        "title": _("Leave the study?"),
        "pays": pay_notice,
        "finished": services.is_finished(enrolment),
        "unanswered": services.unanswered(enrolment),
    }
    return render(request, "participants/leave.html", context)


@participant_page
@require_http_methods(["GET", "POST"])
def problem(request: HttpRequest, enrolment: Enrolment) -> HttpResponse:
    """Take a problem report; the participant can then go back to the current step."""
    sent = False
    if request.method == "POST" and request.POST.get("text", "").strip():
        services.report_problem(enrolment_id=enrolment.pk, text=request.POST["text"].strip())
        sent = True
    clock = clock_of(enrolment, pauses=True)
    context = {**page_context(enrolment), **clock, "title": _("Report a problem"), "sent": sent}
    return render(request, "participants/problem.html", context)
