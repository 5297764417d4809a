"""The editor of a study's plan: what its page needs, checking while someone edits, saving, files and earlier drafts."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.loader import render_to_string
from django.utils.text import slugify
from django.utils.translation import gettext as _

from audit.actions import Action
from games import registry
from games.errors import GameError
from llm_agents.errors import AgentError
from opponents.listing import listed_models, priced_models, usable_endpoints
from pages.files import MAX_VIDEO_BYTES, BadMedia, refuse_large, store
from pages.models import Media
from plans import files
from plans.checking import Checked, check
from plans.comparing import compare
from plans.plan import Document
from plans.reading import BadPlan, Fault, Reader, reader_of
from plans.schema import plan_controls, seats_of
from plans.stages import Block, Game
from programs.models import Program
from recruiters import arrivals
from rights.admin import MembersPage, at
from rights.parts import user_of
from rights.roles import Role
from studies import drafting, filing, texts
from studies.admin.checklist import tick
from studies.admin.views import whole
from studies.admin.words import words
from studies.costs import shown_forecast
from studies.disclosure import Outlook
from studies.drafting import unused_slug
from studies.filing import export_study
from studies.models import Draft, Study, configured
from studies.names import is_referenced, rename

MAX_SHOWN_LEVELS = 600
"""Number of levels of published rows that the editor gets."""
MAX_SHOWN_CELLS = 200
MAX_HISTORY = 50


def posted_document(request: HttpRequest) -> dict[str, Any]:
    """Return the plan that the editor sent.

    Raises:
        BadPlan: it cannot be read.
    """
    if "document" not in request.FILES:
        raise BadPlan([Fault("", _("There is no plan."))])
    return files.loads(_text_of(request.FILES["document"]))


def unreadable(error: BadPlan) -> JsonResponse:
    """Return why a plan cannot be read."""
    return JsonResponse({"faults": [fault.as_data() for fault in error.faults]})


def _text_of(file: Any) -> str:
    """Return the text of an uploaded file.

    Raises:
        BadPlan: it is too large, or no text.
    """
    if file.size > files.MAX_BYTES:
        limit = files.MAX_BYTES // 1_000_000
        raise BadPlan([Fault("", _("The file is too large: at most {most} MB.").format(most=limit))])
    try:
        text: str = file.read().decode()
    except UnicodeDecodeError:
        raise BadPlan([Fault("", _("This is not a text file."))]) from None
    return text


# ---- what the page needs -----------------------------------------------------------------------------------------


def editor_data(
    study: Study, document: Document, *, user: Any, may_change: bool, urls: Mapping[str, str]
) -> dict[str, Any]:
    """Return what the editor's scripts need."""
    return {
        **data_of_any(user),
        "plan": document,
        "edit": study.edit,
        "slug": study.slug,
        "may_rename": not is_referenced(study),
        "readOnly": not may_change,
        "unsaved": document is not study.draft,
        "forms": {
            **plan_controls(),
            "entries": [[key, str(title)] for key, title in arrivals.choices()],
        },
        "media": media_of(study),
        "urls": urls,
    }


def data_of_any(user: Any) -> dict[str, Any]:
    """Return what the editor's scripts need whatever is planned; a user is offered the programs that they may see."""
    endpoints = [{"name": name, "title": title, "models": priced_models(name)} for name, title in usable_endpoints()]
    programs = list(Program.seen_by(user).filter(enabled=True).values_list("name", flat=True))
    return {"endpoints": endpoints, "programs": programs, "words": words(), "answer": {}}


def media_of(study: Study) -> dict[str, str]:
    """Return the addresses of the study's images and videos by name."""
    return {file.name: file.get_absolute_url() for file in Media.objects.filter(study=study.slug).defer("data")}


def answer(document: Document, study: Study) -> dict[str, Any]:
    """Return what the editor shows beside the plan: faults, cells with their figures, and what changed."""
    checked = check(document)
    found: dict[str, Any] = {
        "faults": [fault.as_data() for fault in checked.faults],
        "cells": [_cell(cell) for cell in checked.cells[:MAX_SHOWN_CELLS]],
        "more": max(0, len(checked.cells) - MAX_SHOWN_CELLS),
        "totals": [],
        "changes": [],
        **_of_reader(document, checked),
    }
    if not checked.faults:
        with suppress(GameError, AgentError, BadPlan, ValueError):  # nothing to show until it can be played
            found |= _figures(document, study.slug)
    latest = study.latest_version()
    if latest is not None and not checked.faults:
        changes = compare(latest.document, document)
        found["changes"] = [str(change) for change in changes[:30]]
        found["new_version"] = any(change.in_hash for change in changes)
    return found


