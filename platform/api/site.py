"""The API object, with every error as JSON."""

from __future__ import annotations

import logging
from math import ceil
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, Throttled, ValidationError

from api.errors import NotFound, Refused
from api.operations import router
from api.seats import router as seats

log = logging.getLogger(__name__)

api = NinjaAPI(
    title="Parley",
    version="1",
    description="Read a study, download its data, pause and resume it; play seats. See docs/api.md, docs/programs.md.",
    urls_namespace="api",
    docs_url=None,
)
api.add_router("", router)
api.add_router("/seats", seats)


def _problem(reason: str, status: int, fields: dict[str, str] | None = None, **details: Any) -> JsonResponse:
    response = JsonResponse({"reason": reason, "fields": fields or {}, **details}, status=status)
    response["Cache-Control"] = "no-store"
    if "wait" in details:
        response["Retry-After"] = str(ceil(details["wait"]))
    if status == 401:
        response["WWW-Authenticate"] = "Bearer"
    return response


@api.exception_handler(Refused)
def refused(request: HttpRequest, error: Refused) -> HttpResponse:
    return _problem(str(error), error.status, error.fields, **error.details)


@api.exception_handler(AuthenticationError)
def without_token(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    return _problem(_("Send a token or secret as “Authorization: Bearer parley_…”."), 401)


@api.exception_handler(Throttled)
def rate_limited(request: HttpRequest, error: Throttled) -> HttpResponse:
    return _problem(_("Too many calls with this token. Wait for the number of seconds given in Retry-After."), 429)


@api.exception_handler(ValidationError)
def invalid_request(request: HttpRequest, error: ValidationError) -> HttpResponse:
    fields = {".".join(str(part) for part in problem["loc"][1:]): problem["msg"] for problem in error.errors}
    return _problem(_("The request is invalid."), 422, fields)


@api.exception_handler(HttpError)
def not_json(request: HttpRequest, error: HttpError) -> HttpResponse:
    """Handle a body that is not JSON."""
    return _problem(_("The request's body must be JSON, or empty."), error.status_code)


@api.exception_handler(Http404)
def not_found(request: HttpRequest, error: Exception) -> HttpResponse:
    return refused(request, NotFound())


@api.exception_handler(Exception)
def internal_error(request: HttpRequest, error: Exception) -> HttpResponse:
    """Handle an internal error: reported as such, and logged with its traceback."""
    log.error("%s %s failed", request.method, request.path, exc_info=error)
    return _problem(_("Internal error. See the server's log."), 500)


def no_such_operation(request: HttpRequest) -> HttpResponse:
    """Refuse every other URL under /api/ as JSON too."""
    return _problem(_("No such operation. See /api/v1/openapi.json."), 404)
