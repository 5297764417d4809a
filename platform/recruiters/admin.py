"""Who the participants are to their recruiters: for administrators alone, and only to be read. And oTree's servers."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from unfold.admin import ModelAdmin

from participants.admin import ReadOnlyAdmin
from recruiters import otree
from recruiters.models import Identity, OtreeServer


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


@admin.register(OtreeServer)
class OtreeServerAdmin(ModelAdmin):
    """Which oTree experiment sends people into a study. Deleting it and adding it again gives a new key."""

    list_display = ["study", "addresses"]
    actions = None
    view_on_site = False

    def get_readonly_fields(self, request: HttpRequest, obj: OtreeServer | None = None) -> list[str]:
        """The key depends on the study."""
        return ["study"] if obj else []

    def response_add(
        self, request: HttpRequest, obj: OtreeServer, post_url_continue: str | None = None
    ) -> HttpResponse:
        """The one page that shows the key: it is in no message, session or address."""
        site = request.build_absolute_uri("/").rstrip("/")
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Settings for oTree"),
            "settings": {"PARLEY_URL": site, "PARLEY_STUDY": obj.study, "PARLEY_LINK_KEY": otree.link_key(obj)},
            "list": reverse("admin:recruiters_otreeserver_changelist"),
        }
        response = TemplateResponse(request, "admin/recruiters/otreeserver/made.html", context)
        response["Cache-Control"] = "no-store"
        return response
