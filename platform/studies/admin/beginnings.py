"""Begin a study: from a ready-made one, a game, a file or a copy; and compare versions."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from audit.actions import Action
from games import registry
from games.pictures import picture
from plans.canonical import canonical, part_hashes
from plans.comparing import compare
from plans.reading import BadPlan
from plans.starting import COMPREHENSION, plan_for
from rights.admin import trail
from studies import presets
from studies.admin.editing import PlanEditing, signed_in
from studies.copying import copy

DRAFT = "draft"
"""What the comparison calls the study as currently saved."""


class Beginnings(PlanEditing):
    """The admin's views that create studies, and the comparison of versions."""

    def beginning_urls(self) -> list[URLPattern]:
        """Return the URL patterns of these views."""
        views = {
            "presets/": ("presets", require_GET(self.beginning_page)),
            "presets/<slug:name>/": ("preset", require_POST(self.load_preset)),
            "begin/<slug:game>/": ("begin", require_POST(self.begin)),
            "<path:object_id>/copy/": ("copy", require_POST(self.copy)),
            "<path:object_id>/compare/": ("compare", require_GET(self.compare)),
        }
        return [
            path(route, self.admin_site.admin_view(view), name=f"studies_study_{name}")
            for route, (name, view) in views.items()
        ]

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Show the ways to begin a study."""
        return self.beginning_page(request)

    def beginning_page(self, request: HttpRequest, **context: Any) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        page = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("New study"),
            **self.offers(),
            **context,
        }
        return TemplateResponse(request, "admin/studies/study/begin.html", page)

    def offers(self) -> dict[str, Any]:
        """Return the games and ready-made studies with their pictures."""
        return {
            "games": games_offered(),
            "ready_made": [(preset, picture_of(preset.game)) for preset in presets.all_presets()],
        }

    def begin(self, request: HttpRequest, game: str) -> HttpResponse:
        """Create a draft in which a participant plays this game against its default script."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        if game not in registry.keys():
            raise Http404
        return self.created(
            request, plan_for(game, stage={"comprehension": COMPREHENSION}), Action.MADE, _("Made for a game.")
        )

    def load_preset(self, request: HttpRequest, name: str) -> HttpResponse:
        """Create a draft from a ready-made study."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        preset = presets.find(name)
        if preset is None:
            raise Http404
        summary = _("Made from the ready-made study {name}.").format(name=name)
        return self.created(request, preset.document, Action.MADE, summary, slug=name)

    def copy(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Create a draft with the same plan as this study."""
        study = self.seen(request, object_id)
        if not self.has_add_permission(request):
            raise PermissionDenied
        with transaction.atomic():
            draft = copy(study, by=signed_in(request))
            self.record_action(request, draft, Action.MADE, f"Copied from {study.slug}.", {"copied from": study.slug})
        self.message_user(
            request,
            _("This is a copy of “{title}”: a draft with its own short name.").format(title=study.title),
            messages.SUCCESS,
        )
        return HttpResponseRedirect(reverse("admin:studies_study_change", args=[draft.pk]))

    def compare(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the differences between two versions, or between the last version and the draft."""
        study = self.seen(request, object_id)
        versions = {str(version.number): version for version in study.versions.order_by("number")}
        names = [*versions, DRAFT]
        before, after = _requested_versions(request, names)
        documents = {name: study.draft if name == DRAFT else versions[name].document for name in (before, after)}
        changes, hashes, problem = [], {}, ""
        try:
            changes = compare(documents[before], documents[after])
            both = [part_hashes(canonical(documents[name])) for name in (before, after)]
            hashes = {part: [each.get(part, "") for each in both] for part in dict.fromkeys([*both[0], *both[1]])}
        except BadPlan as error:
            problem = str(error)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": study,
            "study": study,
            **trail(study, here=_("What changed")),
            "title": _("What changed"),
            "choices": [(name, _("Draft, as saved") if name == DRAFT else f"{name}") for name in names],
            "before": before,
            "after": after,
            "draft": DRAFT in (before, after),
            "changes": changes,
            "new_version": any(change.in_hash for change in changes),
            "hashes": {part: pair for part, pair in hashes.items() if pair[0] != pair[1]},
            "problem": problem,
        }
        return TemplateResponse(request, "admin/studies/study/compare.html", context)


def games_offered() -> list[tuple[dict[str, Any], str]]:
    """Return every game's key, title and summary, and its picture."""
    games = map(registry.get, registry.keys())
    return [({"key": game.key, "title": game.title, "summary": game.summary}, picture_of(game.key)) for game in games]


def picture_of(game: str) -> str:
    return mark_safe(picture(game))


def _requested_versions(request: HttpRequest, names: list[str]) -> tuple[str, str]:
    """Return the two versions to compare: those requested, or the last two.

    Raises:
        Http404: one of them does not exist.
    """
    defaults = names[-2:] if len(names) > 1 else [names[0], names[0]]
    before, after = request.GET.get("before", defaults[0]), request.GET.get("after", defaults[1])
    if before not in names or after not in names:
        raise Http404
    return before, after
