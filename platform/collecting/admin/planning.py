"""Plan a collection in the editor of plans: from a ready-made one, a game, or a file."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from audit.actions import Action
from collecting.admin.status import size
from collecting.admin.told import WhatModelsAreTold
from collecting.planning import Configured, make_collection, planned
from games import registry
from games.errors import GameError
from games.interface import Json
from games.play import configure
from plans.checking import check
from plans.collection import CollectionReader, is_collection
from plans.library import ready_made
from plans.plan import Document
from plans.reading import BadPlan, Fault
from plans.schema import collection_controls, seats_of
from plans.starting import collection_for
from rights.parts import user_of
from studies import filing
from studies.admin.beginnings import games_offered, picture_of
from studies.admin.editing import (
    MAX_SHOWN_CELLS,
    data_of_any,
    levels_of,
    posted_document,
    unreadable,
    uploaded,
)
from studies.admin.words import words


class PlanEditing(WhatModelsAreTold):
    """The views that create collections."""

    def planning_urls(self) -> list[URLPattern]:
        """Return the URL patterns of these views."""
        views = {"check": self.check_plan, "save": self.save_plan, "text": self.default_text, "read": self.read_file}
        told = path("told/<slug:name>/", self.admin_site.admin_view(self.told_page), name="collecting_collection_told")
        return [told] + [
            path(f"add/{name}/", self.admin_site.admin_view(require_POST(view)), name=f"collecting_collection_{name}")
            for name, view in views.items()
        ]

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Show the ways to begin a collection; with `?game=` or `?preset=`, the editor of a new plan."""
        self.refuse_others(request)
        context = {**self.admin_site.each_context(request), "opts": self.opts, "title": _("New collection")}
        if begun := _begun(request):
            slug, document = begun
            context["editor"] = self._editor_data(request.user, slug, document)
            return TemplateResponse(request, "admin/collecting/collection/plan_editor.html", context)
        context |= {
            "games": games_offered(),
            "ready_made": [(preset, picture_of(preset.game)) for preset in ready_made("collections").values()],
        }
        return TemplateResponse(request, "admin/collecting/collection/begin.html", context)

    def _editor_data(self, user: Any, slug: str, document: Document) -> dict[str, Any]:
        names = ("check", "save", "text", "read")
        return {
            **data_of_any(user),
            "kind": "collection",
            "plan": document,
            "edit": 0,
            "slug": slug,
            "may_rename": True,
            "readOnly": False,
            "unsaved": True,
            "forms": collection_controls(),
            "words": _words(),
            "urls": {
                **{name: reverse(f"admin:collecting_collection_{name}") for name in names},
                "models": reverse("admin:studies_study_models"),
            },
        }

    def check_plan(self, request: HttpRequest) -> HttpResponse:
        """Return faults and sizes of the plan as edited; saves nothing."""
        self.refuse_others(request)
        try:
            return JsonResponse(_answer(posted_document(request)))
        except BadPlan as error:
            return unreadable(error)

    def save_plan(self, request: HttpRequest) -> HttpResponse:
        """Create the collection and return {url}: its page; 400 with the reasons if it cannot be played."""
        self.refuse_others(request)
        try:
            with transaction.atomic():
                document = posted_document(request)
                if not is_collection(document):
                    raise BadPlan([Fault("format", _("This is not the plan of a collection."))])
                collection = make_collection(document, slug=request.POST.get("slug", ""), by=user_of(request))
                self.record_action(request, collection, Action.MADE, _("Created the collection."))
        except BadPlan as error:
            return JsonResponse({"error": " ".join(map(str, error.faults))}, status=400)
        except IntegrityError:  # the short name was taken meanwhile
            return JsonResponse({"error": _("Another collection has this short name. Choose another one.")}, status=400)
        return JsonResponse({"edit": 1, "url": reverse("admin:collecting_collection_change", args=[collection.pk])})

    def default_text(self, request: HttpRequest) -> HttpResponse:
        """Return {text}: the game's instructions, to begin one's own with."""
        self.refuse_others(request)
        try:
            game = posted_document(request)["journey"][0]["game"]
        except (BadPlan, LookupError, TypeError):
            game = ""
        return JsonResponse({"text": registry.get(game).instruction_template() if game in registry.keys() else ""})

    def read_file(self, request: HttpRequest) -> HttpResponse:
        """Return {document, faults} of a file for the editor; saves nothing."""
        self.refuse_others(request)
        try:
            document, _media = filing.read(uploaded(request), collection=True)
        except BadPlan as error:
            return unreadable(error)
        return JsonResponse({"document": document, "faults": []})

    def refuse_others(self, request: HttpRequest) -> None:
        if not self.has_add_permission(request):
            raise PermissionDenied


