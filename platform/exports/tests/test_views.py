"""The page of datasets: access and contents."""

from __future__ import annotations

import io
import os
import re
import tempfile
import zipfile
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.test import AsyncClient, Client
from django.urls import reverse
from django.utils import timezone

from audit.actions import Action
from audit.models import Record
from collecting.models import Collection
from collecting.tests.kit import new_collection
from exports import background
from exports.errors import Stopped
from exports.models import DEAD_AFTER, Dataset, Publication
from exports.packing import pack_dataset
from exports.tests import building
from exports.verify import verify
from rights.members import give
from rights.roles import Role
from studies.models import Study


def researcher(parent: Study | Collection | None = None, role: Role = Role.EDITOR) -> User:
    """Return a staff user with a role in `parent`."""
    user = User.objects.create_user("researcher", password="long enough 123", is_staff=True)
    if parent is not None:
        give(parent, user=user, role=role, by=None)
    return user


@pytest.fixture
def study(db):
    study = building.new_study()
    building.complete(study, worker="A1", messages=["hello"])
    building.arrive(study, worker="A2")
    return study


def address(name: str, parent: Study | Collection, *ids: object) -> str:
    suffix = "" if isinstance(parent, Study) else "_of_collection"
    return reverse(f"exports:{name}{suffix}", args=[parent.pk, *ids])


def ready_dataset(study: Study | Collection, formats: tuple[str, ...] = ("csv", "jsonl")) -> Dataset:
    """Return a dataset that the worker has written."""
    dataset, _new = background.request_dataset(study, formats)
    background.write(dataset.pk)
    dataset.refresh_from_db()
    assert dataset.state == Dataset.State.READY, dataset.reason
    return dataset


def page_of(client: Client, parent: Study | Collection) -> str:
    return client.get(address("page", parent)).content.decode()


def test_a_requested_dataset_is_listed_while_it_waits(client, study):
    client.force_login(researcher(study))
    assert client.post(address("write", study), {"formats": ["csv"], "times": "day"}).status_code == 400
    client.post(address("write", study), {"formats": ["csv", "parquet"], "times": "hour"})
    dataset = Dataset.objects.get()
    assert (dataset.state, dataset.formats) == ("queued", ["csv", "parquet"])
    page = page_of(client, study)
    assert "Waiting for a worker" in page and "data-alive" in page and "times to the hour" in page
    client.post(address("write", study), {"formats": ["csv"]})
    assert Dataset.objects.count() == 1
    assert [record.by for record in Record.objects.filter(action=Action.EXPORTED)] == ["researcher"]


def test_progress_survives_a_reload(client, study):
    client.force_login(researcher(study))
    dataset, _new = background.request_dataset(study)
    Dataset.objects.filter(pk=dataset.pk).update(state="writing", done=20_000, expected=80_000, written=5 * 1024 * 1024)
    for html in (page_of(client, study), client.get(address("now", study)).content.decode()):
        assert "20,000 of 80,000 matches, 5.0" in html and 'aria-valuenow="25"' in html


def test_a_ready_dataset_can_be_downloaded_and_verifies(client, study, tmp_path):
    client.force_login(researcher(study))
    dataset = ready_dataset(study)
    assert (dataset.done, dataset.expected) == (1, 1)
    response = client.post(address("download", study, dataset.uid))
    content = b"".join(response.streaming_content)
    assert response["Content-Type"] == "application/zip"
    assert int(response["Content-Length"]) == len(content)
    zipfile.ZipFile(io.BytesIO(content)).extractall(tmp_path)
    (folder,) = tmp_path.iterdir()
    assert folder.name.startswith("splitting-")
    assert verify(folder) == []
    logged = Record.objects.get(action=Action.DOWNLOADED)
    assert (logged.by, logged.details["dataset"]) == ("researcher", str(dataset.uid))


def test_the_published_layout_is_in_the_archive(study, tmp_path):
    with ready_dataset(study, ("jsonl", "glee")).file.open("rb") as pack:
        zipfile.ZipFile(pack).extractall(tmp_path)
    (folder,) = tmp_path.iterdir()
    assert len(list((folder / "glee").rglob("game.csv"))) == 1
    assert verify(folder) == []


def test_writing_can_be_stopped_and_requested_again(client, study, monkeypatch):
    client.force_login(researcher(study))
    dataset, _new = background.request_dataset(study)
    client.post(address("stop", study, dataset.uid))
    background.write(dataset.pk)
    dataset.refresh_from_db()
    assert (dataset.state, dataset.reason) == ("failed", "It was stopped.")
    assert "It was stopped." in page_of(client, study)
    assert background.request_dataset(study)[1]


def test_a_writer_stops_when_its_dataset_is_stopped(study):
    dataset, _new = background.request_dataset(study)
    Dataset.objects.filter(pk=dataset.pk).update(state="writing")
    assert background.stop(dataset)
    with pytest.raises(Stopped):
        pack_dataset(study, "d", on_progress=background.progress_recorder(dataset))
    dataset.refresh_from_db()
    assert (dataset.state, dataset.file.name, background.stop(dataset)) == ("failed", "", False)


def test_output_of_a_killed_process_is_removed(study, tmp_path, monkeypatch):
    dataset, _new = background.request_dataset(study)
    store = dataset.file.storage
    store.save(f"{dataset.uid}.zip", ContentFile(b"half of it"))
    Dataset.objects.update(state=Dataset.State.WRITING, alive_at=timezone.now() - 2 * DEAD_AFTER)
    assert background.refresh(dataset).state == Dataset.State.FAILED
    assert not store.exists(f"{dataset.uid}.zip")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    leftover, running = tmp_path / "parley-dataset-left", tmp_path / "parley-dataset-now"
    for folder in (leftover, running):
        (folder / "d").mkdir(parents=True)
    os.utime(leftover, (0, 0))
    pack, _manifest = pack_dataset(study, "d", ["jsonl"])
    pack.close()
    assert list(tmp_path.iterdir()) == [running]


