"""The page for judging a collection's justifications: start, progress and labels."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

from django.contrib import admin
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from audit.actions import Action
from collecting.models import Collection
from exports.views import record, with_parent
from judging import runs, services
from judging.errors import JudgingError
from judging.models import JudgingRun
from judging.texts import of_collection
from opponents.listing import usable_endpoints
from opponents.spending import spent_by_label
from rights.admin import trail
from rights.roles import Role


@require_GET
@never_cache
@with_parent()
def page(request: HttpRequest, collection: Collection) -> HttpResponse:
    """Show the whole page."""
    return _page(request, collection, {})


@require_GET
@never_cache
@with_parent()
def status_part(request: HttpRequest, collection: Collection) -> HttpResponse:
    """Return the part of the page that changes while texts are judged."""
    return TemplateResponse(request, "admin/judging/now.html", _status(request, collection))


@require_POST
@with_parent(role=Role.EDITOR)
def begin(request: HttpRequest, collection: Collection) -> HttpResponse:
    """Start judging the collection."""
    try:
        cap = Decimal(request.POST["cap"]) if request.POST.get("cap", "").strip() else None
        if cap is not None and not (cap.is_finite() and 0 < cap < 10**8):
            raise InvalidOperation
        judges = [request.POST.get("first", ""), request.POST.get("second", "")]
        with transaction.atomic():
            judging_run = runs.begin(collection, judges, cap, by=request.user)
            record(
                request, collection, Action.STARTED, "Started judging justifications.", {"judges": judging_run.judges}
            )
    except InvalidOperation:
        return _page(
            request, collection, {"problem": _("Please enter the cap as an amount in US dollars, such as 5.00.")}
        )
    except JudgingError as refused:
        return _page(request, collection, {"problem": str(refused)})
    return _back(collection)


@require_POST
@with_parent(role=Role.EDITOR)
def stop(request: HttpRequest, collection: Collection) -> HttpResponse:
    """Stop judging."""
    for judging_run in JudgingRun.objects.filter(collection=collection, status=JudgingRun.Status.RUNNING):
        with transaction.atomic():
            if runs.stop(judging_run):
                record(request, collection, Action.STOPPED, "Stopped judging.", {"judges": judging_run.judges})
    return _back(collection)


@require_POST
@with_parent(role=Role.EDITOR)
def labels(request: HttpRequest, collection: Collection) -> HttpResponse:
    """Return the latest judges' labels.csv; by POST, because downloads are recorded in the audit log."""
    judging_run = JudgingRun.objects.filter(collection=collection).first()
    rubric = services.rubric_of(collection.game)
    if judging_run is None or rubric is None:
        return _back(collection)
    rows = services.table(rubric, list(of_collection(collection)), judging_run.judges)
    record(
        request, collection, Action.DOWNLOADED, "Downloaded labels of justifications.", {"judges": judging_run.judges}
    )
    response = HttpResponse(services.as_csv(rubric, rows), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{collection.slug}-labels.csv"'
    return response


def _page(request: HttpRequest, collection: Collection, extra_context: dict[str, Any]) -> HttpResponse:
    context = {
        **admin.site.each_context(request),
        **trail(collection, here=_("Justifications")),
        "title": _("Justifications in {title}").format(title=collection.title),
        "endpoints": [name for name, _title in usable_endpoints()],
        "typed": request.POST,
        "rubric": services.rubric_of(collection.game),
        **_status(request, collection),
        **extra_context,
    }
    return TemplateResponse(request, "admin/judging/page.html", context)


def _status(request: HttpRequest, collection: Collection) -> dict[str, Any]:
    judging_run = JudgingRun.objects.filter(collection=collection).first()
    context: dict[str, Any] = {
        "collection": collection,
        "judging_run": judging_run,
        "alive": judging_run is not None and judging_run.status == JudgingRun.Status.RUNNING,
        "may_change": admin.site.get_model_admin(Collection).has_change_permission(request, collection),
        "spent": spent_by_label(runs.budget_of(collection)),
    }
    rubric = services.rubric_of(collection.game)
    if judging_run is None or rubric is None:
        return context
    if context["alive"]:
        runs.send(judging_run)  # in case its worker died
        return context
    rows = services.table(rubric, list(of_collection(collection)), judging_run.judges)
    return {**context, "labelled": len(rows), "shares": services.shares(rubric, rows, judging_run.judges)}


def _back(collection: Collection) -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse("judging:page", args=[collection.pk]))
