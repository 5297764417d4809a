"""The page of a study's or collection's datasets: requests, progress, downloads and publication details."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, cast
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import BadRequest
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from audit.actions import Action
from collecting.models import Collection
from exports import background, figure
from exports.errors import NothingToExport, UnknownFormat
from exports.formats import DEFAULT_FORMATS, FORMATS
from exports.forms import PublicationForm
from exports.models import Dataset, lookup
from exports.packing import zip_response
from exports.preregistering import preregistration
from exports.readme import publication_of
from exports.times import Times
from plans.reading import BadPlan
from rights.admin import trail
from rights.roles import Role
from studies.models import Study

View = Callable[..., HttpResponseBase]


def with_parent(*, role: Role = Role.VIEWER) -> Callable[[View], View]:
    """Pass a view the study or collection from its address, if the visitor has this role in it."""

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapper(
            request: HttpRequest, study_id: int | None = None, collection_id: int | None = None, **kwargs: Any
        ) -> HttpResponseBase:
            model, key = (Study, study_id) if study_id is not None else (Collection, collection_id)
            page: Any = admin.site.get_model_admin(model)
            parent = page.seen(request, str(key), role=role)
            return view(request, parent, **kwargs)

        return admin.site.admin_view(wrapper)

    return decorate


@require_GET
@never_cache
@with_parent()
def page(request: HttpRequest, parent: Study | Collection) -> HttpResponse:
    """Return the page of datasets."""
    return _page(request, parent, PublicationForm(instance=publication_of(parent)))


@require_GET
@never_cache
@with_parent()
def status_part(request: HttpRequest, parent: Study | Collection) -> HttpResponse:
    """Return the part of the page that changes while a dataset is written."""
    return TemplateResponse(request, "admin/exports/now.html", _status(request, parent))


@require_GET
@with_parent()
def preregistered(request: HttpRequest, parent: Study) -> HttpResponse:
    """Return a study's preregistration as text."""
    try:
        return HttpResponse(preregistration(parent), content_type="text/plain; charset=utf-8")
    except BadPlan as error:
        return HttpResponse(str(error), content_type="text/plain; charset=utf-8", status=409)


@require_POST
@with_parent(role=Role.EDITOR)
def write(request: HttpRequest, parent: Study | Collection) -> HttpResponse:
    """Request a dataset in the chosen formats."""
    times = request.POST.get("times", Dataset.Times.EXACT)
    if times not in Dataset.Times.values:
        raise BadRequest
    try:
        with transaction.atomic():
            excluded = bool(request.POST.get("excluded"))
            formats = request.POST.getlist("formats")
            dataset, is_new = background.request_dataset(parent, formats, excluded=excluded, times=cast(Times, times))
            if is_new:
                details = {"dataset": str(dataset.uid), "formats": dataset.formats, "excluded": excluded}
                details |= {} if times == Dataset.Times.EXACT else {"times": times}
                record(request, parent, Action.EXPORTED, "Requested a dataset.", details)
    except UnknownFormat:
        messages.error(request, _("Choose at least one format."))
    except NothingToExport as refused:
        messages.error(request, str(refused))
    else:
        if not is_new:
            messages.info(request, _("A dataset is already being written."))
    return back_to_datasets(parent)


@require_POST
@with_parent(role=Role.EDITOR)
def stop(request: HttpRequest, parent: Study | Collection, uid: UUID) -> HttpResponse:
    """Stop writing the dataset."""
    with transaction.atomic():
        if background.stop(dataset_of(parent, uid=uid)):
            record(request, parent, Action.STOPPED, "Stopped writing a dataset.", {"dataset": str(uid)})
    return back_to_datasets(parent)


@require_POST
@with_parent(role=Role.EDITOR)
def download(request: HttpRequest, parent: Study | Collection, uid: UUID) -> HttpResponseBase:
    """Send a finished dataset; by POST, because downloads are logged."""
    dataset = dataset_of(parent, uid=uid)
    try:
        pack = dataset.file.open("rb") if dataset.file else None
    except FileNotFoundError:
        pack = None
    if pack is None:
        messages.error(request, _("The file no longer exists. Request another dataset."))
        return back_to_datasets(parent)
    with transaction.atomic():
        record(request, parent, Action.DOWNLOADED, "Downloaded a dataset.", {"dataset": str(uid)})
    return zip_response(request, pack, str(dataset))


@require_POST
@with_parent(role=Role.EDITOR)
def publish(request: HttpRequest, parent: Study | Collection) -> HttpResponse:
    """Save the publication details for future datasets."""
    form = PublicationForm(request.POST, instance=publication_of(parent))
    if not form.is_valid():
        return _page(request, parent, form)
    with transaction.atomic():
        form.save()
        record(
            request,
            parent,
            Action.CHANGED,
            "Changed the publication details of its datasets.",
            {"fields": form.changed_data},
        )
    messages.success(request, _("Saved. The next dataset will include these details."))
    return back_to_datasets(parent)


def _page(request: HttpRequest, parent: Study | Collection, form: PublicationForm) -> HttpResponse:
    context = {
        **admin.site.each_context(request),
        **trail(parent, here=_("Datasets")),
        "title": _("Datasets of {title}").format(title=parent.title),
        **_status(request, parent),
        "times": Dataset.Times,
        "formats": [(output, output.name in DEFAULT_FORMATS) for output in FORMATS.values()],
        "form": form,
        "flow": _flow(parent),
    }
    return TemplateResponse(request, "admin/exports/page.html", context)


def _status(request: HttpRequest, parent: Study | Collection) -> dict[str, Any]:
    datasets = background.recent_datasets(parent)
    return {
        "parent": parent,
        "kind": "study" if isinstance(parent, Study) else "collection",
        "datasets": datasets,
        "alive": any(dataset.unfinished or _being_analysed(dataset) for dataset in datasets),
        "may_change": admin.site.get_model_admin(type(parent)).has_change_permission(request, parent),
        "launched": not isinstance(parent, Study) or parent.versions.exists(),
    }


def _being_analysed(dataset: Dataset) -> bool:
    report = getattr(dataset, "report", None)
    return report is not None and report.unfinished


def _flow(parent: Study | Collection) -> dict[str, Any] | None:
    """Return the flow figure of the newest dataset, for wide and narrow screens."""
    newest = Dataset.objects.filter(**lookup(parent), state=Dataset.State.READY).exclude(flow={}).first()
    if newest is None:
        return None
    figures = {
        name: mark_safe(figure.flow_svg(newest.flow, title=_("Flow into the dataset"), layout=layout))
        for name, layout in (("wide", figure.ON_PAGE), ("narrow", figure.NARROW))
    }
    return {**figures, "as_of": newest.asked_at}


def dataset_of(parent: Study | Collection, **about: Any) -> Dataset:
    """Return the parent's dataset with these fields, or raise Http404."""
    return get_object_or_404(Dataset, **lookup(parent), **about)


def record(
    request: HttpRequest, parent: Study | Collection, action: str, summary: str, details: dict[str, Any]
) -> None:
    """Log who did what with datasets."""
    page: Any = admin.site.get_model_admin(type(parent))
    page.record_action(request, parent, action, summary, details)


def back_to_datasets(parent: Study | Collection) -> HttpResponseRedirect:
    """Redirect to the page of datasets."""
    name = "page" if isinstance(parent, Study) else "page_of_collection"
    return HttpResponseRedirect(reverse(f"exports:{name}", args=[parent.pk]))
