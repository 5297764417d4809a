"""The lobby over plain HTTP, for pages without a socket."""

from __future__ import annotations

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_http_methods

from lobby.step import answer_request, say_ready
from participants.models import Enrolment
from participants.views import participant_page


@participant_page
@require_http_methods(["GET", "POST"])
def lobby(request: HttpRequest, enrolment: Enrolment) -> JsonResponse:
    """Return what the page shows; the request also counts as presence, and a POST says that they are ready."""
    group = request.POST.get("group", "")
    if group.isdecimal():
        say_ready(enrolment.token, int(group))
    return JsonResponse(answer_request(enrolment.token))
