"""Matches over plain HTTP, for pages without a socket or JavaScript."""

from __future__ import annotations

import uuid

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from matches import chat, forms, intake, presence, services
from matches.step import current_frame, live_seat
from participants.models import Enrolment
from participants.views import participant_page, refused


@participant_page
@require_http_methods(["GET", "POST"])
def talk(request: HttpRequest, enrolment: Enrolment) -> HttpResponse:
    """GET returns the chat after a message's number. POST stores a message first, or says why not."""
    seat = live_seat(enrolment.token, request.GET.get("step", ""))
    wants_json = request.headers.get("accept", "").startswith("application/json")
    if seat is None or not presence.heard(seat):
        return JsonResponse({"type": "gone"}, status=404) if wants_json else redirect(enrolment)
    posted = request.POST if request.method == "POST" else request.GET
    answer = chat.answer(seat, {"key": uuid.uuid4().hex, **posted.dict()} if request.method == "POST" else posted)
    if wants_json:
        return JsonResponse(answer)
    return (
        refused(request, enrolment, {"": answer["refused"]["reason"]}) if "refused" in answer else redirect(enrolment)
    )


@participant_page
@require_http_methods(["GET", "POST"])
def match(request: HttpRequest, enrolment: Enrolment) -> HttpResponse:
    """GET returns the current frame. POST makes a move and returns the next frame, or the errors."""
    seat = live_seat(enrolment.token, request.GET.get("step", ""))
    wants_json = request.headers.get("accept", "").startswith("application/json")
    if seat is None or not presence.heard(seat):
        return JsonResponse({"type": "gone"}, status=404) if wants_json else redirect(enrolment)
    if request.POST.get("back"):
        services.come_back(match_id=seat.match_id, role=seat.role)
        return JsonResponse({"outcome": None, **current_frame(seat)}) if wants_json else redirect(enrolment)
    outcome = intake.handle_move(seat, request.POST.dict()) if request.method == "POST" else None
    if wants_json:
        return JsonResponse({"outcome": outcome, **current_frame(seat)})
    if outcome and outcome["type"] == "refused":
        return refused(request, enrolment, outcome["errors"])
    if outcome and outcome["type"] == "warning":
        return refused(request, enrolment, {forms.CONFIRMED + outcome["form"]: outcome["words"]})
    return redirect(enrolment)