def _cell(cell: Any) -> dict[str, Any]:
    return {"number": cell.number, "title": " · ".join(map(str, cell.factors.values())), "quota": cell.quota}


def _figures(document: Document, slug: str) -> dict[str, Any]:
    """Return the cells and totals with the forecast's figures."""
    shown = shown_forecast(document, slug=slug)
    cells = [
        {
            "number": cell["number"],
            "title": " · ".join(cell["factors"].values()),
            "quota": cell["quota"],
            "minutes": cell["minutes"],
            "pay": cell["pay"],
            "hourly": _("{amount}/h").format(amount=cell["hourly"]),
        }
        for cell in shown["cells"][:MAX_SHOWN_CELLS]
    ]
    totals = [[_("Participants"), f"{shown['places']:,}", ""]]
    totals += [
        [str(title), str(expected), _most(most) if most != expected else ""] for title, expected, most in shown["rows"]
    ]
    return {
        "cells": cells,
        "more": max(0, shown["number"] - len(cells)),
        "totals": totals,
        "notes": [str(line) for line in (*shown["warnings"], *shown["notes"])],
    }


def _most(amount: str) -> str:
    return _("at most {amount}").format(amount=amount) if any(map(str.isdigit, amount)) else amount


def _of_reader(document: Document, checked: Checked) -> dict[str, Any]:
    """Return the levels of published rows, and the seats of every game's stage in the first cell."""
    try:
        reader = reader_of(document)
    except BadPlan:
        return {"levels": {}, "seats": {}}
    seats: dict[str, Any] = {}
    with suppress(BadPlan, IndexError):
        _collect_seats(reader.plan(reader.cells[0].factors).journey, ("journey",), seats)
    return {"levels": levels_of(reader), "seats": seats}


def levels_of(reader: Reader) -> dict[str, list[str]]:
    """Return the levels of published rows, by factor."""
    published = [name for name, factor in reader.factors.items() if factor.rows]
    return {name: list(reader.values[name])[:MAX_SHOWN_LEVELS] for name in published}


def _collect_seats(stages: Any, at: tuple[Any, ...], seats: dict[str, Any]) -> None:
    for index, stage in enumerate(stages):
        if isinstance(stage, Block):
            _collect_seats(stage.of, (*at, index, "of"), seats)
        elif isinstance(stage, Game) and stage.game in registry.known():
            try:
                seats[".".join(map(str, (*at, index)))] = seats_of(configured(stage))
            except GameError:
                continue


def stage_at(document: Document, at: str) -> tuple[Mapping[str, Any], str]:
    """Return the stage and the field that a dotted path of the plan as written leads to."""
    node: Any = document
    stage: Mapping[str, Any] = {}
    parts = at.split(".")
    name = ""
    for part in parts:
        try:
            node = node[int(part)] if isinstance(node, list) else node[part]
        except (KeyError, IndexError, ValueError, TypeError):
            node = {}
        if isinstance(node, Mapping) and "stage" in node:
            stage, name = node, ""
        elif not name:
            name = part
    return stage, name


# ---- the views ---------------------------------------------------------------------------------------------------


