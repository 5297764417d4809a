"""Start, watch, stop and delete pilots, with the permissions that users have for the study."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display

from audit.actions import Action
from participants.admin import ReadOnlyAdmin
from piloting import services
from piloting.admin.status import COLOURS, page_context
from piloting.errors import CannotPilot
from piloting.models import Pilot
from piloting.tasks import queue
from rights.admin import at, trail
from rights.parts import user_of
from rights.roles import Role
from studies.admin.records import by_study
from studies.models import Study


@admin.register(Pilot)
class PilotAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "status_label", "people", "player", "created_at", "ended_at"]
    list_filter = ["status", by_study("study")]
    list_select_related = ["study"]
    search_fields = ["study__slug", "study__draft__title"]

    @display(description=gettext_lazy("status"), ordering="status", label=COLOURS)
    def status_label(self, pilot: Pilot) -> tuple[str, str]:
        return pilot.status, pilot.get_status_display()

    # ---- pages -----------------------------------------------------------------------------------------

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        pilot = self.seen(request, object_id)
        context = {
            **page_context(pilot),
            **trail(pilot.study, here=_("Pilot")),
            "colour": COLOURS[pilot.status],
            "may_change": self._allowed(request, pilot, Role.EDITOR),
            "failing": pilot.walkers.exclude(plan="finish").count(),
            "version": pilot.study.versions.filter(sha256=pilot.sha256).first(),
        }
        return self.page(request, "admin/piloting/pilot.html", str(pilot), context)

    @at("<int:object_id>/progress/", "GET")
    def progress(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Return the part of the page that changes while the pilot runs."""
        return render(request, "admin/piloting/report.html", page_context(self.seen(request, str(object_id))))

    # ---- actions -----------------------------------------------------------------------------------------

    @at("begin/<int:study_id>/", "POST")
    def begin(self, request: HttpRequest, study_id: int) -> HttpResponse:
        """Start a pilot of the study as it is saved."""
        study = self.admin_site.get_model_admin(Study).seen(request, str(study_id), role=Role.EDITOR)
        try:
            numbers = {name: int(request.POST.get(name, "0")) for name in ("people", "failing")}
            with transaction.atomic():
                pilot = services.begin(study, player=request.POST.get("player", ""), by=user_of(request), **numbers)
                details = {**numbers, "player": pilot.player, "sha256": pilot.sha256}
                self.record_action(
                    request, pilot, Action.PILOTED, f"Started with {pilot.people} participants.", details
                )
        except ValueError:
            message = _("Enter the numbers of simulated participants as whole numbers, such as 10 and 2.")
            return self.leave_to(request, _page_of(study), message, messages.ERROR)
        except CannotPilot as error:
            return self.leave_to(request, _page_of(study), error, messages.ERROR)
        transaction.on_commit(lambda: queue(pilot.pk))
        return HttpResponseRedirect(pilot.get_absolute_url())

    @at("<int:object_id>/stop/", "POST")
    def stop(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Stop the pilot."""
        pilot = self.seen(request, str(object_id), role=Role.EDITOR)
        try:
            with transaction.atomic():
                services.stop(pilot)
                self.record_action(request, pilot, Action.STOPPED, "Stopped.")
        except CannotPilot as error:
            return self.leave_to(request, pilot.get_absolute_url(), error, messages.ERROR)
        return self.leave_to(request, pilot.get_absolute_url(), _("Pilot stopped."))

    @at("<int:object_id>/remove/", "POST")
    def remove(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Delete a pilot and all its data."""
        pilot = self.seen(request, str(object_id), role=Role.EDITOR)
        study, name = pilot.study, str(pilot)
        try:
            with transaction.atomic():
                self.log_deletions(request, Pilot.objects.filter(pk=pilot.pk))
                services.delete(pilot)
        except CannotPilot as error:
            return self.leave_to(request, pilot.get_absolute_url(), error, messages.ERROR)
        return self.leave_to(request, _page_of(study), _("{pilot} deleted.").format(pilot=name))


def _page_of(study: Study) -> str:
    return reverse("admin:studies_study_change", args=[study.pk])
