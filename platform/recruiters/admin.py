"""Who the participants are to their recruiters: for administrators alone, and only to be read."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from participants.admin import ReadOnlyAdmin
from recruiters.models import Identity


@admin.register(Identity)
class IdentityAdmin(ReadOnlyAdmin):
    list_display = ["enrolment", "study", "recruiter"]
    list_filter = ["recruiter", "study"]
    list_select_related = ["enrolment"]
    search_fields = ["worker", "enrolment__pseudonym"]
    fields = ["enrolment", "study", "recruiter", "worker"]

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)
