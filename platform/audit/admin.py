"""Audit records of additions, changes and deletions in the admin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Model
from django.http import HttpRequest

from audit import services
from audit.actions import Action


class AuditedAdmin:
    """Adds an audit record of each addition, change and deletion to the admin's own history.

    A page's own actions call `record_action` instead of `log_change`; it writes both.
    """

    def parent_of(self, obj: Model) -> Model | None:
        """Return the study or collection that `obj` belongs to."""
        return None

    def record_action(
        self, request: HttpRequest, obj: Model, action: str, summary: str, details: Mapping[str, Any] | None = None
    ) -> None:
        """Record an action in the object's history and in the audit log.

        Args:
            summary: shown in the object's history.
            details: for the audit log, besides the user, time and object.
        """
        super().log_change(request, obj, summary)  # type: ignore[misc]
        self._record(request, obj, action, details or {})

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        self._record(request, obj, Action.MADE, {})
        return super().log_addition(request, obj, message)  # type: ignore[misc]

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        self._record(request, obj, Action.CHANGED, _changed_fields(message))
        return super().log_change(request, obj, message)  # type: ignore[misc]

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        for obj in queryset:
            self._record(request, obj, Action.DELETED, {})
        return super().log_deletions(request, queryset)  # type: ignore[misc]

    def _record(self, request: HttpRequest, obj: Model, action: str, details: Mapping[str, Any]) -> None:
        services.record(action=action, user=request.user, target=obj, of=self.parent_of(obj), details=details)


def _changed_fields(message: Any) -> dict[str, Any]:
    """Return the names of changed fields, never their values, or a page's message."""
    if isinstance(message, str):
        return {"says": message} if message else {}
    changed = [entry["changed"] for entry in message if "changed" in entry]
    return {"fields": [str(name) for entry in changed for name in entry.get("fields", [])]} if changed else {}
