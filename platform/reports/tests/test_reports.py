"""Reports requested on the page of datasets."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.urls import reverse
from django.utils import timezone

from exports import background as exporting
from exports.models import DEAD_AFTER, Dataset
from exports.tests import building
from reports import background
from reports.models import Report
from studies.models import Study

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def queued_reports(monkeypatch) -> list[int]:
    """Primary keys of the reports queued for workers."""
    queued_reports: list[int] = []

    def send_task(name: str, args: tuple[int]) -> None:
        queued_reports.extend(args if name == "reports.make" else ())

    monkeypatch.setattr("reports.background.current_app.send_task", send_task)
    return queued_reports


@pytest.fixture
def dataset(boss, queued_reports) -> Dataset:
    """A study's dataset of one match, ready for download."""
    study = building.new_study()
    building.complete(study, worker="A1", messages=["hello"])
    dataset_row, _new = exporting.request_dataset(study)
    exporting.write(dataset_row.pk)
    dataset_row.refresh_from_db()
    assert dataset_row.state == "ready"
    return dataset_row


def address(name: str, dataset: Dataset) -> str:
    return reverse(f"reports:{name}", args=[dataset.study_id, dataset.uid])


def page(client, dataset: Dataset) -> str:
    return client.get(reverse("exports:page", args=[dataset.study_id])).content.decode()


@pytest.mark.parametrize("only", [["--only", "general.outcomes"], pytest.param([], marks=pytest.mark.slow)])
def test_report_is_created_downloaded_and_deleted_with_its_dataset(client, dataset, queued_reports, monkeypatch, only):
    start = background.subprocess.Popen
    monkeypatch.setattr(background.subprocess, "Popen", lambda command, **rest: start([*command, *only], **rest))
    assert "Analyse" in page(client, dataset)
    client.post(address("analyse", dataset))
    client.post(address("analyse", dataset))
    report = Report.objects.get()
    assert report.unfinished and "waiting for a worker" in page(client, dataset)
    background.write_report(queued_reports[0])
    report.refresh_from_db()
    assert (report.state, report.reason) == ("ready", "") and report.done < report.expected

    assert "Open the report" in page(client, dataset)
    answer = client.get(address("read", dataset))
    assert b"<html" in answer.content and b"<script" not in answer.content
    assert answer["Content-Security-Policy"].startswith("default-src 'none'")
    pack = b"".join(client.post(address("download", dataset)).streaming_content)
    path = report.file.path
    assert Path(path).read_bytes() == pack
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    assert f"{report}/results.json" in names and any(name.endswith(".svg") for name in names)

    Study.objects.get().datasets.get().delete()
    assert not Report.objects.exists() and not report.file.storage.exists(report.file.name)


def test_stopped_report_stays_stopped(client, dataset, queued_reports):
    client.post(address("analyse", dataset))
    client.post(address("stop", dataset))
    background.write_report(queued_reports[0])
    report = Report.objects.get()
    assert (report.state, report.reason) == ("failed", "Stopped by a researcher.")
    assert "failed: Stopped by a researcher." in page(client, dataset)


def test_report_of_a_dead_process_can_be_requested_again(client, dataset, queued_reports):
    client.post(address("analyse", dataset))
    Report.objects.update(state="running", alive_at=timezone.now() - 2 * DEAD_AFTER)
    assert "Stop" not in page(client, dataset).split("export-report")[1]
    client.post(address("analyse", dataset))
    assert Report.objects.get().state == "queued"


@pytest.mark.slow
def test_unreadable_dataset_fails_with_the_reason(client, dataset, queued_reports):
    path = f"{dataset}/manifest.json"
    with zipfile.ZipFile(dataset.file.path) as archive:
        other_files = {name: archive.read(name) for name in archive.namelist() if name != path}
    dataset.file.save("changed.zip", ContentFile(b""))
    with zipfile.ZipFile(dataset.file.path, "w") as archive:
        for name, content in other_files.items():
            archive.writestr(name, content)
    client.post(address("analyse", dataset))
    background.write_report(queued_reports[0])
    report = Report.objects.get()
    assert report.state == "failed" and "manifest" in report.reason


def test_missing_libraries_are_reported_with_the_command(client, dataset, queued_reports, monkeypatch):
    monkeypatch.setattr(background, "REQUIRED_LIBRARIES", ("a_library_that_is_not_here",))
    client.post(address("analyse", dataset))
    assert not Report.objects.exists()
    assert "make analysis" in page(client, dataset)
