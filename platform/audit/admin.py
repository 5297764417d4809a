"""What every page of the admin writes down when something is made, changed or deleted with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Model
from django.http import HttpRequest

from audit import services
from audit.actions import Action


class AuditedAdmin:
    """Beside the admin's own history: an audit record of each addition, change and deletion.

    Actions of a page's own call `record_action` instead of `log_change`, which writes both.
    """

    def whole_of(self, obj: Model) -> Model | None:
        """The study or collection that `obj` belongs to."""
        return None

    def record_action(
        self, request: HttpRequest, obj: Model, action: str, says: str, details: Mapping[str, Any] | None = None
    ) -> None:
        """Remember an action in the object's history and in the audit log.

        Args:
            says: for people, in the object's history.
            details: for the audit log, beside who, when and on what.
        """
        super().log_change(request, obj, says)  # type: ignore[misc]
        self._record(request, obj, action, details or {})

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        self._record(request, obj, Action.MADE, {})
        return super().log_addition(request, obj, message)  # type: ignore[misc]

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        self._record(request, obj, Action.CHANGED, _in_short(message))
        return super().log_change(request, obj, message)  # type: ignore[misc]

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        for obj in queryset:
            self._record(request, obj, Action.DELETED, {})
        return super().log_deletions(request, queryset)  # type: ignore[misc]

    def _record(self, request: HttpRequest, obj: Model, action: str, details: Mapping[str, Any]) -> None:
        services.record(action=action, who=request.user, target=obj, of=self.whole_of(obj), details=details)


def _in_short(message: Any) -> dict[str, Any]:
    """Which fields changed, never their values; or what a page said."""
    if isinstance(message, str):
        return {"says": message} if message else {}
    changed = [part["changed"] for part in message if "changed" in part]
    return {"fields": [str(name) for part in changed for name in part.get("fields", [])]} if changed else {}
