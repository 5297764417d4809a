"""What holds for the admin's requests alone: no null characters in addresses, and a content security policy."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest

Answer = Callable[[HttpRequest], HttpResponse]
# The admin's theme has inline scripts and styles and evaluates Alpine expressions. Nothing external is loaded,
# nothing is sent elsewhere, and no other page may frame the admin. The settings have the policy of other pages.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


def refuse_nulls(answer: Answer) -> Answer:
    """Refuse addresses with a null character: PostgreSQL cannot compare one."""

    def checked(request: HttpRequest) -> HttpResponse:
        has_null = "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", "")
        if has_null and request.path_info.startswith(settings.ADMIN_PATH):
            return HttpResponseBadRequest("This address contains a null character.", content_type="text/plain")
        return answer(request)

    return checked


def admin_policy(answer: Answer) -> Answer:
    """Add the admin's content security policy where a page has none of its own."""

    def secured(request: HttpRequest) -> HttpResponse:
        response = answer(request)
        if request.path_info.startswith(settings.ADMIN_PATH):
            response.headers.setdefault("Content-Security-Policy", _POLICY)
        return response

    return secured
