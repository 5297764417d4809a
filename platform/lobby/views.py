"""The lobby over plain HTTP, for pages without a socket."""

from __future__ import annotations

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_GET

from lobby.step import answer_request
from participants.models import Enrolment
from participants.views import participant_page


@participant_page
@require_GET
def lobby(request: HttpRequest, enrolment: Enrolment) -> JsonResponse:
    """Return who is present; the request also counts as presence."""
    return JsonResponse(answer_request(enrolment.token))
