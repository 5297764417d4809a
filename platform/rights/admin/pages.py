"""The base of all admin pages about studies, collections and their objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_http_methods
from unfold.admin import ModelAdmin

from audit.admin import AuditedAdmin
from rights import parts
from rights.admin.lookups import DeclaredLookups
from rights.admin.trails import trail
from rights.roles import Role

NO_STORE = {"Cache-Control": "no-store"}
View = TypeVar("View", bound=Callable[..., Any])


def at(route: str, *methods: str, name: str = "") -> Callable[[View], View]:
    """Decorator: serve a method of a `PartAdmin` at an address below the list's.

    Args:
        methods: the HTTP methods that it answers; without any, all.
        name: of the address, after "admin:<app>_<model>_"; by default the method's.
    """

    def mark(view: View) -> View:
        vars(view)["served_at"] = route, methods, name or view.__name__
        return view

    return mark


class PartAdmin(DeclaredLookups, AuditedAdmin, ModelAdmin):
    """Hides rows of studies and collections that the user is not a member of; actions require a role.

    Attributes:
        sees, changes, deletes: the minimum role for each.
    """

    sees, changes, deletes = Role.VIEWER, Role.EDITOR, Role.OWNER

    def get_urls(self) -> list[URLPattern]:
        """Return the addresses of the methods marked by `at`, before Django's own."""
        members = {name: member for kind in reversed(type(self).__mro__) for name, member in vars(kind).items()}
        urls = []
        for attribute, member in members.items():
            if hasattr(member, "served_at"):
                route, methods, name = member.served_at
                view = getattr(self, attribute)
                view = require_http_methods(methods)(view) if methods else view
                urls.append(path(route, self.admin_site.admin_view(view), name=self.named(name)))
        return [*urls, *super().get_urls()]

    def named(self, name: str) -> str:
        """Return the name of an address of this admin, after "admin:"."""
        return f"{self.opts.app_label}_{self.opts.model_name}_{name}"

    def url_of(self, name: str, *arguments: Any) -> str:
        """Return an address of this admin: "changelist", "change" or one of `at`."""
        return reverse(f"admin:{self.named(name)}", args=arguments)

    def page(
        self,
        request: HttpRequest,
        template: str,
        title: Any,
        context: dict[str, Any],
        *,
        of: Model | None = None,
        **response: Any,
    ) -> HttpResponse:
        """Return a page of one's own.

        Args:
            of: the study or collection that it is about, for its breadcrumbs.
            response: the other arguments of TemplateResponse.
        """
        about = {"original": of, **trail(of, here=title)} if of is not None else {}
        site = {**self.admin_site.each_context(request), "opts": self.opts, "title": title}
        return TemplateResponse(request, template, {**site, **about, **context}, **response)

    def leave_to(
        self, request: HttpRequest, address: str, message: Any = "", level: int = messages.SUCCESS
    ) -> HttpResponseRedirect:
        """Redirect to an address, where the message is shown."""
        if message:
            self.message_user(request, str(message), level)
        return HttpResponseRedirect(address)

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        obj = self.get_object(request, object_id) if object_id else None
        context = {**(extra_context or {}), **self.form_context(request, obj)}
        return super().changeform_view(request, object_id, form_url, context)

    def form_context(self, request: HttpRequest, obj: Any) -> dict[str, Any]:
        """Return what the form's page shows besides the form; `obj` is None for a new row."""
        return {}

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
