"""The admin pages for studies: set up, launch, monitor and export."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST
from unfold.decorators import display

from audit.actions import Action
from games import registry
from games.interface import Game
from opponents.listing import listed_models, priced_models, usable_endpoints
from participants.states import State
from rights.parts import visible
from rights.roles import Role
from studies import pausing, recruiting
from studies.admin import preview
from studies.admin.codes import LabCodes, creation_choices
from studies.admin.first_page import COLOURS
from studies.admin.live_preview import LivePreview
from studies.admin.meanwhile import THEIRS
from studies.admin.presets_and_copies import PresetsAndCopies
from studies.admin.setup_form import STEPS, conditions, fieldsets, study_form
from studies.admin.status import status_of
from studies.launching import launch
from studies.models import Study
from studies.previewing import preview_source

_COMPLETED = Q(versions__cells__placements__enrolment__state=State.COMPLETED)


@admin.register(Study)
class StudyAdmin(PresetsAndCopies, LabCodes, LivePreview):
    list_display = ["title", "status_label", "game_title", "purpose", "arrived", "completed", "created_at"]
    list_filter = ["status", "purpose", "game"]
    search_fields = ["title", "slug"]
    prepopulated_fields = {"slug": ["title"]}
    conditional_fields = {
        "announced_average": "pay_rule != 'linear'",
        "rate": "pay_rule == 'linear'",
        **{name: condition for key in registry.keys() for name, condition in conditions(registry.get(key)).items()},
    }
    change_form_before_template = "admin/studies/study/steps.html"
    change_form_after_template = "admin/studies/study/live_preview.html"
    change_form_outer_before_template = "admin/studies/study/status.html"
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
            placed_count=Count("versions__cells__placements"),
            completed_count=Count("versions__cells__placements", filter=_COMPLETED),
        )

    @display(description=gettext_lazy("status"), ordering="status", label=COLOURS)
    def status_label(self, study: Study) -> tuple[str, str]:
        return study.status, study.get_status_display()

    @display(description=gettext_lazy("game"), ordering="game")
    def game_title(self, study: Study) -> str:
        return str(registry.get(study.game).title)

    @display(description=gettext_lazy("arrived"), ordering="placed_count")
    def arrived(self, study: Any) -> int:
        return study.placed_count

    @display(description=gettext_lazy("completed"), ordering="completed_count")
    def completed(self, study: Any) -> int:
        return study.completed_count

    # ---- the form ------------------------------------------------------------------------------------

    def get_form(self, request: HttpRequest, obj: Study | None = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(
            request,
            obj,
            change=change,
            form=study_form(_game(request, obj), visible(request.user, Study.objects.all())),
            **kwargs,
        )

    def get_fieldsets(self, request: HttpRequest, obj: Study | None = None) -> Any:
        return fieldsets(_game(request, obj))

    def get_prepopulated_fields(self, request: HttpRequest, obj: Study | None = None) -> Any:
        return {} if obj else self.prepopulated_fields

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Ask for the game first, since everything else depends on it; then show the form."""
        if _requested_game(request) is None and self.has_add_permission(request):
            games = [registry.get(key) for key in registry.keys()]
            context = {
                **self.admin_site.each_context(request),
                "opts": self.opts,
                "title": _("Which game?"),
                "games": [{"key": game.key, "title": game.title, "summary": game.summary} for game in games],
            }
            return TemplateResponse(request, "admin/studies/study/choose_game.html", context)
        return super().add_view(request, form_url, extra_context)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        with transaction.atomic():
            study = self.get_object(request, object_id)
            if study is not None and request.method == "POST":
                # Of two people who save at once, the second is shown what the first changed.
                Study.objects.select_for_update().get(pk=study.pk)
            context = dict(extra_context or {})
            if study is not None and self.has_view_permission(request, study):
                context |= {
                    "status": status_of(study, request),
                    "study": study,
                    "may_change": self.has_change_permission(request, study),
                    "may_close": self._allowed(request, study, Role.OWNER),
                    "may_copy": self.has_add_permission(request),
                    **creation_choices(),
                }
            return super().change_view(request, object_id, form_url, context)

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Offer a single save button, which leads to the study's page."""
        buttons = {"show_save_and_add_another": False, "show_save_and_continue": False}
        live_preview = (
            reverse("admin:studies_study_live_preview", args=[object_id])
            if object_id
            else reverse("admin:studies_study_add_live_preview")
        )
        setup_context = {"setup_steps": STEPS, "take_theirs": THEIRS, "live_preview_url": live_preview}
        return super().changeform_view(
            request, object_id, form_url, {**(extra_context or {}), **buttons, **setup_context}
        )

    def save_model(self, request: HttpRequest, obj: Study, form: Any, change: bool) -> None:
        if not change:
            obj.created_by = request.user
        super().save_model(request, obj, form, change)

    def response_add(self, request: HttpRequest, obj: Study, post_url_continue: str | None = None) -> HttpResponse:
        self.message_user(
            request,
            _("Saved as a draft. Run a pilot, then launch the study when you are happy with it."),
            messages.SUCCESS,
        )
        return _redirect_to_study(obj)

    def response_change(self, request: HttpRequest, obj: Study) -> HttpResponse:
        if obj.status != Study.Status.DRAFT:
            self._report_draft(request, obj)
        else:
            self.message_user(request, _("Saved."), messages.SUCCESS)
        return _redirect_to_study(obj)

    def _report_draft(self, request: HttpRequest, study: Study) -> None:
        """Tell the user that an edit of a launched study is a draft until it is launched."""
        status = status_of(study, request)
        if not status.unlaunched:
            message = _("Saved. Nothing differs from version {number}.").format(number=status.versions[0].number)
        else:
            message = _(
                "Saved as a draft of version {next}. Participants stay on version {number} until you launch the draft."
            ).format(next=status.versions[0].number + 1, number=status.versions[0].number)
        self.message_user(request, message, messages.SUCCESS)

    def has_delete_permission(self, request: HttpRequest, obj: Study | None = None) -> bool:
        """Allow deletion only of drafts that have no records."""
        if obj is not None and (obj.status != Study.Status.DRAFT or obj.versions.exists()):
            return False
        return super().has_delete_permission(request, obj)

    # ---- actions ---------------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        actions = {
            "launch": self.launch,
            "pause": self.pause,
            "close": self.close,
            "follow": self.follow,
            "add_places": self.add_places,
        }
        status_urls = [
            path(
                f"<path:object_id>/{name}/",
                self.admin_site.admin_view(require_POST(action)),
                name=f"studies_study_{name}",
            )
            for name, action in actions.items()
        ]
        prompts = [
            path("add/prompts/", self.admin_site.admin_view(self.prompts), name="studies_study_add_prompts"),
            path("<path:object_id>/prompts/", self.admin_site.admin_view(self.prompts), name="studies_study_prompts"),
        ]
        models = path("models/", self.admin_site.admin_view(self.listed_models), name="studies_study_models")
        return [
            models,
            *status_urls,
            *self.codes_urls(),
            *prompts,
            *self.creation_urls(),
            *self.live_preview_urls(),
            *super().get_urls(),
        ]

    def listed_models(self, request: HttpRequest) -> HttpResponse:
        """Return {models}: the models that `endpoint` lists, for users who may set up a study."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        name = request.GET.get("endpoint", "")
        is_usable = name in dict(usable_endpoints())
        return JsonResponse({"models": sorted({*priced_models(name), *listed_models(name)}) if is_usable else []})

    def prompts(self, request: HttpRequest, object_id: str = "") -> HttpResponse:
        """Show the model prompts of the saved study or, for POST, of the form as filled in; nothing is saved."""
        study = self.seen(request, object_id) if object_id else None
        is_post = request.method == "POST"
        if study is None and not (is_post and self.has_add_permission(request)):
            raise PermissionDenied
        return preview.page(
            request,
            site=self.admin_site,
            opts=self.opts,
            title=study.title if study else _("a new study"),
            load_source=lambda: preview_source(
                self._study_from_form(request, study) if is_post or study is None else study
            ),
            parent=study if study and not is_post else None,
        )

    def _study_from_form(self, request: HttpRequest, study: Study | None) -> Study:
        """Return the study that the form would save.

        Raises:
            ValueError: it could not be saved; the message lists the errors by field.
        """
        form = self.get_form(request, study, change=study is not None)(
            preview.with_placeholder_names(request.POST), instance=study
        )
        preview.raise_if_invalid(form)
        study_from_form: Study = form.instance
        return study_from_form

    def launch(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Freeze the current settings as a version and open the study; only an owner may reopen a closed one."""
        study = self.seen(request, object_id, role=Role.EDITOR)
        if study.status == Study.Status.CLOSED and not self._allowed(request, study, Role.OWNER):
            raise PermissionDenied
        was_open, places_before = study.status == Study.Status.LAUNCHED, recruiting.places_of(study)
        try:
            with transaction.atomic():
                existing_versions = set(study.versions.values_list("pk", flat=True))
                version = launch(study)
                action = Action.RESUMED if version.pk in existing_versions else Action.LAUNCHED
                details = {"version": version.number, "sha256": version.sha256}
                self.record_action(request, study, action, f"Launched version {version.number}.", details)
        except ValidationError as error:
            self.message_user(
                request, _("Not launched: {reason}").format(reason=" ".join(error.messages)), messages.ERROR
            )
            return _redirect_to_study(study)
        self.message_user(
            request,
            _("Version {number} is launched and open to participants.").format(number=version.number),
            messages.SUCCESS,
        )
        if not was_open:
            self._tell(request, recruiting.follow(study, request.user))
        if places_before and (added := recruiting.places_of(study) - places_before) > 0:
            self._tell(request, recruiting.add_places(study, request.user, number=added))
        return _redirect_to_study(study)

    def pause(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Close the study to new participants for now; current participants continue."""
        study = self.seen(request, object_id, role=Role.EDITOR)
        return self._change_status(
            request, study, pausing.pause, Action.PAUSED, _("Paused: closed to new participants.")
        )

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
            self.message_user(request, str(reason), messages.WARNING)
            return _redirect_to_study(study)
        self.message_user(request, message, messages.SUCCESS)
        self._tell(request, recruiting.follow(study, request.user))
        return _redirect_to_study(study)

    def follow(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Try again to do at the recruiter what the study's status asks for."""
        study = self.seen(request, object_id, role=Role.EDITOR)
        self._tell(request, recruiting.follow(study, request.user))
        return _redirect_to_study(study)

    def add_places(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Offer all places of the launched version at the recruiter."""
        study = self.seen(request, object_id, role=Role.EDITOR)
        self._tell(request, recruiting.add_places(study, request.user))
        return _redirect_to_study(study)

    def _tell(self, request: HttpRequest, outcome: recruiting.Outcome | None) -> None:
        """Show what happened at the recruiter, if anything."""
        if outcome is not None:
            self.message_user(request, outcome.sentence, messages.SUCCESS if outcome.done else messages.ERROR)


def _requested_game(request: HttpRequest) -> type[Game[Any, Any]] | None:
    """Return the game for a new study: the requested one, or the only one installed."""
    keys = registry.keys()
    requested = request.GET.get("game") or request.POST.get("game") or (keys[0] if len(keys) == 1 else "")
    return registry.get(requested) if requested in keys else None


def _game(request: HttpRequest, study: Study | None) -> type[Game[Any, Any]]:
    if study is not None:
        return registry.get(study.game)
    return _requested_game(request) or registry.get(registry.keys()[0])


def _redirect_to_study(study: Study) -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse("admin:studies_study_change", args=[study.pk]))
