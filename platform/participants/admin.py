"""Problem reports in the admin, and the base class of every read-only list."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from participants.models import ProblemReport
from rights.admin import PartAdmin


class ReadOnlyAdmin(PartAdmin):
    """Base class for records that can be viewed but not added, changed or deleted."""

    list_per_page = 50
    list_fullwidth = True
    view_on_site = False
    compressed_fields = True

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(ProblemReport)
class ProblemReportAdmin(ReadOnlyAdmin):
    list_display = ["at", "enrolment", "text"]
    list_select_related = ["enrolment"]
    search_fields = ["text", "enrolment__pseudonym"]
    date_hierarchy = "at"
