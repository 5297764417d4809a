"""Begin a study: from a ready-made one, a game, a file or a copy; and compare versions."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _

from audit.actions import Action
from games import registry
from games.pictures import picture
from plans.canonical import canonical, part_hashes
from plans.comparing import compare
from plans.library import ready_made
from plans.reading import BadPlan
from plans.starting import COMPREHENSION, plan_for
from rights.admin import at
from rights.parts import user_of
from studies.admin.editing import PlanEditing
from studies.drafting import copy

DRAFT = "draft"
"""What the comparison calls the study as currently saved."""


class Beginnings(PlanEditing):
    """The admin's views that create studies, and the comparison of versions."""

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Show the ways to begin a study."""
        return self.beginning_page(request)

    @at("presets/", "GET", name="presets")
    def beginning_page(self, request: HttpRequest, **context: Any) -> HttpResponse:
        self.refuse_adding(request)
        context = {**self.offers(), **context}
        return self.page(request, "admin/studies/study/begin.html", _("New study"), context)

    def offers(self) -> dict[str, Any]:
        """Return the games and ready-made studies with their pictures."""
        return {
            "games": games_offered(),
            "ready_made": [(preset, picture_of(preset.game)) for preset in ready_made("studies").values()],
        }

    @at("begin/<slug:game>/", "POST")
    def begin(self, request: HttpRequest, game: str) -> HttpResponse:
        """Create a draft in which a participant plays this game against its default script."""
        self.refuse_adding(request)
        if game not in registry.keys():
            raise Http404
        return self.created(request, plan_for(game, stage={"comprehension": COMPREHENSION}), _("Made for a game."))

    @at("presets/<slug:name>/", "POST", name="preset")
    def load_preset(self, request: HttpRequest, name: str) -> HttpResponse:
        """Create a draft from a ready-made study."""
        self.refuse_adding(request)
        preset = ready_made("studies").get(name)
        if preset is None:
            raise Http404
        summary = _("Made from the ready-made study {name}.").format(name=name)
        return self.created(request, preset.document, summary, slug=name)

    @at("<path:object_id>/copy/", "POST")
    def copy(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Create a draft with the same plan as this study."""
        study = self.seen(request, object_id)
        self.refuse_adding(request)
        with transaction.atomic():
            draft = copy(study, by=user_of(request))
            self.record_action(request, draft, Action.MADE, f"Copied from {study.slug}.", {"copied from": study.slug})
        message = _("This is a copy of “{title}”: a draft with its own short name.").format(title=study.title)
        return self.leave_to(request, self.url_of("change", draft.pk), message)

    @at("<path:object_id>/compare/", "GET")
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
            "study": study,
            "choices": [(name, _("Draft, as saved") if name == DRAFT else f"{name}") for name in names],
            "before": before,
            "after": after,
            "draft": DRAFT in (before, after),
            "changes": changes,
            "new_version": any(change.in_hash for change in changes),
            "hashes": {part: pair for part, pair in hashes.items() if pair[0] != pair[1]},
            "problem": problem,
        }
        return self.page(request, "admin/studies/study/compare.html", _("What changed"), context, of=study)


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