def test_the_figure_has_a_text_description(client, study):
    client.force_login(researcher(study, Role.VIEWER))
    assert "<svg" not in re.sub(r"(?s)<header.*?</header>", "", page_of(client, study)).split("export-kept")[-1]
    ready_dataset(study)
    page = page_of(client, study)
    for line in ("placed in a cell: 2", "excluded, still under way: 1", "In the dataset: 1"):
        assert line in page


def test_formats_must_be_chosen(client, study):
    client.force_login(researcher(study))
    for formats in ([], ["nonsense"]):
        page = client.post(address("write", study), {"formats": formats}, follow=True).content.decode()
        assert "Choose at least one format." in page
    assert not Dataset.objects.exists()


@pytest.mark.django_db(transaction=True)
async def test_the_web_server_streams_the_download(tmp_path):
    from asgiref.sync import sync_to_async

    def prepare():
        study = building.new_study()
        return researcher(study), address("download", study, ready_dataset(study).uid)

    client = AsyncClient()
    user, path = await sync_to_async(prepare)()
    await client.aforce_login(user)
    response = await client.post(path)
    assert response.is_async
    content = b"".join([chunk async for chunk in response.streaming_content])
    assert zipfile.ZipFile(io.BytesIO(content)).testzip() is None


def test_outsiders_get_404_and_viewers_cannot_change_anything(client, study):
    dataset = ready_dataset(study)
    user = researcher()
    client.force_login(user)
    for name in ("page", "now"):
        assert client.get(address(name, study)).status_code == 404
    give(study, user=user, role=Role.VIEWER, by=None)
    page = page_of(client, study)
    assert "Create dataset" not in page and "Download" not in page
    assert client.post(address("write", study), {"formats": ["csv"]}).status_code == 403
    assert client.post(address("download", study, dataset.uid)).status_code == 403
    assert client.post(address("publish", study), {"title": "Mine"}).status_code == 403
    assert not Record.objects.filter(action__in=[Action.EXPORTED, Action.DOWNLOADED]).exists()
    assert not Publication.objects.exists()


def test_a_dataset_of_another_study_is_not_found(client, study):
    other_study = building.new_study(slug="other")
    client.force_login(researcher(study))
    elsewhere = ready_dataset(other_study)
    assert client.post(address("download", study, elsewhere.uid)).status_code == 404
    assert client.post(address("stop", study, elsewhere.uid)).status_code == 404


def test_a_collection_has_the_same_page(client, db):
    collection = new_collection("c", agents=["script:fair"])
    user = researcher()
    client.force_login(user)
    assert client.get(address("page", collection)).status_code == 404
    give(collection, user=user, role=Role.EDITOR, by=None)
    client.post(address("write", collection), {"formats": ["csv"]})
    background.write(Dataset.objects.get().pk)
    page = page_of(client, collection)
    assert "Matches planned: 1" in page and "excluded, not begun: 1" in page
    buffer = io.BytesIO(
        b"".join(client.post(address("download", collection, Dataset.objects.get().uid)).streaming_content)
    )
    names = {Path(name).name for name in zipfile.ZipFile(buffer).namelist()}
    assert {"matches.csv", "manifest.json", "README.md", "flow.svg"} <= names


# ---- datasets' descriptions of themselves ----------------------------------------------------------------

DETAILS = {
    "title": "Who splits | how?", "authors": "A. Author; B. Author", "licence": "CC-BY-4.0", "own_licence": "",
    "citation": "Author & Author (2026).",
}  # fmt: skip


def test_publication_details_are_in_the_next_readme(client, study, tmp_path):
    client.force_login(researcher(study))
    before = list(study.versions.values_list("sha256", flat=True))
    client.post(address("publish", study), DETAILS)
    assert list(study.versions.values_list("sha256", flat=True)) == before
    from exports.dataset import export

    manifest = export(study, tmp_path / "d")
    readme = (tmp_path / "d" / "README.md").read_text()
    assert readme.startswith("# Who splits \\| how?\n\nA. Author; B. Author\n")
    assert "CC-BY-4.0" in readme and "Author &amp; Author (2026)." in readme
    assert manifest.publication == {
        "title": "Who splits | how?", "authors": "A. Author; B. Author", "licence": "CC-BY-4.0",
        "citation": "Author & Author (2026).", "doi": "", "description": "", "limitations": "",
    }  # fmt: skip
    assert verify(tmp_path / "d") == []


def test_another_licence_must_be_written_down(client, study):
    client.force_login(researcher(study))
    page = client.post(address("publish", study), DETAILS | {"licence": "own"}).content.decode()
    assert "Enter the licence" in page and "A. Author; B. Author" in page
    assert not Publication.objects.exists()
    client.post(address("publish", study), DETAILS | {"licence": "own", "own_licence": "By agreement."})
    assert Publication.objects.get(study=study).terms == "By agreement."
    client.post(address("publish", study), DETAILS)
    assert Publication.objects.get(study=study).own_licence == ""


def test_e_mail_addresses_are_refused_in_publication_details(client, study):
    client.force_login(researcher(study))
    typed = DETAILS | {"authors": "A. Author, author@example.org", "citation": "https://orcid.org/0000-0002-1825-0097"}
    page = client.post(address("publish", study), typed).content.decode()
    assert "Datasets contain no e-mail addresses" in page
    assert not Publication.objects.exists()
    client.post(address("publish", study), typed | {"authors": "A. Author"})
    assert Publication.objects.get(study=study).citation == typed["citation"]
