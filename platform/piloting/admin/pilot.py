"""Pilots: begun, watched, stopped, read, deleted by whoever may do as much with their study."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST
from unfold.decorators import display

from participants.admin import ReadOnlyAdmin
from piloting import services
from piloting.admin.standing import COLOURS, page_of
from piloting.errors import CannotPilot
from piloting.models import Pilot
from piloting.tasks import queue
from studies.models import Study


@admin.register(Pilot)
class PilotAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "standing", "people", "player", "created_at", "ended_at"]
    list_filter = ["status", "study"]
    list_select_related = ["study"]
    search_fields = ["study__title", "study__slug"]

    @display(description=gettext_lazy("status"), ordering="status", label=COLOURS)
    def standing(self, pilot: Pilot) -> tuple[str, str]:
        return pilot.status, pilot.get_status_display()

    # ---- who may: whoever may do as much with the study ------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Pilot]:
        seen = self._studies().get_queryset(request).order_by().values("pk")
        return super().get_queryset(request).filter(study__in=seen)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self._studies().has_module_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Pilot | None = None) -> bool:
        return self._studies().has_view_permission(request, obj.study if obj else None)

    def _may_change(self, request: HttpRequest, study: Study) -> bool:
        return self._studies().has_change_permission(request, study)

    def _studies(self) -> Any:
        return self.admin_site.get_model_admin(Study)

    # ---- pages -----------------------------------------------------------------------------------------

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        pilot = self._found(request, object_id)
        context = {
            **self.admin_site.each_context(request),
            **self._page(request, pilot),
            "opts": self.opts,
            "title": str(pilot),
            "colour": COLOURS[pilot.status],
            "may_change": self._may_change(request, pilot.study),
            "failing": pilot.walkers.exclude(plan="finish").count(),
            "version": pilot.study.versions.filter(sha256=pilot.sha256).first(),
        }
        return TemplateResponse(request, "admin/piloting/pilot.html", context)

    def progress(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The part of the page that changes while the pilot runs."""
        return render(request, "admin/piloting/report.html", self._page(request, self._found(request, object_id)))

    def _page(self, request: HttpRequest, pilot: Pilot) -> dict[str, Any]:
        return {**page_of(pilot), "may_see_matches": request.user.has_perm("matches.view_match")}

    def _found(self, request: HttpRequest, object_id: str) -> Pilot:
        pilot = get_object_or_404(self.get_queryset(request), pk=object_id)
        if not self.has_view_permission(request, pilot):
            raise PermissionDenied
        return pilot

    # ---- deeds -----------------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        views = {
            "begin/<int:study_id>/": ("begin", require_POST(self.begin)),
            "<int:object_id>/progress/": ("progress", require_GET(self.progress)),
            "<int:object_id>/stop/": ("stop", require_POST(self.stop)),
            "<int:object_id>/remove/": ("remove", require_POST(self.remove)),
        }
        own = [
            path(route, self.admin_site.admin_view(view), name=f"piloting_pilot_{name}")
            for route, (name, view) in views.items()
        ]
        return [*own, *super().get_urls()]

    def begin(self, request: HttpRequest, study_id: int) -> HttpResponse:
        """Let simulated people into a study as it is saved."""
        study = get_object_or_404(self._studies().get_queryset(request), pk=study_id)
        if not self._may_change(request, study):
            raise PermissionDenied
        try:
            numbers = {name: int(request.POST.get(name, "0")) for name in ("people", "failing")}
            pilot = services.begin(study, player=request.POST.get("player", ""), by=request.user, **numbers)
        except ValueError:
            self.message_user(request, _("Please say in whole numbers how many people there are."), messages.ERROR)
            return _to_study(study)
        except CannotPilot as error:
            self.message_user(request, str(error), messages.ERROR)
            return _to_study(study)
        transaction.on_commit(lambda: queue(pilot.pk))
        self.log_addition(request, pilot, f"Begun with {pilot.people} people.")
        return HttpResponseRedirect(pilot.get_absolute_url())

    def stop(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Let nobody go on."""
        pilot = self._changeable(request, object_id)
        try:
            services.stop(pilot)
        except CannotPilot as error:
            self.message_user(request, str(error), messages.ERROR)
            return HttpResponseRedirect(pilot.get_absolute_url())
        self.log_change(request, pilot, "Stopped.")
        self.message_user(request, _("Stopped: nobody goes on."), messages.SUCCESS)
        return HttpResponseRedirect(pilot.get_absolute_url())

    def remove(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Delete a pilot with everything that it left."""
        pilot = self._changeable(request, object_id)
        study = pilot.study
        said = str(pilot)
        try:
            services.delete(pilot)
        except CannotPilot as error:
            self.message_user(request, str(error), messages.ERROR)
            return HttpResponseRedirect(pilot.get_absolute_url())
        self._studies().log_change(request, study, f"Deleted pilot {pilot.number}.")
        self.message_user(request, _("{pilot} is deleted.").format(pilot=said), messages.SUCCESS)
        return _to_study(study)

    def _changeable(self, request: HttpRequest, object_id: int) -> Pilot:
        pilot = self._found(request, str(object_id))
        if not self._may_change(request, pilot.study):
            raise PermissionDenied
        return pilot


def _to_study(study: Study) -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse("admin:studies_study_change", args=[study.pk]))
