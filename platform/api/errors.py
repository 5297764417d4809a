"""Why a request is refused, as one tree; `str(error)` is the reason that the answer gives."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext as _


class Refused(Exception):
    """Base. `status` is the answer's HTTP status, `fields` says what is wrong with which parameter."""

    status = 400

    def __init__(self, reason: str, *, fields: Mapping[str, str] | None = None):
        super().__init__(reason)
        self.fields = dict(fields or {})


class NotRecognised(Refused):
    """No token, or none that opens anything."""

    status = 401


class OutOfScope(Refused):
    status = 403


class NotFound(Refused):
    """Nothing of that name, or nothing that the token may know of: no answer tells which."""

    status = 404

    def __init__(self, reason: str = ""):
        super().__init__(reason or _("There is nothing here that this token opens."))


class NotNow(Refused):
    """The thing exists, and its present state does not allow the action."""

    status = 409


class NotUnderstood(Refused):
    status = 422
