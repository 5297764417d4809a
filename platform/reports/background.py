"""Runs analyses in the background, each in its own process so that their memory is freed afterwards."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from celery import current_app
from django.conf import settings
from django.core.files import File
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from exports.background import heartbeat
from exports.models import Dataset
from reports.models import Report

REQUIRED_LIBRARIES = ("pandas", "scipy", "statsmodels", "altair", "vl_convert")
"""The libraries that `make analysis` installs; a server may lack them."""
_PROGRESS = re.compile(r"\[(\d+)/(\d+)\] (\S+)")
_UNFINISHED = (Report.State.QUEUED, Report.State.RUNNING)


class Stopped(Exception):
    """Someone stopped the report."""


def available() -> bool:
    """Return whether the analysis libraries are installed."""
    return all(importlib.util.find_spec(name) for name in REQUIRED_LIBRARIES)


def request_report(dataset: Dataset) -> bool:
    """Start analysing a finished dataset; return False if an analysis is already running."""
    with transaction.atomic():
        Dataset.objects.select_for_update().get(pk=dataset.pk)
        report = Report.objects.filter(dataset=dataset).first()
        if report is not None and report.unfinished:
            if report.state == Report.State.QUEUED:
                _enqueue(report)  # the first message may have been lost
            return False
        if report is not None:
            report.delete()
        _enqueue(Report.objects.create(dataset=dataset))
    return True


def stop(dataset: Dataset) -> bool:
    """Stop a dataset's analysis; return whether one was running."""
    unfinished = Report.objects.filter(dataset=dataset, state__in=_UNFINISHED)
    return bool(unfinished.update(state=Report.State.FAILED, reason=_("Stopped by a researcher.")))


def write_report(report_id: int) -> None:
    """Write a queued report; do nothing if another process has taken it."""
    queued_report = Report.objects.filter(pk=report_id, state=Report.State.QUEUED)
    if not queued_report.update(state=Report.State.RUNNING, alive_at=timezone.now()):
        return
    report = Report.objects.select_related("dataset").get(pk=report_id)
    try:
        with heartbeat(report), tempfile.TemporaryDirectory(prefix="parley-report-") as folder:
            _write_report(report, Path(folder))
    except Stopped:
        return
    except Exception:
        _fail(report, _("The report could not be created. The server's log has the details."))
        raise


def _write_report(report: Report, folder: Path) -> None:
    with report.dataset.file.open("rb") as file, zipfile.ZipFile(file) as archive:
        archive.extractall(folder)
    report_folder = folder / "report"
    code, message = _analyse(report, folder / str(report.dataset), report_folder)
    if not (report_folder / "report.html").exists():
        return _fail(report, message or _("The analysis failed with exit code {code}.").format(code=code))
    archive_path = folder / "report.zip"
    with zipfile.ZipFile(archive_path, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in report_folder.rglob("*") if path.is_file()):
            archive.write(path, f"{report}/{path.relative_to(report_folder)}")
    with archive_path.open("rb") as packed:
        report.file.save(f"{report.dataset.uid}-report.zip", File(packed), save=False)
    changes = {"state": Report.State.READY, "file": report.file.name, "size": archive_path.stat().st_size}
    if not Report.objects.filter(pk=report.pk, state=Report.State.RUNNING).update(**changes):
        report.file.delete(save=False)  # stopped in the meantime


def _analyse(report: Report, dataset_folder: Path, report_folder: Path) -> tuple[int, str]:
    """Run the command; return its exit code and its last message other than progress."""
    root = Path(settings.BASE_DIR)
    process = subprocess.Popen(
        [sys.executable, "-m", "analysis", str(dataset_folder), "--to", str(report_folder)],
        env={**_safe_environment(os.environ), "PYTHONPATH": f"{root / 'platform'}{os.pathsep}{root}"},
        cwd=root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        message = _follow_progress(report, process.stderr or ())
        return process.wait(), message
    finally:
        process.kill()
        process.wait()


def _follow_progress(report: Report, lines: Iterable[str]) -> str:
    message = ""
    for line in lines:
        if (progress := _PROGRESS.match(line)) is None:
            message = line.strip() or message
            continue
        number, total, name = int(progress[1]), int(progress[2]), progress[3]
        running_report = Report.objects.filter(pk=report.pk, state=Report.State.RUNNING)
        if not running_report.update(done=number - 1, expected=total, now=name[:60], alive_at=timezone.now()):
            raise Stopped
    return message


def _safe_environment(environment: os._Environ[str]) -> dict[str, str]:
    """Return only the variables that the analysis needs: no keys, no database URLs."""
    return {name: environment[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in environment}


def _fail(report: Report, reason: str) -> None:
    running_report = Report.objects.filter(pk=report.pk, state=Report.State.RUNNING)
    running_report.update(state=Report.State.FAILED, reason=reason[:400])


def _enqueue(report: Report) -> None:
    transaction.on_commit(lambda: current_app.send_task("reports.make", (report.pk,)), robust=True)
