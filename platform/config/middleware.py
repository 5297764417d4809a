"""What differs between the requests of the admin and those of participants: policies, characters, accounts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, HttpResponseBase

Answer = Callable[[HttpRequest], HttpResponse]
_after_accounts: Answer
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


class ContentPolicy(CSPMiddleware):
    """Adds a content security policy; django-csp builds those of single pages anew, and the usual one once."""

    @cached_property
    def _usual(self) -> str:
        return build_policy()

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if request.path_info.startswith(settings.ADMIN_PATH):
            response.headers.setdefault(HEADER, _POLICY)
        elif settings.DEBUG or hasattr(response, "_csp_update"):
            return super().process_response(request, response)
        else:
            response.headers.setdefault(HEADER, self._usual)
        return response


def after_accounts(answer: Answer) -> Answer:
    """Where `skip_accounts` leads; Django loads it just before that."""
    global _after_accounts
    _after_accounts = answer
    return answer


def skip_accounts(answer: Answer) -> Answer:
    """Lead the requests of participants past all middleware before `after_accounts`."""
    skipping = _after_accounts

    def chosen(request: HttpRequest) -> HttpResponse:
        return (skipping if request.path_info.startswith(settings.PARTICIPANTS_PATHS) else answer)(request)

    return chosen
