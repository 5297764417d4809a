"""Plan, start and monitor collections; a collection's plan never changes once it is created."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Sum
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_POST
from unfold.decorators import display

from audit.actions import Action
from collecting import forms, services
from collecting.admin.status import (
    COLOURS,
    allowed_actions,
    as_text,
    dollars,
    game_title,
    percent,
    plan_of,
    size,
    status_of,
)
from collecting.errors import BadPlan, WrongState
from collecting.models import Collection, Item
from collecting.planning import content_of, make_collection
from collecting.previewing import preview_source
from collecting.progress import progress
from collecting.stages import results_of
from games import grids, registry
from games.interface import Game
from rights.admin import MembersPage, trail
from rights.roles import Role
from studies.admin import preview
from studies.admin.entry_fields import entries_html
from studies.admin.table_fields import largest_seats
from studies.previewing import PreviewSource

MAX_ANALYSED = 5000
"""Maximum number of finished matches that the results page uses."""
MAX_LISTED = 100
"""Maximum number of grid configurations that can be copied into a list for editing."""
SCRIPTED_FIELDS = ("agents", "listed", "fixed", "pool", "by_hand")
"""The form's fields that a script draws, including their errors."""
ENDED = Q(status__in=[Item.Status.FINISHED, Item.Status.FAILED])