def _begun(request: HttpRequest) -> tuple[str, dict[str, Json]] | None:
    """Return the short name and the plan that a new collection begins with; None if none was asked for."""
    game, preset = request.GET.get("game"), request.GET.get("preset")
    if preset is not None:
        if preset not in ready_made("collections"):
            raise Http404
        return preset, ready_made("collections")[preset].document
    if game is not None:
        if game not in registry.keys():
            raise Http404
        return game.replace("_", "-"), collection_for(game)
    return None


def _answer(document: dict[str, Any]) -> dict[str, Any]:
    """Return what the editor shows beside the plan."""
    checked = check(document) if is_collection(document) else None
    if checked is None:
        return {"faults": [Fault("format", _("This is not the plan of a collection.")).as_data()]}
    faults, found = list(checked.faults), {}
    if not faults:
        try:
            found = _sizes(planned(document))
        except BadPlan as error:
            faults = error.faults
    return {
        "faults": [fault.as_data() for fault in faults],
        "more": max(0, len(checked.cells) - MAX_SHOWN_CELLS),
        **_of_reader(document),
        **found,
    }


def _sizes(collection: Any) -> dict[str, Any]:
    """Return the configurations with their matches, and how many matches there are and why."""
    known = Configured(collection.document, collection.frozen)
    cells = CollectionReader(collection.document).cells[:MAX_SHOWN_CELLS]
    treatments = len(known.configurations) // known.plan.cycle
    return {
        "cells": [
            {
                "number": cell.number,
                "title": " · ".join(cell.factors.values()),
                "quota": known.schedule.matches_of(cell.number - 1),
            }
            for cell in cells
        ],
        "totals": [
            [_("Matches"), f"{collection.planned:,}", ""],
            ["", size(treatments, known.schedule.lineups, known.plan.repetitions, collection.planned), ""],
        ],
    }


def _of_reader(document: Document) -> dict[str, Any]:
    """Return the levels of published rows, and the seats of the first configuration."""
    try:
        reader = CollectionReader(document)
        stage = reader.collection(reader.cells[0].factors).game
        seats = seats_of(configure(registry.get(stage.game), stage.config))
    except (BadPlan, GameError, LookupError):
        return {"levels": {}, "seats": {}}
    return {"levels": levels_of(reader), "seats": {"journey.0": seats}}


def _words() -> dict[str, Any]:
    """Return the editor's words where a collection's differ from a study's."""
    return {
        **words(),
        "sections": {
            "study": _("Title and size"),
            "agents": _("Agents"),
            "cells": _("Configurations"),
            "prices": _("Own prices"),
        },
        "journey": _("Game"),
        "cells": _("Configurations"),
        "cell": _("Configuration"),
        "quota": _("Matches"),
        "only_cell": _("the only one"),
        "listed": _("only the listed configurations"),
        "short_name_help": _("In commands and file names. It cannot be changed later."),
        "agents_help": _("The scripts and models of this collection, by names of your choice."),
        "no_factors": _("None yet. Press “Vary by…” at any parameter to play several configurations."),
        "saved": _("Created"),
        "unsaved": _("Not created yet"),
        "saving": _("Creating…"),
        "one_fault": _("1 thing to correct before creating it"),
        "faults": _("{number} things to correct before creating it"),
    }
