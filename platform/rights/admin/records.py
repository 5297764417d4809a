"""The audit log: all of it for superusers; for owners, that of their studies and collections."""

from __future__ import annotations

import json
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from audit.actions import Action
from audit.models import Record
from rights import parts
from rights.admin.pages import PartAdmin
from rights.roles import Role


class ByStudyOrCollection(admin.SimpleListFilter):
    """Filters by study or collection; the value is its kind and key, such as "studies.study:3"."""

    title = _("study or collection")
    parameter_name = "of"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        pairs = model_admin.get_queryset(request).order_by().values_list("of_kind", "of_key").distinct()
        choices = []
        for model in parts.parent_models():
            kind = model._meta.label_lower
            keys = [key for of_kind, key in pairs if of_kind == kind]
            choices += [(f"{kind}:{row.pk}", str(row)) for row in model._base_manager.filter(pk__in=keys)]
        return sorted(choices, key=lambda choice: choice[1])

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        kind, _colon, key = (self.value() or "").partition(":")
        return queryset.filter(of_kind=kind, of_key=key) if key else queryset


class ByAction(admin.SimpleListFilter):
    title = _("action")
    parameter_name = "action"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return Action.choices

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        return queryset.filter(action=self.value()) if self.value() else queryset


class ByKind(admin.SimpleListFilter):
    title = _("kind of object")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        kinds = model_admin.get_queryset(request).order_by().values_list("kind", flat=True).distinct()
        return [(kind, _kind(kind)) for kind in sorted(kinds) if kind]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        return queryset.filter(kind=self.value()) if self.value() else queryset


@admin.register(Record)
class RecordAdmin(PartAdmin):
    sees = Role.OWNER
    list_display = ["at", "actor", "what", "object", "summary"]
    list_display_links = ["at"]
    list_filter = [ByStudyOrCollection, ByAction, ByKind]
    search_fields = ["by", "title"]
    date_hierarchy = "at"
    list_per_page = 50
    list_fullwidth = True
    view_on_site = False
    show_full_result_count = False
    fields = ["at", "actor", "what", "object", "details_text"]
    readonly_fields = fields

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_change_permission = has_delete_permission = has_add_permission

    @display(description=_("who"), ordering="by")
    def actor(self, record: Record) -> str:
        return record.by or "–"

    @display(description=_("action"), ordering="action")
    def what(self, record: Record) -> str:
        return record.what

    @display(description=_("object"), ordering="title")
    def object(self, record: Record) -> str:
        title = f"{_kind(record.kind)}: {record.title}" if record.kind else "–"
        try:
            url = reverse(f"admin:{record.kind.replace('.', '_')}_change", args=[record.key])
        except NoReverseMatch:
            return title
        return format_html('<a href="{}" class="text-link">{}</a>', url, title)

    @display(description=_("details"))
    def summary(self, record: Record) -> str:
        return " · ".join(f"{name}: {_plain(value)}" for name, value in record.details.items())[:300] or "–"

    @display(description=_("details"))
    def details_text(self, record: Record) -> str:
        return format_html("<pre>{}</pre>", json.dumps(record.details, indent=2, ensure_ascii=False))


def _kind(label: str) -> str:
    try:
        return str(apps.get_model(label)._meta.verbose_name)
    except (LookupError, ValueError):
        return label


def _plain(value: Any) -> str:
    if value is None:
        return "–"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
