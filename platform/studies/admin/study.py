"""The admin pages for studies."""

from __future__ import annotations

from django.contrib import admin

from rights.admin import PartAdmin
from studies.models import Study


@admin.register(Study)
class StudyAdmin(PartAdmin):
    list_display = ["title", "status", "created_at"]
    list_filter = ["status"]
    search_fields = ["slug"]
    readonly_fields = ["edit"]
