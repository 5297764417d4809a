"""The monitor's page, its changing part and its actions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from audit.actions import Action
from helping import services as help_services
from helping.models import MAX_CHARACTERS as LONGEST_MESSAGE
from matches.models import Match
from monitoring import services
from monitoring.people import WINDOWS, Window, shortest_window
from monitoring.status import status_of
from rights.admin import trail
from rights.parts import user_of
from rights.roles import Role
from studies import pausing, recruiting
from studies.admin.first_page import COLOURS
from studies.admin.views import of_study, study_admin, whole
from studies.models import Study


@require_GET
@never_cache
@of_study()
def page(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the whole page."""
    title = _("Monitor: {study}").format(study=study.title)
    context = {**trail(study, here=_("Monitor")), **_status_context(request, study)}
    return study_admin().page(request, "admin/monitoring/page.html", title, context)


@require_GET
@never_cache
@of_study()
def status_part(request: HttpRequest, study: Study) -> HttpResponse:
    """Return the part of the page that changes, for its script."""
    return TemplateResponse(request, "admin/monitoring/now.html", _status_context(request, study))


@require_POST
@of_study(role=Role.EDITOR)
def pause(request: HttpRequest, study: Study) -> HttpResponse:
    """Pause the study."""
    done = _("Paused: closed to new participants. Participants who have started can continue.")
    run = partial(services.switch, change=pausing.pause, refusal=_("Only a launched study can be paused."))
    return _run(request, study, run, Action.PAUSED, done)


@require_POST
@of_study(role=Role.EDITOR)
def resume(request: HttpRequest, study: Study) -> HttpResponse:
    """Resume the study."""
    run = partial(services.switch, change=pausing.resume, refusal=_("Only a paused study can be resumed."))
    return _run(request, study, run, Action.RESUMED, _("Resumed: new participants can enter again."))


@require_POST
@of_study(role=Role.EDITOR)
def end_match(request: HttpRequest, study: Study) -> HttpResponse:
    """End a stuck match with pay; its key and the reason are posted."""
    study_matches = Match.objects.filter(seats__enrolment__placement__version__study=study).distinct()
    match = get_object_or_404(study_matches, pk=whole(request.POST.get("match")))

    def end(_study: Study) -> dict[str, Any]:
        ending = services.end_match(match=match, user=request.user, reason=request.POST.get("reason", ""))
        return {"match": str(match.uid), "reason": ending.reason}

    message = _("Match {uid} has been ended, and its participants will be paid.").format(uid=str(match.uid)[:8])
    return _run(request, study, end, Action.MATCH_ENDED, message)


@require_POST
@of_study(role=Role.EDITOR)
def write(request: HttpRequest, study: Study) -> HttpResponse:
    """Write to one participant, those of a match, or everybody in the study; `to` is as in `helping.services`."""

    def send(_study: Study) -> dict[str, Any]:
        try:
            recipients = help_services.Recipients.read(study, request.POST.get("to", ""))
            text = request.POST.get("text", "")
            number = help_services.write(recipients=recipients, author=user_of(request), text=text)
        except help_services.NotSent as refusal:
            raise services.NotDone(str(refusal)) from None
        return {"to": str(recipients.audience), "participants": number}

    return _run(request, study, send, Action.WROTE, _("Your message has been sent."))


@require_POST
@of_study(role=Role.EDITOR)
def close_question(request: HttpRequest, study: Study) -> HttpResponse:
    """Close a participant's questions without an answer."""

    def close(_study: Study) -> None:
        try:
            person = help_services.Recipients.read(study, f"person:{request.POST.get('enrolment', '')}")
        except help_services.NotSent:
            raise services.NotDone(_("There is no such participant.")) from None
        help_services.close_questions(list(person.enrolments.values_list("pk", flat=True)), timezone.now())

    return _run(request, study, close, Action.WROTE, _("The question is closed."))


def _run(request: HttpRequest, study: Study, run: Callable[[Study], Any], action: Action, message: str) -> HttpResponse:
    """Run an action and record it in one transaction, or show why it was refused; then return to the monitor."""
    try:
        with transaction.atomic():
            details = run(study)
            study_admin().record_action(request, study, action, message, details)
    except services.NotDone as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, message)
        if action in (Action.PAUSED, Action.RESUMED) and (outcome := recruiting.follow(study, request.user)):
            (messages.success if outcome.done else messages.error)(request, outcome.sentence)
    return HttpResponseRedirect(reverse("monitoring:page", args=[study.pk]))


def _status_context(request: HttpRequest, study: Study) -> dict[str, Any]:
    window = _window(request, study)
    return {
        "study": study,
        "colour": COLOURS[study.status],
        "status": status_of(study, window),
        "window": window.key,
        "windows": [("hours", _("3 hours")), ("day", _("1 day")), ("weeks", _("3 weeks"))],
        "may_change": study_admin().has_change_permission(request, study),
        "most_characters": services.MAX_CHARACTERS,
        "longest_message": LONGEST_MESSAGE,
    }


def _window(request: HttpRequest, study: Study) -> Window:
    """Return the chosen window; by default, the shortest that shows the latest arrival."""
    return WINDOWS.get(request.GET.get("window", "")) or shortest_window(study)
