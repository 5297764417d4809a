"""Plan, start and monitor collections; a collection's plan never changes once it is created."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from functools import lru_cache
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Sum
from django.forms import DecimalField
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import get_language, gettext_lazy, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST
from unfold.decorators import display

from audit.actions import Action
from collecting import services
from collecting.admin.planning import PlanEditing
from collecting.admin.status import COLOURS, allowed_actions, dollars, game_title, percent, plan_of, status_of
from collecting.errors import WrongState
from collecting.models import Collection, Item
from collecting.previewing import preview_source
from collecting.progress import progress
from collecting.stages import results_of, state_of
from games import grids, registry
from games.interface import Block
from plans import files
from rights.admin import trail
from rights.roles import Role
from studies.admin import preview

MAX_ANALYSED = 5000
"""Maximum number of finished matches that the results page uses."""
CACHED = 16
ENDED = Q(status__in=[Item.Status.FINISHED, Item.Status.FAILED])


@admin.register(Collection)
class CollectionAdmin(PlanEditing):
    list_display = ["title", "status_label", "game_title", "source", "ended", "decisions", "cost", "created_at"]
    list_filter = ["status", "game", "source"]
    search_fields = ["title", "slug"]
    list_fullwidth = True
    actions = None
    view_on_site = False

    # ---- the list ------------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Collection]:
        items = Item.objects.filter(collection=OuterRef("pk")).order_by().values("collection")
        return (
            super()
            .get_queryset(request)
            .defer("document", "frozen")
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
            "status": status,
        }
        return TemplateResponse(request, "admin/collecting/collection/page.html", context)

    def progress(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Return the part of the page that changes while matches are played."""
        collection = self.seen(request, object_id)
        context = {"collection": collection, "status": status_of(collection)}
        return TemplateResponse(
            request, "admin/collecting/collection/progress.html", context, headers={"Cache-Control": "no-store"}
        )

    def file(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Return the plan as a YAML file."""
        collection = self.seen(request, object_id)
        if not collection.document:
            raise Http404
        headers = {"Content-Disposition": f'attachment; filename="{collection.slug}.yaml"'}
        return HttpResponse(
            files.dumps(collection.document), content_type="application/yaml; charset=utf-8", headers=headers
        )

    def results(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the results of the game's own analyses of the finished matches."""
        collection = self.seen(request, object_id)
        if grids.analyses(collection.game) is None:
            raise Http404
        blocks, analysed = _blocks_of(collection.pk, state_of(collection), get_language())
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": collection,
            **trail(collection, here=_("Results")),
            "title": _("Results of {collection}").format(collection=collection.title),
            "collection": collection,
            "blocks": blocks,
            "analysed": analysed,
            "cut": analysed == MAX_ANALYSED,
        }
        return TemplateResponse(request, "admin/collecting/collection/results.html", context)

    def prompts(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the model prompts of this collection."""
        collection = self.seen(request, object_id)
        if collection.source != Collection.Source.PLAYED:
            raise Http404
        return preview.page(self, request, collection, lambda: preview_source(collection))

    def has_delete_permission(self, request: HttpRequest, obj: Collection | None = None) -> bool:
        """Refuse: collections are kept as evidence."""
        return False

    # ---- actions ---------------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        views = {
            "<path:object_id>/start/": ("start", require_POST(self.start)),
            "<path:object_id>/pause/": ("pause", require_POST(self.pause)),
            "<path:object_id>/retry/": ("retry", require_POST(self.retry)),
            "<path:object_id>/budget/": ("budget", require_POST(self.raise_budget)),
            "<path:object_id>/progress/": ("progress", require_GET(self.progress)),
            "<path:object_id>/prompts/": ("prompts", require_GET(self.prompts)),
            "<path:object_id>/results/": ("results", require_GET(self.results)),
            "<path:object_id>/plan.yaml": ("file", require_GET(self.file)),
        }
        urls = [
            path(route, self.admin_site.admin_view(view), name=f"collecting_collection_{name}")
            for route, (name, view) in views.items()
        ]
        return [*self.planning_urls(), *urls, *super().get_urls()]

    def start(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Start or resume the collection."""
        collection = self.seen(request, object_id, role=Role.EDITOR)
        resumed = collection.started_at is not None
        message = _("Resumed. Matches continue where they stopped.") if resumed else _("Started.")
        with self._acting(request):
            services.start(collection)
            self._report(request, collection, Action.RESUMED if resumed else Action.STARTED, message)
        return _redirect_to(collection)

    def pause(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Pause the collection; matches in progress keep their current state."""
        collection = self.seen(request, object_id, role=Role.EDITOR)
        with self._acting(request):
            services.pause(collection)
            message = _("Paused. Matches in progress keep their current state.")
            self._report(request, collection, Action.PAUSED, message)
        return _redirect_to(collection)

    def retry(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Replay the failed matches, at once if the budget allows it."""
        collection = self.seen(request, object_id, role=Role.EDITOR)
        with self._acting(request):
            if retried := services.retry_failed(collection):
                current = progress(collection)
                if current.budget is None or current.cost < current.budget:
                    services.start(collection)
                message = ngettext(
                    "Replaying {number} failed match from the start.",
                    "Replaying {number} failed matches from the start.",
                    retried,
                ).format(number=f"{retried:,}")
                self._report(request, collection, Action.STARTED, message, {"failed matches": retried})
            else:
                self.message_user(request, _("No failed matches to replay."), messages.WARNING)
        return _redirect_to(collection)

    def raise_budget(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Raise the budget."""
        collection = self.seen(request, object_id, role=Role.EDITOR)
        budget = _dollars(request.POST.get("budget", ""))
        if budget is None:
            self.message_user(request, _("Enter the new budget in dollars, such as 25.00."), messages.ERROR)
            return _redirect_to(collection)
        with self._acting(request):
            collection = services.raise_budget(collection, budget)
            message = _("The budget is now {budget}.").format(budget=dollars(budget))
            self._report(request, collection, Action.CHANGED, message, {"budget": str(budget)})
        return _redirect_to(collection)

    @contextmanager
    def _acting(self, request: HttpRequest) -> Iterator[None]:
        """Do everything or nothing; say why if the action is refused."""
        try:
            with transaction.atomic():
                yield
        except WrongState as error:
            self.message_user(request, str(error), messages.ERROR)

    def _report(self, request: HttpRequest, collection: Collection, act: Action, message: str, *details: Any) -> None:
        self.record_action(request, collection, act, message, *details)
        self.message_user(request, message, messages.SUCCESS)


def _dollars(text: str) -> Decimal | None:
    """Return an amount as entered; None if it is not an amount."""
    budget = Collection._meta.get_field("budget")
    try:
        return DecimalField(max_digits=budget.max_digits, decimal_places=2, min_value=Decimal(0)).clean(text)
    except ValidationError:
        return None


def _redirect_to(collection: Collection) -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse("admin:collecting_collection_change", args=[collection.pk]))


@lru_cache(maxsize=CACHED)
def _blocks_of(collection: int, _state: Any, _language: str | None) -> tuple[Sequence[Block], int]:
    """Return the blocks of the game's own results and the number of matches; intervals take a second or more."""
    of = Collection.objects.get(pk=collection)
    results, _sources = results_of(of, MAX_ANALYSED)
    analyses: Any = grids.analyses(of.game)
    return analyses.results(registry.get(of.game), results), len(results)
