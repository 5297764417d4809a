"""The pages of walks: a start page for researchers and one behind the co-authors' link, and the walk itself."""

from __future__ import annotations

from functools import wraps
from typing import Any

from csp.constants import SELF
from csp.decorators import csp_update
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from audit.actions import Action
from plans.reading import BadPlan
from recruiters.addresses import counted
from rights import parts
from rights.parts import user_of
from rights.roles import Role
from studies.admin.views import View, of_study, study_admin
from studies.launching import draft_version
from studies.models import Cell, Study
from walking import services
from walking.models import Link, Walk
from walking.outline import ending_in, stages_of

MAX_LISTED = 200
"""A plan with more cells is asked for a cell's number."""
WINDOW_SECONDS, MAX_WALKS, MAX_JUMPS = 600, 60, 300
"""How many walks and jumps co-authors can begin from one IP address in this time."""
_TOO_MANY = gettext_lazy("Too many walks from your network at the moment. Please try again in ten minutes.")


@never_cache
@require_http_methods(["GET", "POST"])
@of_study()
def start(request: HttpRequest, study: Study, cell: int = 1, role: str = "") -> HttpResponse:
    """Let a researcher choose a cell and a seat (GET), beginning with those of the URL, or begin a walk (POST)."""
    may_change = parts.may(request.user, study, role=Role.EDITOR)
    if request.method == "POST":
        return _begin(request, study, real_models=may_change and "models" in request.POST)
    return _start_page(request, study, cell=cell, role=role, may_change=may_change)


@never_cache
@require_http_methods(["GET", "POST"])
def shared(request: HttpRequest, token: str) -> HttpResponse:
    """Let a co-author without an account do the same with the newest draft."""
    link = Link.objects.select_related("study").filter(token=token).first()
    if link is None:
        return render(request, "walking/gone.html", status=404)
    if request.method == "POST":
        if _too_many(request, "walks", MAX_WALKS):
            return _start_page(request, link.study, link=link, faults=[_TOO_MANY], status=429)
        return _begin(request, link.study, link=link)
    return _start_page(request, link.study, link=link)


@of_study(role=Role.EDITOR)
@require_POST
def change_link(request: HttpRequest, study: Study) -> HttpResponse:
    """Make the link for co-authors, or revoke it (`revoke`)."""
    page = study_admin()
    with transaction.atomic():
        if "revoke" in request.POST:
            deleted, _rows = Link.objects.filter(study=study).delete()
            if deleted:
                page.record_action(request, study, Action.REVOKED, "Link for co-authors revoked.")
        elif Link.objects.get_or_create(study=study, defaults={"created_by": user_of(request)})[1]:
            page.record_action(request, study, Action.MADE, "Link for co-authors created.")
    return redirect("walking:start", study.pk)


def _begin(request: HttpRequest, study: Study, *, link: Link | None = None, real_models: bool = False) -> HttpResponse:
    try:
        walk = services.begin(
            study,
            cell=_number(request.POST.get("cell"), 1),
            role=request.POST.get("role", ""),
            link=link,
            real_models=real_models,
        )
    except services.CannotWalk as refusal:
        return _start_page(request, study, link=link, faults=refusal.faults)
    return redirect(walk)


def _start_page(
    request: HttpRequest,
    study: Study,
    *,
    cell: int = 1,
    role: str = "",
    link: Link | None = None,
    may_change: bool = False,
    faults: Any = (),
    status: int = 0,
) -> HttpResponse:
    cells: list[Cell] = []
    number = 0
    try:
        version = draft_version(study)
        number = len(version.reader.cells)
        cells = [Cell.planned(version, cell.number) for cell in version.reader.cells[:MAX_LISTED]]
        has_models = any(not agent.scripted for agent in version.agents().values())
    except BadPlan as error:
        faults, has_models = error.faults, False
    except (ValueError, LookupError) as error:
        faults, has_models = [str(error)], False
    own_link = link or Link.objects.filter(study=study).first()
    context = {
        "study": study,
        "link": own_link,
        "address": request.build_absolute_uri(own_link.get_absolute_url()) if own_link and not link else "",
        "shared": link is not None,
        "may_change": may_change,
        "faults": faults,
        "cells": cells,
        "number": number,
        "listed": number <= MAX_LISTED,
        "cell": _number(request.POST.get("cell"), cell),
        "role": request.POST.get("role", role),
        "roles": list(dict.fromkeys(role for cell in cells if len(cell.people) > 1 for role in cell.people)),
        "has_models": has_models and may_change,
    }
    status = status or (422 if request.method == "POST" else 200)
    return render(request, "walking/start.html", context, status=status)


def _too_many(request: HttpRequest, event: str, limit: int) -> bool:
    """Count one more event of a visitor without an account; return whether there are too many from this address."""
    return counted(request, event, seconds=WINDOW_SECONDS) > limit


def _number(text: str | None, default: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 7 else default


# ---- the walk ---------------------------------------------------------------------------------------------


def of_walk(view: View) -> View:
    """Pass the view the walk from its URL; one that is over gets a page that says so."""

    @wraps(view)
    def checked(request: HttpRequest, key: str) -> HttpResponseBase:
        found = Walk.objects.select_related("study", "enrolment", "link").filter(key=key).first()
        if found is None or found.enrolment is None:
            return render(request, "walking/gone.html", status=404)
        return view(request, found)

    return never_cache(checked)


@require_GET
@csp_update({"frame-src": [SELF]})
@of_walk
def walk(request: HttpRequest, walk: Walk) -> HttpResponse:
    """Show the stages, and beside them the participant's page in a frame as large as a phone."""
    _keep(walk)
    back = walk.link.get_absolute_url() if walk.link else ""
    return render(request, "walking/walk.html", {**_context(walk), "back": back})


@require_GET
@of_walk
def stages(request: HttpRequest, walk: Walk) -> HttpResponse:
    """Return the list of stages, which changes while the visitor goes on."""
    _keep(walk)
    return render(request, "walking/stages.html", _context(walk))


@require_POST
@of_walk
def jump(request: HttpRequest, walk: Walk) -> HttpResponse:
    """Go to the step at `position`."""
    if walk.link is not None and _too_many(request, "walk-jumps", MAX_JUMPS):
        messages.info(request, _TOO_MANY)
    elif reason := services.jump(walk, _number(request.POST.get("position"), 0)):
        messages.info(request, reason)
    return redirect(walk)


@require_POST
@of_walk
def leave(request: HttpRequest, walk: Walk) -> HttpResponse:
    """Delete the walk; if its page was only closed or loaded again (`closed`), a little later."""
    if "closed" in request.POST:
        services.note_left(walk)
        return HttpResponse(status=204)
    back = walk.link.get_absolute_url() if walk.link else ""
    study = walk.study_id
    walk.delete()
    return redirect(back) if back else redirect("walking:start", study)


def _keep(walk: Walk) -> None:
    if walk.left_at is not None:
        Walk.objects.filter(pk=walk.pk).update(left_at=None)


def _context(walk: Walk) -> dict[str, Any]:
    assert walk.enrolment is not None
    return {
        "walk": walk,
        "enrolment": walk.enrolment,
        "cell": walk.planned_cell,
        "stages": stages_of(walk.enrolment),
        "ending": ending_in(walk.enrolment),
    }
