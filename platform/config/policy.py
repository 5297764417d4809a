"""The admin's content security policy; the stricter one of participants' pages is in the settings."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin

# The admin's theme has inline scripts and styles and evaluates Alpine expressions. Nothing external is loaded,
# nothing is sent elsewhere, and no other page may frame the admin.
_ADMIN = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


class AdminPolicyMiddleware(MiddlewareMixin):
    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        if request.path_info.startswith(reverse("admin:index")):
            response.headers.setdefault("Content-Security-Policy", _ADMIN)
        return response
