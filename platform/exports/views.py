"""The page of a study's or collection's datasets: requests, progress, downloads and publication details."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
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
from exports.formats import FORMATS, USUAL
from exports.forms import PublicationForm
from exports.models import Dataset, of
from exports.packing import sent
from exports.readme import publication_of
from rights.admin import trail
from rights.roles import Role
from studies.models import Study

View = Callable[..., HttpResponse]


def of_one(*, role: Role = Role.VIEWER) -> Callable[[View], View]:
    """Pass a view the study or collection from its address, if the visitor has this role in it."""

    def decorate(view: View) -> View:
        @wraps(view)
        def found(
            request: HttpRequest, study_id: int | None = None, collection_id: int | None = None, **named: Any
        ) -> HttpResponse:
            model, key = (Study, study_id) if study_id is not None else (Collection, collection_id)
            made = admin.site.get_model_admin(model).seen(request, str(key), role=role)
            return view(request, made, **named)

        return admin.site.admin_view(found)

    return decorate


@require_GET
@never_cache
@of_one()
def page(request: HttpRequest, made: Study | Collection) -> HttpResponse:
    """The whole page."""
    return _page(request, made, PublicationForm(instance=publication_of(made)))


@require_GET
@never_cache
@of_one()
def now(request: HttpRequest, made: Study | Collection) -> HttpResponse:
    """Return the part of the page that changes while a dataset is written."""
    return TemplateResponse(request, "admin/exports/now.html", _status(request, made))


@require_POST
@of_one(role=Role.EDITOR)
def write(request: HttpRequest, made: Study | Collection) -> HttpResponse:
    """Request a dataset in the chosen formats."""
    try:
        with transaction.atomic():
            excluded = bool(request.POST.get("excluded"))
            asked, new = background.ask_for(made, request.POST.getlist("formats"), excluded=excluded)
            if new:
                details = {"dataset": str(asked.uid), "formats": asked.formats, "excluded": excluded}
                record(request, made, Action.EXPORTED, "Asked for a dataset.", details)
    except UnknownFormat:
        messages.error(request, _("Choose at least one format."))
    except NothingToExport as refused:
        messages.error(request, str(refused))
    else:
        if not new:
            messages.info(request, _("A dataset is already being written."))
    return back_to_datasets(made)


@require_POST
@of_one(role=Role.EDITOR)
def stop(request: HttpRequest, made: Study | Collection, uid: UUID) -> HttpResponse:
    """Stop writing the dataset."""
    with transaction.atomic():
        if background.stop(_dataset(made, uid)):
            record(request, made, Action.STOPPED, "Stopped writing a dataset.", {"dataset": str(uid)})
    return back_to_datasets(made)


@require_POST
@of_one(role=Role.EDITOR)
def download(request: HttpRequest, made: Study | Collection, uid: UUID) -> HttpResponse:
    """Send a finished dataset; by POST, because downloads are logged."""
    dataset = _dataset(made, uid)
    try:
        pack = dataset.file.open("rb") if dataset.file else None
    except FileNotFoundError:
        pack = None
    if pack is None:
        messages.error(request, _("The file no longer exists. Request another dataset."))
        return back_to_datasets(made)
    with transaction.atomic():
        record(request, made, Action.DOWNLOADED, "Downloaded a dataset.", {"dataset": str(uid)})
    return sent(request, pack, str(dataset))


@require_POST
@of_one(role=Role.EDITOR)
def publish(request: HttpRequest, made: Study | Collection) -> HttpResponse:
    """Save the publication details for future datasets."""
    form = PublicationForm(request.POST, instance=publication_of(made))
    if not form.is_valid():
        return _page(request, made, form)
    with transaction.atomic():
        form.save()
        record(
            request, made, Action.CHANGED, "Changed what its datasets say of themselves.", {"fields": form.changed_data}
        )
    messages.success(request, _("Saved. The next dataset will include these details."))
    return back_to_datasets(made)


def _page(request: HttpRequest, made: Study | Collection, form: PublicationForm) -> HttpResponse:
    context = {
        **admin.site.each_context(request),
        **trail(made, here=_("Datasets")),
        "title": _("Datasets of {title}").format(title=made.title),
        **_status(request, made),
        "formats": [(made_as, made_as.name in USUAL) for made_as in FORMATS.values()],
        "form": form,
        "flow": _flow(made),
    }
    return TemplateResponse(request, "admin/exports/page.html", context)


def _status(request: HttpRequest, made: Study | Collection) -> dict[str, Any]:
    datasets = background.kept(made)
    return {
        "made": made,
        "of": "study" if isinstance(made, Study) else "collection",
        "datasets": datasets,
        "alive": any(dataset.unfinished or _being_analysed(dataset) for dataset in datasets),
        "may_change": admin.site.get_model_admin(type(made)).has_change_permission(request, made),
        "launched": not isinstance(made, Study) or made.versions.exists(),
    }


def _being_analysed(dataset: Dataset) -> bool:
    report = getattr(dataset, "report", None)
    return report is not None and report.unfinished


def _flow(made: Study | Collection) -> dict[str, Any] | None:
    """Return the flow figure of the newest dataset, for wide and narrow screens."""
    newest = Dataset.objects.filter(**of(made), state=Dataset.State.READY).exclude(flow={}).first()
    if newest is None:
        return None
    drawn = {
        name: mark_safe(figure.drawn(newest.flow, title=_("Flow into the dataset"), look=look))
        for name, look in (("wide", figure.SHOWN), ("narrow", figure.NARROW))
    }
    return {**drawn, "as_of": newest.asked_at}


def _dataset(made: Study | Collection, uid: UUID) -> Dataset:
    found = Dataset.objects.filter(**of(made), uid=uid).first()
    if found is None:
        raise Http404
    return found


def record(request: HttpRequest, made: Study | Collection, action: str, says: str, details: dict[str, Any]) -> None:
    """Log who did what with datasets."""
    admin.site.get_model_admin(type(made)).record_action(request, made, action, says, details)


def back_to_datasets(made: Study | Collection) -> HttpResponseRedirect:
    """Redirect to the page of datasets."""
    name = "page" if isinstance(made, Study) else "page_of_collection"
    return HttpResponseRedirect(reverse(f"exports:{name}", args=[made.pk]))
