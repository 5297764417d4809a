"""Create studies from presets and copies, and compare versions."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from audit.actions import Action
from games.errors import GameError
from rights import parts
from rights.admin import MembersPage, trail
from rights.roles import Role
from studies import presets
from studies.copying import copy

DRAFT = "draft"
"""What the comparison calls the study as currently saved."""


class PresetsAndCopies(MembersPage):
    """The admin's views for presets, copies and version comparison."""

    list_before_template = "admin/studies/study/presets_link.html"

    def creation_urls(self) -> list[URLPattern]:
        """Return the URL patterns of these views."""
        views = {
            "presets/": ("presets", require_GET(self.presets)),
            "presets/<slug:name>/": ("preset", require_POST(self.load_preset)),
            "<path:object_id>/copy/": ("copy", require_POST(self.copy)),
            "<path:object_id>/compare/": ("compare", require_GET(self.compare)),
        }
        return [
            path(route, self.admin_site.admin_view(view), name=f"studies_study_{name}")
            for route, (name, view) in views.items()
        ]

    # ---- presets -------------------------------------------------------------------------------------

    def presets(self, request: HttpRequest) -> HttpResponse:
        """List the published systems that can be set up with one click."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        available = [
            (
                preset,
                existing,
                _admin_url(existing) if existing and parts.may(request.user, existing, role=Role.VIEWER) else "",
            )
            for preset in presets.all_presets()
            for existing in [preset.find_existing()]
        ]
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Ready-made studies"),
            "offered": available,
        }
        return TemplateResponse(request, "admin/studies/study/presets.html", context)

    def load_preset(self, request: HttpRequest, name: str) -> HttpResponse:
        """Create what the preset describes, without launching or starting any of it."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        preset = presets.find(name)
        if preset is None:
            raise Http404
        try:
            with transaction.atomic():
                created = preset.create(request.user)
                for item in created:
                    message = f"Made from the preset {preset.name}."
                    self.record_action(request, item, Action.MADE, message, {"preset": preset.name})
        except presets.PresetRefused as refusal:
            self.message_user(request, str(refusal), messages.ERROR)
            return HttpResponseRedirect(reverse("admin:studies_study_presets"))
        message = ngettext(
            "Ready for your review: {titles}.", "{number} ready for your review: {titles}.", len(created)
        )
        titles = ", ".join(str(item) for item in created)
        self.message_user(request, message.format(number=len(created), titles=titles), messages.SUCCESS)
        options = created[0]._meta
        return HttpResponseRedirect(reverse(f"admin:{options.app_label}_{options.model_name}_changelist"))

    # ---- copies and versions -------------------------------------------------------------------------

    def copy(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Create a draft with the same settings as this study."""
        study = self.seen(request, object_id)
        if not self.has_add_permission(request):
            raise PermissionDenied
        with transaction.atomic():
            draft = copy(study, by=request.user)
            self.record_action(request, draft, Action.MADE, f"Copied from {study.slug}.", {"copied from": study.slug})
        self.message_user(
            request,
            _("This is a copy of “{title}”: a draft with its own short name.").format(title=study.title),
            messages.SUCCESS,
        )
        return HttpResponseRedirect(_admin_url(draft))

    def compare(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the differences between two versions, or between the last version and the draft."""
        study = self.seen(request, object_id)
        versions = {str(version.number): version for version in study.versions.order_by("number")}
        names = [*versions, DRAFT]
        before, after = _requested_versions(request, names)
        contents, problem = {}, ""
        try:
            for name in (before, after):
                contents[name] = content_of(study) if name == DRAFT else versions[name].content
            changes = compare(contents[before], contents[after])
        except (GameError, ValueError) as error:
            changes, problem = [], str(error)
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
            "versions": {name: versions.get(name) for name in (before, after)},
            "draft": DRAFT in (before, after),
            "parts": changes,
            "problem": problem,
        }
        return TemplateResponse(request, "admin/studies/study/compare.html", context)


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


def _admin_url(item: Any) -> str:
    """Return the URL of its admin page."""
    return reverse(f"admin:{item._meta.app_label}_{item._meta.model_name}_change", args=[item.pk])
