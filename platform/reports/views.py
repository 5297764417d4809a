"""A dataset's report: start, stop, read in the browser, download."""

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
"""A report contains no scripts and loads nothing."""


@require_POST
@of_one(role=Role.EDITOR)
def analyse(request: HttpRequest, made: Study | Collection, uid: UUID) -> HttpResponse:
    """Start analysing a dataset."""
    dataset = _dataset(made, uid)
    if not background.available():
        messages.error(
            request, _("The analysis libraries are not installed on this server. Run “make analysis” on it first.")
        )
        return back_to_datasets(made)
    with transaction.atomic():
        if background.ask_for(dataset):
            record(request, made, Action.ANALYSED, "Asked for a report.", {"dataset": str(uid)})
        else:
            messages.info(request, _("This dataset is already being analysed."))
    return back_to_datasets(made)


@require_POST
@of_one(role=Role.EDITOR)
def stop(request: HttpRequest, made: Study | Collection, uid: UUID) -> HttpResponse:
    """Stop a running analysis."""
    with transaction.atomic():
        if background.stop(_dataset(made, uid)):
            record(request, made, Action.STOPPED, "Stopped an analysis.", {"dataset": str(uid)})
    return back_to_datasets(made)


@require_GET
@never_cache
@of_one()
def read(request: HttpRequest, made: Study | Collection, uid: UUID) -> HttpResponse:
    """Show the report, a page that loads nothing else."""
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
    """Return tables, figures and report as a zip file; by POST, because downloads are recorded in the audit log."""
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
    messages.error(request, _("There is no report for this dataset yet. Please choose “Analyse”."))
    return back_to_datasets(made)
