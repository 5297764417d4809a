"""The lobby over plain HTTP: what pages ask when the socket is lost."""

from __future__ import annotations

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_GET

from lobby.step import asked
from participants.models import Enrolment
from participants.views import participant_page


@participant_page
@require_GET
def lobby(request: HttpRequest, enrolment: Enrolment) -> JsonResponse:
    """Who is here; asking says that this person is."""
    return JsonResponse(asked(enrolment.token))