class PlanEditing(MembersPage):
    """The views behind the editor."""

    def editor_context(self, request: HttpRequest, study: Study) -> dict[str, Any]:
        """Return the context of the editor on the study's page; `?edit=` opens an earlier draft as unsaved changes."""
        may_change = self.has_change_permission(request, study)
        earlier = study.drafts.filter(edit=whole(request.GET.get("edit"))).first() if may_change else None
        document = earlier.document if earlier is not None else study.draft
        urls = {name: self.url_of(name, study.pk) for name in ("check", "save", "text", "read", "media")}
        urls["models"] = self.url_of("models")
        data = editor_data(study, document, user=request.user, may_change=may_change, urls=urls)
        if may_change and study.entry == Study.Entry.CODES:
            data["notes"] = {"entry": _("Personal codes are created on this page, below the plan.")}
        return {"editor": data, "earlier": earlier, "may_change": may_change}

    @at("<path:object_id>/check/", "POST", name="check")
    def check_plan(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Return faults, cells and figures of the plan as edited; saves nothing."""
        study = self.seen(request, object_id)
        try:
            document = posted_document(request)
        except BadPlan as error:
            return unreadable(error)
        return JsonResponse(answer(document, study))

    @at("<path:object_id>/save/", "POST", name="save")
    def save_plan(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Save the plan; 409 with the stored one if somebody saved since the edit that this one began from."""
        study = self.seen(request, object_id, role=Role.EDITOR)
        edit = whole(request.POST.get("edit"))
        slug = request.POST.get("slug", study.slug)
        try:
            document = posted_document(request)
            with transaction.atomic():
                if slug != study.slug:
                    rename(study, slug)
                saved = drafting.save(study, document, edit=edit, by=user_of(request))
                self.record_action(request, saved, Action.CHANGED, _("Changed the plan."), {"edit": saved.edit})
        except BadPlan as error:
            return JsonResponse({"error": " ".join(fault.what for fault in error.faults)}, status=400)
        except ValidationError as error:
            return JsonResponse({"error": " ".join(error.messages)}, status=400)
        except drafting.Outdated as outdated:
            latest = outdated.latest
            by = str(latest.by) if latest is not None and latest.by is not None else _("Somebody")
            stored = {"edit": outdated.study.edit, "document": outdated.study.draft, "by": by}
            return JsonResponse(stored, status=409)
        parts = self.saved_parts(request, saved)
        return JsonResponse({"edit": saved.edit, "said": _("Saved"), "parts": parts})

    def saved_parts(self, request: HttpRequest, study: Study) -> dict[str, str]:
        """Return the parts of the page that depend on the saved plan, as HTML by selector."""
        context = self.study_context(request, study)
        return {
            "#study-top": render_to_string("admin/studies/study/top.html", context, request),
            "#study-below": render_to_string("admin/studies/study/below.html", context, request),
            "#study-checklist": render_to_string("admin/studies/study/checklist.html", context, request),
        }

    def study_context(self, request: HttpRequest, study: Study) -> dict[str, Any]:
        """Return the context of everything on the study's page but the editor."""
        raise NotImplementedError

    @at("<path:object_id>/text/", "POST", name="text")
    def default_text(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Return {text}: Parley's own text at a place of the plan, to begin one's own with."""
        self.seen(request, object_id)
        try:
            document = posted_document(request)
        except BadPlan:
            return JsonResponse({"text": ""})
        stage, name = stage_at(document, request.POST.get("at", ""))
        if stage.get("stage") == "game" and name == "instructions" and stage.get("game") in registry.keys():
            return JsonResponse({"text": registry.get(stage["game"]).instruction_template()})
        return JsonResponse({"text": default_consent_of(document) if stage.get("stage") == "consent" else ""})

    def refuse_adding(self, request: HttpRequest) -> None:
        """Raise PermissionDenied for a user who may not set up a study."""
        if not self.has_add_permission(request):
            raise PermissionDenied

    @at("models/", name="models")
    def listed_models(self, request: HttpRequest) -> HttpResponse:
        """Return {models}: the models that `endpoint` lists, for users who may set up a study."""
        self.refuse_adding(request)
        name = request.GET.get("endpoint", "")
        is_usable = name in dict(usable_endpoints())
        return JsonResponse({"models": sorted({*priced_models(name), *listed_models(name)}) if is_usable else []})

    @at("<path:object_id>/media/", "POST", name="media")
    def add_media(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Store an image or video of the study, as `kind` asks for; return {name, url}."""
        study = self.seen(request, object_id, role=Role.EDITOR)
        file = request.FILES.get("file")
        if file is None:
            raise Http404
        try:
            refuse_large(file.size or 0, MAX_VIDEO_BYTES)
            media = store(study.slug, file.name or "file", file.read(), kind=request.POST.get("kind", ""))
        except BadMedia as error:
            return JsonResponse({"error": str(error)}, status=400)
        return JsonResponse({"name": media.name, "url": media.get_absolute_url()})

    # ---- files -------------------------------------------------------------------------------------------

    @at("<path:object_id>/file/", "GET")
    def file(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Return the saved plan as a YAML file, or as a zip with its images and videos."""
        name, content = export_study(self.seen(request, object_id))
        kind = "application/zip" if name.endswith(".zip") else "application/yaml; charset=utf-8"
        return HttpResponse(
            content, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'}
        )

    @at("<path:object_id>/read/", "POST", name="read")
    def read_file(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Return {document, faults, media} of a file for the editor; stores its images and videos, saves nothing."""
        study = self.seen(request, object_id, role=Role.EDITOR)
        try:
            document, media = filing.read(uploaded(request))
        except BadPlan as error:
            return unreadable(error)
        for name, data in media.items():
            store(study.slug, name, data)
        return JsonResponse({"document": document, "faults": [], "media": media_of(study)})

    @at("upload/", "POST")
    def upload(self, request: HttpRequest) -> HttpResponse:
        """Create a draft from a file; with any fault, list all of them and create nothing."""
        self.refuse_adding(request)
        try:
            with transaction.atomic():
                study = filing.import_study(uploaded(request), by=user_of(request))
                self.record_action(request, study, Action.MADE, _("Made from a file."))
        except BadPlan as error:
            return self.beginning_page(request, faults=[str(fault) for fault in error.faults])
        return HttpResponseRedirect(self.url_of("change", study.pk))

    def beginning_page(self, request: HttpRequest, **context: Any) -> HttpResponse:
        """Show the ways to begin a study."""
        raise NotImplementedError

    def created(self, request: HttpRequest, document: Document, summary: str, *, slug: str = "") -> HttpResponse:
        """Create a draft with this plan, and open it."""
        with transaction.atomic():
            study = Study.objects.create(
                slug=unused_slug(slug or slug_of(document)), draft=dict(document), created_by=user_of(request)
            )
            self.record_action(request, study, Action.MADE, summary)
        return HttpResponseRedirect(self.url_of("change", study.pk))

    # ---- earlier drafts ------------------------------------------------------------------------------------

    @at("<path:object_id>/drafts/", "GET")
    def drafts(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """List the saved drafts, each with what it changed."""
        study = self.seen(request, object_id)
        saved = list(study.drafts.select_related("by").order_by("-edit")[: MAX_HISTORY + 1])
        rows = [(draft, _changes(before, draft)) for draft, before in zip(saved, [*saved, None][1:], strict=True)]
        may_change = self.has_change_permission(request, study)
        context = {"study": study, "rows": rows[:MAX_HISTORY], "may_change": may_change}
        return self.page(request, "admin/studies/study/drafts.html", _("Earlier drafts"), context, of=study)

    # ---- the checklist -------------------------------------------------------------------------------------

    @at("<path:object_id>/tick/", "POST")
    def tick(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Record that the user has seen one point of the checklist, and go where it leads."""
        study = self.seen(request, object_id, role=Role.EDITOR)
        points = self.study_context(request, study)["points"]
        item = next((item for item in points if item.name == request.POST.get("item")), None)
        if item is None:
            raise Http404
        problem = tick(study, item, request.user)
        return self.leave_to(request, item.leads_to or self.url_of("change", study.pk), problem, messages.ERROR)


def default_consent_of(document: Document) -> str:
    """Return the consent text that Parley makes for this plan; empty while the plan has faults."""
    try:
        reader = reader_of(document)
        plans = [reader.plan(cell.factors) for cell in reader.cells[:MAX_SHOWN_CELLS]]
        return texts.default_consent(plans[0], Outlook.of(plans))
    except (BadPlan, GameError, ValueError, IndexError):
        return ""


def slug_of(document: Document) -> str:
    """Return a short name for a study with this plan."""
    return slugify(str(document.get("title", "")))[:50] or "study"


def uploaded(request: HttpRequest) -> bytes:
    """Return the uploaded file.

    Raises:
        BadPlan: there is none, or it is too large.
    """
    file = request.FILES.get("file")
    if file is None:
        raise BadPlan([Fault("", _("Please choose a file."))])
    if (file.size or 0) > filing.MAX_BYTES:
        raise BadPlan([Fault("", _("The file is too large."))])
    content: bytes = file.read()
    return content


def _changes(before: Draft | None, after: Draft) -> list[str]:
    if before is None:
        return []
    try:
        return [str(change) for change in compare(before.document, after.document)][:20]
    except (BadPlan, ValueError, KeyError, TypeError, AttributeError):
        return [_("These drafts cannot be compared: one of them is not finished.")]
