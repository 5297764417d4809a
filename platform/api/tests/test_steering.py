"""Pausing, resuming and exporting through the API."""

from __future__ import annotations

import io
import zipfile
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone

from api.tests.calling import call, issue_token
from audit.models import Record
from exports import background
from exports.models import DEAD_AFTER, Dataset
from exports.tests import building
from exports.verify import verify
from studies.enrolling import NotOpen
from studies.models import Study
from studies.tests import kit


@pytest.fixture
def export_token(study, owner) -> str:
    return issue_token(study, owner, "export", name="archive")


@pytest.fixture
def manage_token(study, owner) -> str:
    return issue_token(study, owner, "manage", name="night watch")


def post(path: str, secret: str, **kwargs):
    return call(path, secret, method="post", **kwargs)


# ---- pause and resume --------------------------------------------------------------------------------


def test_paused_study_is_closed_to_new_participants(study, manage_token, owner):
    person = building.arrive(study, worker="A1")
    assert post("/studies/splitting/pause", manage_token).json()["state"] == "paused"
    with pytest.raises(NotOpen):
        building.arrive(Study.objects.get(), worker="A2")
    assert building.consent(person).position == 2, "participants in the study continue"
    assert post("/studies/splitting/resume", manage_token).json()["state"] == "launched"
    building.arrive(Study.objects.get(), worker="A2")
    history = list(LogEntry.objects.order_by("pk").values_list("user", "object_id", "change_message"))
    assert [(user, key) for user, key, _action in history] == [(owner.pk, str(study.pk))] * 2
    assert "Paused." in history[0][2] and "night watch" in history[0][2] and "Resumed." in history[1][2]
    records = Record.objects.filter(of_kind="studies.study", action__in=["paused", "resumed"]).order_by("pk")
    assert [(record.action, record.by, record.of_key) for record in records] == [
        ("paused", "researcher", str(study.pk)), ("resumed", "researcher", str(study.pk)),
    ]  # fmt: skip
    assert all(record.details["program"].startswith("night watch (") for record in records)


def test_a_second_call_changes_nothing(study, manage_token):
    for _i in range(2):
        assert post("/studies/splitting/pause", manage_token).json()["state"] == "paused"
    assert LogEntry.objects.count() == Record.objects.filter(action="paused").count() == 1


@pytest.mark.parametrize("status", ["draft", "closed"])
def test_study_not_running_cannot_be_paused_or_resumed(study, manage_token, status):
    Study.objects.update(status=status)
    for action in ("pause", "resume"):
        refused = post(f"/studies/splitting/{action}", manage_token)
        assert refused.status_code == 409 and status in refused.json()["reason"]
    assert Study.objects.get().status == status


# ---- datasets ----------------------------------------------------------------------------------------


def test_a_dataset_is_requested_written_and_downloaded(study, export_token, tmp_path):
    building.complete(study, worker="A1", messages=["hello"])
    requested = post("/studies/splitting/datasets", export_token)
    assert requested.status_code == 202 and requested.json()["state"] == "queued"
    address = f"/studies/splitting/datasets/{requested.json()['uid']}"
    refused = call(f"{address}/download", export_token)
    assert refused.status_code == 409 and "ready" in refused.json()["reason"]
    again = post("/studies/splitting/datasets", export_token)
    assert (again.status_code, again.json()["uid"]) == (200, requested.json()["uid"])

    background.write(Dataset.objects.get().pk)
    ready = call(address, export_token).json()
    assert ready["state"] == "ready" and ready["counts"]["matches.csv"] == 1
    download = call(f"{address}/download", export_token)
    content = b"".join(download.streaming_content)
    assert len(content) == ready["bytes"] == int(download["Content-Length"])
    zipfile.ZipFile(io.BytesIO(content)).extractall(tmp_path)
    (folder,) = tmp_path.iterdir()
    assert verify(folder) == []
    assert {"Requested a dataset." in entry.change_message for entry in LogEntry.objects.all()} == {True, False}
    records = Record.objects.filter(of_kind="studies.study", of_key=study.pk, by="researcher").order_by("pk")
    assert [(record.action, record.details["dataset"]) for record in records] == [
        ("exported", requested.json()["uid"]), ("downloaded", requested.json()["uid"]),
    ]  # fmt: skip


def test_only_the_newest_datasets_are_kept(study, export_token):
    for _i in range(background.KEPT_DATASETS + 2):
        background.write(background.request_dataset(study)[0].pk)
    datasets = list(Dataset.objects.all())
    assert len(datasets) == background.KEPT_DATASETS and all(
        dataset.file.storage.exists(dataset.file.name) for dataset in datasets
    )
    listed = call("/studies/splitting/datasets", export_token).json()["datasets"]
    assert [entry["uid"] for entry in listed] == [str(dataset.uid) for dataset in datasets]


def test_a_dataset_is_written_once_even_if_its_task_runs_twice(study):
    requested, _new = background.request_dataset(study)
    background.write(requested.pk)
    before = Dataset.objects.get()
    background.write(requested.pk)
    after = Dataset.objects.get()
    assert (after.file.name, after.ended_at) == (before.file.name, before.ended_at)


def test_dataset_of_a_crashed_writer_can_be_requested_again(study, export_token):
    requested, _new = background.request_dataset(study)
    Dataset.objects.update(state="writing", alive_at=timezone.now() - DEAD_AFTER - timedelta(seconds=1))
    failed = call(f"/studies/splitting/datasets/{requested.uid}", export_token).json()
    assert failed["state"] == "failed" and "request another dataset" in failed["reason"]
    assert post("/studies/splitting/datasets", export_token).status_code == 202


def test_a_study_that_was_never_launched_has_nothing_to_export(owner):
    draft = Study.objects.create(slug="draft", draft=kit.document(), created_by=owner)
    refused = post("/studies/draft/datasets", issue_token(draft, owner, "export"))
    assert refused.status_code == 409 and not Dataset.objects.exists()


def test_excluded_participants_are_included_on_request(study, export_token):
    requested = post("/studies/splitting/datasets", export_token, data='{"excluded": true}')
    assert requested.status_code == 202 and requested.json()["excluded"]
    assert Dataset.objects.get().excluded


def test_points_in_time_are_cut_on_request(study, export_token):
    requested = post("/studies/splitting/datasets", export_token, data='{"times": "hour"}')
    assert requested.status_code == 202 and requested.json()["times"] == Dataset.objects.get().times == "hour"
    refused = post("/studies/splitting/datasets", export_token, data='{"times": "day"}')
    assert refused.status_code in (400, 422)


def test_an_unknown_format_is_refused(study, export_token):
    refused = post("/studies/splitting/datasets", export_token, data='{"formats": ["xlsx"]}')
    assert refused.status_code == 422 and "csv" in refused.json()["reason"]
    assert post("/studies/splitting/datasets", export_token, data="nonsense").status_code == 400
    assert not Dataset.objects.exists()


def test_a_missing_file_is_reported(study, export_token):
    requested, _new = background.request_dataset(study)
    background.write(requested.pk)
    dataset = Dataset.objects.get()
    dataset.file.storage.delete(dataset.file.name)
    response = call(f"/studies/splitting/datasets/{requested.uid}/download", export_token)
    assert response.status_code == 409 and "another" in response.json()["reason"]
