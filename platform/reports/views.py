"""A dataset's report: asking for it, stopping it, reading it in the browser, downloading all of it."""

from __future__ import annotations

import zipfile
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from audit.actions import Action
from collecting.models import Collection
from exports.models import Dataset, of
from exports.packing import sent
from exports.views import back_to_datasets, of_one, record
from reports import background
from reports.models import Report
from rights.roles import Role
from studies.models import Study

NOTHING_BUT_ITSELF = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox allow-popups"
"""A report holds no script and loads nothing."""


@require_POST
@of_one(role=Role.EDITOR)
def analyse(request: HttpRequest, made: Study | Collection, uid: UUID) -> HttpResponse:
    """Have a dataset analysed."""
    dataset = _dataset(made, uid)
    if not background.available():
        messages.error(request, _("This server lacks the analyses' libraries: run “make analysis” on it first."))
        return back_to_datasets(made)
    with transaction.atomic():
        if background.ask_for(dataset):
            record(request, made, Action.ANALYSED, "Asked for a report.", {"dataset": str(uid)})
        else:
            messages.info(request, _("It is being analysed already."))
    return back_to_datasets(made)


@require_POST
@of_one(role=Role.EDITOR)
def stop(request: HttpRequest, made: Study | Collection, uid: UUID) -> HttpResponse:
    """End an analysis that is under way."""
    with transaction.atomic():
        if background.stop(_dataset(made, uid)):
            record(request, made, Action.STOPPED, "Stopped an analysis.", {"dataset": str(uid)})
    return back_to_datasets(made)


@require_GET
@never_cache
@of_one()
def read(request: HttpRequest, made: Study | Collection, uid: UUID) -> HttpResponse:
    """The report itself, a page that loads nothing."""
    report = _ready(made, uid)
    if report is None:
        return _none_there(request, made)
    with report.file.open("rb") as packed, zipfile.ZipFile(packed) as archive:
        page = archive.read(f"{report}/report.html")
    response = HttpResponse(page, content_type="text/html; charset=utf-8")
    response["Content-Security-Policy"] = NOTHING_BUT_ITSELF
    return response


@require_POST
@of_one(role=Role.EDITOR)
def download(request: HttpRequest, made: Study | Collection, uid: UUID) -> HttpResponse:
    """Tables, figures, numbers and report as one zip; by POST, because it is written down who took it."""
    report = _ready(made, uid)
    if report is None:
        return _none_there(request, made)
    with transaction.atomic():
        record(request, made, Action.DOWNLOADED, "Downloaded a report.", {"dataset": str(uid)})
    return sent(request, report.file.open("rb"), str(report))


def _dataset(made: Study | Collection, uid: UUID) -> Dataset:
    found = Dataset.objects.filter(**of(made), uid=uid, state=Dataset.State.READY).first()
    if found is None:
        raise Http404
    return found


def _ready(made: Study | Collection, uid: UUID) -> Report | None:
    report = Report.objects.filter(dataset=_dataset(made, uid), state=Report.State.READY).first()
    return report if report is not None and report.file.storage.exists(report.file.name) else None


def _none_there(request: HttpRequest, made: Study | Collection) -> HttpResponse:
    messages.error(request, _("There is no report of this dataset. Please press “Analyse”."))
    return back_to_datasets(made)
