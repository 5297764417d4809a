"""The base of all admin pages about studies, collections and their objects."""

from __future__ import annotations

from typing import Any, NoReturn

from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest
from unfold.admin import ModelAdmin

from audit.admin import AuditedAdmin
from rights import parts
from rights.admin.lookups import DeclaredLookups
from rights.roles import Role


class PartAdmin(DeclaredLookups, AuditedAdmin, ModelAdmin):
    """Hides rows of studies and collections that the user is not a member of; actions require a role.

    Attributes:
        sees, changes, deletes: the minimum role for each.
    """

    sees, changes, deletes = Role.VIEWER, Role.EDITOR, Role.OWNER

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return parts.visible(request.user, super().get_queryset(request), role=self.sees)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._allowed(request, obj, self.sees)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._allowed(request, None, self.changes)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._allowed(request, obj, self.changes)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._allowed(request, obj, self.deletes)

    def _allowed(self, request: HttpRequest, obj: Model | None, role: Role) -> bool:
        user = request.user
        if user.is_superuser or not parts.is_staff_member(user):
            return bool(user.is_active and user.is_superuser)
        return parts.shared(self.model) if obj is None else parts.may(user, obj, role=role)

    def seen(self, request: HttpRequest, object_id: str, *, role: Role | None = None) -> Any:
        """Return the row that a URL names, if the user has this role in it (default: the minimum to see it).

        Raises:
            Http404: there is none that `request.user` may see.
            PermissionDenied: they may see it, but not do this with it.
        """
        obj = self.get_object(request, object_id)
        if obj is None or not self.has_view_permission(request, obj):
            raise Http404
        if role is not None and not self._allowed(request, obj, role):
            raise PermissionDenied
        return obj

    def parent_of(self, obj: Model) -> Model | None:
        return parts.parent_of(obj)

    def _get_obj_does_not_exist_redirect(self, request: HttpRequest, opts: Any, object_id: str) -> NoReturn:
        raise Http404
