"""What researchers see of participants' reports, and the base of every list that may only be read."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from participants.models import ProblemReport
from rights.admin import PartAdmin


class ReadOnlyAdmin(PartAdmin):
    """Records: they can be looked at and nothing else."""

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
