"""Read-only admin page for the matches of collections, including those not started yet."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from collecting.admin.status import ITEM_COLOURS, dollars
from collecting.models import Collection, Item
from participants.admin import ReadOnlyAdmin
from rights.admin import ByKey
from rights.parts import visible


class CollectionFilter(ByKey):
    title = _("collection")
    parameter_name = lookup = "collection"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        collections = visible(request.user, Collection.objects.order_by("title"))
        return [(str(pk), title) for pk, title in collections.values_list("pk", "title")]


@admin.register(Item)
class ItemAdmin(ReadOnlyAdmin):
    list_display = ["number", "title", "status_label", "transcript", "decisions", "spent", "problem", "ended_at"]
    list_display_links = None
    list_filter = ["status", CollectionFilter]
    show_full_result_count = False
    fields = [
        "collection",
        "number",
        "name",
        "status",
        "match",
        "decisions",
        "cost",
        "problem",
        "unverified",
        "ended_at",
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Item]:
        items = super().get_queryset(request).select_related("collection", "match")
        return items.defer(
            "collection__document", "collection__frozen", "match__snapshot", "match__texts", "match__config"
        )

    @display(description=_("collection"))
    def title(self, item: Item) -> str:
        return item.collection.title

    @display(description=_("status"), ordering="status", label=ITEM_COLOURS)
    def status_label(self, item: Item) -> tuple[str, str]:
        return item.status, item.get_status_display()

    @display(description=_("match"))
    def transcript(self, item: Item) -> str:
        if item.match is None:
            return "–"
        url = reverse("admin:matches_match_change", args=[item.match_id])
        return format_html('<a href="{}" class="text-link">{}</a>', url, str(item.match.uid)[:8])

    @display(description=_("cost"), ordering="cost")
    def spent(self, item: Item) -> str:
        return dollars(item.cost) if item.cost else "–"
