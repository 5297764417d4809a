"""The admin pages for studies: edit, launch, monitor and export."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display

from audit.actions import Action
from games import registry
from matches.models import Match
from participants.states import State
from plans.reading import BadPlan
from rights.admin import at
from rights.parts import user_of
from rights.roles import Role
from studies import pausing, recruiting
from studies.admin import preview
from studies.admin.beginnings import Beginnings
from studies.admin.checklist import checklist
from studies.admin.codes import LabCodes, creation_choices
from studies.admin.first_page import COLOURS
from studies.admin.status import status_of
from studies.launching import faults_of, launch
from studies.models import Study
from studies.planned import frozen_analysis
from studies.previewing import preview_source

PURPOSES = ("study", "demo", "simulated")
_COMPLETED = Q(versions__placements__enrolment__state=State.COMPLETED)


class PurposeFilter(admin.SimpleListFilter):
    """Filter by what a study is for."""

    title = gettext_lazy("purpose")
    parameter_name = "purpose"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(purpose.value, purpose.label) for purpose in Match.Purpose if purpose.value in PURPOSES]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(draft__purpose=self.value()) if self.value() else queryset


@admin.register(Study)
class StudyAdmin(Beginnings, LabCodes):
    list_display = ["shown_title", "status_label", "game_titles", "purpose_label", "arrived", "completed", "created_at"]
    list_filter = ["status", PurposeFilter]
    search_fields = ["slug", "draft__title"]
    list_before_template = "admin/studies/study/offers.html"
    list_fullwidth = True
    actions = None
    view_on_site = False

    # ---- the list ------------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Study]:
        """Return the studies, with counts only on the list page: counting slows down as participants accumulate."""
        studies = super().get_queryset(request)
        if request.resolver_match is None or request.resolver_match.url_name != "studies_study_changelist":
            return studies
        return studies.annotate(
            placed_count=Count("versions__placements"),
            completed_count=Count("versions__placements", filter=_COMPLETED),
        )

    @display(description=gettext_lazy("status"), ordering="status", label=COLOURS)
    def status_label(self, study: Study) -> tuple[str, str]:
        return study.status, study.get_status_display()

    @display(description=gettext_lazy("title"), ordering="draft__title")
    def shown_title(self, study: Study) -> str:
        return study.title

    @display(description=gettext_lazy("game"))
    def game_titles(self, study: Study) -> str:
        return ", ".join(str(registry.get(key).title) for key in study.games if key in registry.known()) or "–"

    @display(description=gettext_lazy("purpose"))
    def purpose_label(self, study: Study) -> str:
        return str(Match.Purpose(study.purpose).label) if study.purpose in PURPOSES else study.purpose

    @display(description=gettext_lazy("arrived"), ordering="placed_count")
    def arrived(self, study: Any) -> int:
        return study.placed_count

    @display(description=gettext_lazy("completed"), ordering="completed_count")
    def completed(self, study: Any) -> int:
        return study.completed_count

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """List the studies; with none, show the ways to begin one."""
        begins = self.has_add_permission(request) and not self.get_queryset(request).exists()
        offers = self.offers() if begins else {}
        return super().changelist_view(request, {**(extra_context or {}), **offers})

    # ---- the study's page ----------------------------------------------------------------------------

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show the study's status and the editor of its plan."""
        study = self.seen(request, object_id)
        context = {**self.study_context(request, study), **self.editor_context(request, study), "subtitle": None}
        return self.page(request, "admin/studies/study/change.html", study.title, context)

    def study_context(self, request: HttpRequest, study: Study) -> dict[str, Any]:
        status = status_of(study, request)
        agents = status.draft.agents().values() if status.draft else ()
        return {
            "opts": self.opts,
            "original": study,
            "study": study,
            "status": status,
            "points": checklist(study, request, status.draft, status.costs),
            "planned": frozen_analysis(study),
            "may_change": self.has_change_permission(request, study),
            "may_close": self._allowed(request, study, Role.OWNER),
            "may_delete": self.has_delete_permission(request, study),
            "may_copy": self.has_add_permission(request),
            "previewable": any(not agent.scripted for agent in agents),
            **creation_choices(),
        }

    def has_delete_permission(self, request: HttpRequest, obj: Study | None = None) -> bool:
        """Allow deletion only of drafts that have no records."""
        if obj is not None and (obj.status != Study.Status.DRAFT or obj.versions.exists()):
            return False
        return super().has_delete_permission(request, obj)

    # ---- actions ---------------------------------------------------------------------------------------

    @at("<path:object_id>/prompts/")
    def prompts(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the model prompts of the saved study."""
        study = self.seen(request, object_id)
        return preview.page(self, request, study, lambda: preview_source(study.draft))

    @at("<path:object_id>/launch/", "POST")
    def launch(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Freeze the current settings as a version and open the study; only an owner may reopen a closed one."""
        study = self.seen(request, object_id, role=Role.EDITOR)
        if study.status == Study.Status.CLOSED and not self._allowed(request, study, Role.OWNER):
            raise PermissionDenied
        was_open, places_before = study.status == Study.Status.LAUNCHED, recruiting.places_of(study)
        try:
            with transaction.atomic():
                existing_versions = set(study.versions.values_list("pk", flat=True))
                version = launch(study, by=user_of(request))
                action = Action.RESUMED if version.pk in existing_versions else Action.LAUNCHED
                details = {"version": version.number, "sha256": version.sha256}
                self.record_action(request, study, action, f"Launched version {version.number}.", details)
        except (BadPlan, ValidationError) as error:
            reason = " ".join(fault.what for fault in faults_of(error))
            message = _("Not launched: {reason}").format(reason=reason)
            return self.leave_to(request, self.url_of("change", study.pk), message, messages.ERROR)
        message = _("Version {number} is launched and open to participants.").format(number=version.number)
        self.message_user(request, message, messages.SUCCESS)
        if not was_open:
            self._tell(request, recruiting.follow(study, request.user))
        if places_before and (added := recruiting.places_of(study) - places_before) > 0:
            self._tell(request, recruiting.add_places(study, request.user, number=added))
        return self.leave_to(request, self.url_of("change", study.pk))

    @at("<path:object_id>/pause/", "POST")
    def pause(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Close the study to new participants for now; current participants continue."""
        study = self.seen(request, object_id, role=Role.EDITOR)
        return self._change_status(
            request, study, pausing.pause, Action.PAUSED, _("Paused: closed to new participants.")
        )

    @at("<path:object_id>/close/", "POST")
    def close(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Close the study to new participants for good; current participants continue."""
        study = self.seen(request, object_id, role=Role.OWNER)
        return self._change_status(request, study, pausing.close, Action.CLOSED, _("Closed to new participants."))

    def _change_status(
        self, request: HttpRequest, study: Study, change: Callable[[Study], bool], action: Action, message: str
    ) -> HttpResponse:
        try:
            with transaction.atomic():
                if change(study):
                    self.record_action(request, study, action, message)
        except pausing.NotRunning as reason:
            return self.leave_to(request, self.url_of("change", study.pk), reason, messages.WARNING)
        self.message_user(request, message, messages.SUCCESS)
        return self._told(request, study, recruiting.follow(study, request.user))

    @at("<path:object_id>/follow/", "POST")
    def follow(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Try again to do at the recruiter what the study's status asks for."""
        study = self.seen(request, object_id, role=Role.EDITOR)
        return self._told(request, study, recruiting.follow(study, request.user))

    @at("<path:object_id>/add_places/", "POST")
    def add_places(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Offer all places of the launched version at the recruiter."""
        study = self.seen(request, object_id, role=Role.EDITOR)
        return self._told(request, study, recruiting.add_places(study, request.user))

    def _tell(self, request: HttpRequest, outcome: recruiting.Outcome | None) -> None:
        """Show what happened at the recruiter, if anything."""
        if outcome is not None:
            self.message_user(request, outcome.sentence, messages.SUCCESS if outcome.done else messages.ERROR)

    def _told(self, request: HttpRequest, study: Study, outcome: recruiting.Outcome | None) -> HttpResponse:
        self._tell(request, outcome)
        return self.leave_to(request, self.url_of("change", study.pk))
