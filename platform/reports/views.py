"""A dataset's report: start, stop, read in the browser, download."""

from __future__ import annotations

import zipfile
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from audit.actions import Action
from collecting.models import Collection
from exports.models import Dataset
from exports.packing import zip_response
from exports.views import back_to_datasets, dataset_of, record, with_parent
from reports import background
from reports.models import Report
from rights.roles import Role
from studies.models import Study

REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox allow-popups"
"""A report contains no scripts and loads nothing."""


@require_POST
@with_parent(role=Role.EDITOR)
def analyse(request: HttpRequest, parent: Study | Collection, uid: UUID) -> HttpResponse:
    """Start analysing a dataset."""
    dataset = _dataset(parent, uid)
    if not background.available():
        messages.error(
            request, _("The analysis libraries are not installed on this server. Run “make analysis” on it first.")
        )
        return back_to_datasets(parent)
    with transaction.atomic():
        if background.request_report(dataset):
            record(request, parent, Action.ANALYSED, "Requested a report.", {"dataset": str(uid)})
        else:
            messages.info(request, _("This dataset is already being analysed."))
    return back_to_datasets(parent)


@require_POST
@with_parent(role=Role.EDITOR)
def stop(request: HttpRequest, parent: Study | Collection, uid: UUID) -> HttpResponse:
    """Stop a running analysis."""
    with transaction.atomic():
        if background.stop(_dataset(parent, uid)):
            record(request, parent, Action.STOPPED, "Stopped an analysis.", {"dataset": str(uid)})
    return back_to_datasets(parent)


@require_GET
@never_cache
@with_parent()
def read(request: HttpRequest, parent: Study | Collection, uid: UUID) -> HttpResponse:
    """Show the report, a page that loads nothing else."""
    report = _ready(parent, uid)
    if report is None:
        return _no_report(request, parent)
    with report.file.open("rb") as file, zipfile.ZipFile(file) as archive:
        page = archive.read(f"{report}/report.html")
    response = HttpResponse(page, content_type="text/html; charset=utf-8")
    response["Content-Security-Policy"] = REPORT_POLICY
    return response


@require_POST
@with_parent(role=Role.EDITOR)
def download(request: HttpRequest, parent: Study | Collection, uid: UUID) -> HttpResponseBase:
    """Return tables, figures and report as a zip file; by POST, because downloads are recorded in the audit log."""
    report = _ready(parent, uid)
    if report is None:
        return _no_report(request, parent)
    with transaction.atomic():
        record(request, parent, Action.DOWNLOADED, "Downloaded a report.", {"dataset": str(uid)})
    return zip_response(request, report.file.open("rb"), str(report))


def _dataset(parent: Study | Collection, uid: UUID) -> Dataset:
    return dataset_of(parent, uid=uid, state=Dataset.State.READY)


def _ready(parent: Study | Collection, uid: UUID) -> Report | None:
    report = Report.objects.filter(dataset=_dataset(parent, uid), state=Report.State.READY).first()
    return report if report is not None and report.file.name and report.file.storage.exists(report.file.name) else None


def _no_report(request: HttpRequest, parent: Study | Collection) -> HttpResponse:
    messages.error(request, _("There is no report for this dataset yet. Please choose “Analyse”."))
    return back_to_datasets(parent)
