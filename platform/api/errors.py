"""Errors with which requests are refused; `str(error)` is the reason given in the response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _


class Refused(Exception):
    """Base class. `status` is the HTTP status code; `fields` holds the errors by parameter.

    `details` are further keys of the response.
    """

    status = 400

    def __init__(self, reason: str, *, fields: Mapping[str, str] | None = None, **details: Any):
        super().__init__(reason)
        self.fields = dict(fields or {})
        self.details = details


class InvalidToken(Refused):
    """The token is missing or invalid."""

    status = 401


class OutOfScope(Refused):
    status = 403


class NotFound(Refused):
    """The object does not exist, or the token has no access to it; the response does not reveal which."""

    status = 404

    def __init__(self, reason: str = ""):
        super().__init__(reason or _("Not found, or not accessible with this token."))


class Conflict(Refused):
    """The object exists, but its current state does not allow the operation."""

    status = 409


class Slowed(Refused):
    """The request may be sent again after `wait` seconds; nothing was lost."""

    status = 429

    def __init__(self, reason: str, *, wait: float):
        super().__init__(reason, wait=wait)


class InvalidRequest(Refused):
    status = 422