@admin.register(Collection)
class CollectionAdmin(MembersPage):
    list_display = ["title", "status_label", "game_title", "source", "ended", "decisions", "cost", "created_at"]
    list_filter = ["status", "game", "source"]
    search_fields = ["title", "slug"]
    prepopulated_fields = {"slug": ["title"]}
    conditional_fields = {
        name: condition for key in registry.keys() for name, condition in forms.conditions(registry.get(key)).items()
    }
    change_form_outer_before_template = "admin/collecting/collection/add_before.html"
    change_form_after_template = "admin/collecting/collection/size.html"
    list_fullwidth = True
    warn_unsaved_form = True
    actions = None
    view_on_site = False

    # ---- the list ------------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Collection]:
        items = Item.objects.filter(collection=OuterRef("pk")).order_by().values("collection")
        return (
            super()
            .get_queryset(request)
            .defer("content")
            .select_related("created_by")
            .annotate(
                ended_count=Subquery(items.filter(ENDED).annotate(all=Count("pk")).values("all")),
                decision_count=Subquery(items.annotate(all=Sum("decisions")).values("all")),
                spent=Subquery(items.annotate(all=Sum("cost")).values("all")),
            )
        )

    @display(description=gettext_lazy("status"), ordering="status", label=COLOURS)
    def status_label(self, collection: Collection) -> tuple[str, str]:
        return collection.status, collection.get_status_display()

    @display(description=gettext_lazy("game"), ordering="game")
    def game_title(self, collection: Collection) -> str:
        return game_title(collection.game)

    @display(description=gettext_lazy("matches ended"))
    def ended(self, collection: Any) -> str:
        ended = collection.ended_count or 0
        share = percent(ended / collection.planned) if collection.planned else "–"
        return _("{ended} of {planned} ({share})").format(
            ended=f"{ended:,}", planned=f"{collection.planned:,}", share=share
        )

    @display(description=gettext_lazy("decisions"))
    def decisions(self, collection: Any) -> str:
        return f"{collection.decision_count or 0:,}"

    @display(description=gettext_lazy("cost"))
    def cost(self, collection: Any) -> str:
        return dollars(collection.spent) if collection.spent else "–"

    # ---- making one ----------------------------------------------------------------------------------

    def get_form(self, request: HttpRequest, obj: Collection | None = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change=change, form=forms.plan_form(_game(request)), **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: Collection | None = None) -> Any:
        return forms.fieldsets(_game(request))

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
            return TemplateResponse(request, "admin/collecting/collection/choose_game.html", context)
        only_save = {"show_save_and_add_another": False, "show_save_and_continue": False}
        try:
            return super().add_view(request, form_url, {**(extra_context or {}), **only_save})
        except (BadPlan, IntegrityError) as error:
            # The short name was taken while this collection was being created.
            self.message_user(request, _("Not created: {reason}").format(reason=error), messages.ERROR)
            return HttpResponseRedirect(reverse("admin:collecting_collection_changelist"))

    def save_form(self, request: HttpRequest, form: Any, change: bool) -> Collection:
        return make_collection(form.plan, by=request.user)

    def save_model(self, request: HttpRequest, obj: Collection, form: Any, change: bool) -> None:
        """Do nothing: the collection is already saved."""

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Do nothing: the matches are already saved."""

    def response_add(self, request: HttpRequest, obj: Collection, post_url_continue: str | None = None) -> HttpResponse:
        message = _("Created: {size}. Review it, then start it.").format(size=plan_of(obj).size)
        self.message_user(request, message, messages.SUCCESS)
        return _redirect_to(obj)

    def size(self, request: HttpRequest) -> HttpResponse:
        """Return what the form as filled in would produce.

        Returns:
            {"size": sentence, empty while unknown; "entries"; "seats" of a match; "errors" of the fields that a
            script draws; "configurations": all of them, null if there are too many for a list}.
        """
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = self.get_form(request)(request.POST)
        form.is_valid()
        counts, listable = form.size, len(form.configurations) <= MAX_LISTED
        preview_data = {
            "size": size(counts.configurations, counts.lineups, counts.repetitions, counts.matches) if counts else "",
            "entries": entries_html(form),
            "seats": largest_seats(form.game_class, form.configurations),
            "errors": {name: list(form.errors.get(name, ())) for name in SCRIPTED_FIELDS},
            "configurations": list(form.configurations) if listable else None,
        }
        return JsonResponse(preview_data)

    # ---- its page ------------------------------------------------------------------------------------

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show the collection's progress and actions above, and its plan below."""
        collection = self.seen(request, object_id)
        status = status_of(collection)
        may_change = self.has_change_permission(request, collection)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": collection,
            "collection": collection,
            "title": collection.title,
            "colour": COLOURS[collection.status],
            "allowed_actions": allowed_actions(collection, status) if may_change else set(),
            "may_change": may_change,
            "plan": plan_of(collection),
            "analysed": grids.analyses(collection.game) is not None,
            "judged": grids.has_module(collection.game, "justifications"),
            **_status_context(collection, status),
        }
        return TemplateResponse(request, "admin/collecting/collection/page.html", context)

    def progress(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Return the part of the page that changes while matches are played."""
        collection = self.seen(request, object_id)
        context = _status_context(collection, status_of(collection))
        return TemplateResponse(
            request, "admin/collecting/collection/progress.html", context, headers={"Cache-Control": "no-store"}
        )

    def content(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Return the frozen content as a file."""
        collection = self.seen(request, object_id)
        response = HttpResponse(as_text(collection.content), content_type="application/json")
        response["Content-Disposition"] = f'attachment; filename="{collection.slug}-content.json"'
        return response

    def results(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the results of the game's own analyses of the finished matches."""
        collection = self.seen(request, object_id)
        analyses = grids.analyses(collection.game)
        if analyses is None:
            raise Http404
        results, _sources = results_of(collection, MAX_ANALYSED)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": collection,
            **trail(collection, here=_("Results")),
            "title": _("Results of {collection}").format(collection=collection.title),
            "collection": collection,
            "blocks": analyses.results(registry.get(collection.game), results),
            "analysed": len(results),
            "cut": len(results) == MAX_ANALYSED,
        }
        return TemplateResponse(request, "admin/collecting/collection/results.html", context)

    def prompts(self, request: HttpRequest, object_id: str = "") -> HttpResponse:
        """Show the model prompts of this collection or, for POST, of the form as filled in; nothing is saved."""
        if not object_id:
            if not self.has_add_permission(request):
                raise PermissionDenied
            return self._preview(request, _("a new collection"), lambda: preview_source(self._entered_content(request)))
        collection = self.seen(request, object_id)
        if collection.source != Collection.Source.PLAYED:
            raise Http404
        return self._preview(request, collection.title, lambda: preview_source(collection.content), collection)

    def _preview(
        self,
        request: HttpRequest,
        title: str,
        load_source: Callable[[], PreviewSource],
        parent: Collection | None = None,
    ) -> HttpResponse:
        return preview.page(
            request, site=self.admin_site, opts=self.opts, title=title, load_source=load_source, parent=parent
        )

    def _entered_content(self, request: HttpRequest) -> dict[str, Any]:
        """Return the content of the collection that the form would create.

        Raises:
            ValueError: it could not be created; the message lists the errors by field.
        """
        form = self.get_form(request)(preview.with_placeholder_names(request.POST))
        preview.raise_if_invalid(form)
        return content_of(form.plan)

    def has_delete_permission(self, request: HttpRequest, obj: Collection | None = None) -> bool:
        """Refuse: collections are kept as evidence."""
        return False

    # ---- actions ---------------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        views = {
            "add/size/": ("size", require_POST(self.size)),
            "<path:object_id>/start/": ("start", require_POST(self.start)),
            "<path:object_id>/pause/": ("pause", require_POST(self.pause)),
            "<path:object_id>/retry/": ("retry", require_POST(self.retry)),
            "<path:object_id>/budget/": ("budget", require_POST(self.raise_budget)),
            "<path:object_id>/progress/": ("progress", require_GET(self.progress)),
            "add/prompts/": ("add_prompts", require_POST(self.prompts)),
            "<path:object_id>/prompts/": ("prompts", require_GET(self.prompts)),
            "<path:object_id>/results/": ("results", require_GET(self.results)),
            "<path:object_id>/content.json": ("content", require_GET(self.content)),
        }
        urls = [
            path(route, self.admin_site.admin_view(view), name=f"collecting_collection_{name}")
            for route, (name, view) in views.items()
        ]
        return [*urls, *super().get_urls()]

    def start(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Start or resume the collection."""
        collection = self.seen(request, object_id, role=Role.EDITOR)
        resumed = collection.started_at is not None
        message = _("Resumed. Matches continue where they stopped.") if resumed else _("Started.")
        try:
            with transaction.atomic():
                services.start(collection)
                self.record_action(request, collection, Action.RESUMED if resumed else Action.STARTED, message)
        except WrongState as error:
            return self._report_refusal(request, collection, error)
        return self._report_success(request, collection, message)

    def pause(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Pause the collection; matches in progress keep their current state."""
        collection = self.seen(request, object_id, role=Role.EDITOR)
        message = _("Paused. Matches in progress keep their current state.")
        try:
            with transaction.atomic():
                services.pause(collection)
                self.record_action(request, collection, Action.PAUSED, message)
        except WrongState as error:
            return self._report_refusal(request, collection, error)
        return self._report_success(request, collection, message)

    def retry(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Replay the failed matches, at once if the budget allows it."""
        collection = self.seen(request, object_id, role=Role.EDITOR)
        try:
            retried, message = self._retry(request, collection)
        except WrongState as error:
            return self._report_refusal(request, collection, error)
        if not retried:
            self.message_user(request, _("No failed matches to replay."), messages.WARNING)
            return _redirect_to(collection)
        return self._report_success(request, collection, message)

    @transaction.atomic
    def _retry(self, request: HttpRequest, collection: Collection) -> tuple[int, str]:
        retried = services.retry_failed(collection)
        current = progress(collection)
        if retried and (current.budget is None or current.cost < current.budget):
            services.start(collection)
        message = ngettext(
            "Replaying {number} failed match from the start.",
            "Replaying {number} failed matches from the start.",
            retried,
        ).format(number=f"{retried:,}")
        if retried:
            self.record_action(request, collection, Action.STARTED, message, {"failed matches": retried})
        return retried, message

    def raise_budget(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Raise the budget."""
        collection = self.seen(request, object_id, role=Role.EDITOR)
        budget = forms.dollars(request.POST.get("budget", ""))
        if budget is None:
            self.message_user(request, _("Enter the new budget in dollars, such as 25.00."), messages.ERROR)
            return _redirect_to(collection)
        message = _("The budget is now {budget}.").format(budget=dollars(budget))
        try:
            with transaction.atomic():
                collection = services.raise_budget(collection, budget)
                self.record_action(request, collection, Action.CHANGED, message, {"budget": str(budget)})
        except WrongState as error:
            return self._report_refusal(request, collection, error)
        return self._report_success(request, collection, message)

    def _report_success(self, request: HttpRequest, collection: Collection, message: str) -> HttpResponseRedirect:
        self.message_user(request, message, messages.SUCCESS)
        return _redirect_to(collection)

    def _report_refusal(self, request: HttpRequest, collection: Collection, error: WrongState) -> HttpResponseRedirect:
        self.message_user(request, str(error), messages.ERROR)
        return _redirect_to(collection)


def _status_context(collection: Collection, status: Any) -> dict[str, Any]:
    return {"collection": collection, "status": status}


def _requested_game(request: HttpRequest) -> type[Game[Any, Any]] | None:
    """Return the game for a new collection: the requested one, or the only one installed."""
    keys = registry.keys()
    key = request.GET.get("game") or request.POST.get("game") or (keys[0] if len(keys) == 1 else "")
    return registry.get(key) if key in keys else None


def _game(request: HttpRequest) -> type[Game[Any, Any]]:
    return _requested_game(request) or registry.get(registry.keys()[0])


def _redirect_to(collection: Collection) -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse("admin:collecting_collection_change", args=[collection.pk]))
