"""The dataset as a download."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient
from django.urls import reverse

from audit.deeds import Deed
from audit.models import Record
from collecting.models import Collection
from collecting.planning import Plan, make_collection
from exports.tests import building
from exports.verify import verify
from rights.members import give
from rights.roles import Role
from studies.models import Study

URL = "/admin/exports/splitting/dataset.zip"


def researcher(thing: Study | Collection | None = None, role: Role = Role.EDITOR) -> User:
    """Somebody of the staff, with a part in `thing`."""
    user = User.objects.create_user("researcher", password="long enough 123", is_staff=True)
    if thing is not None:
        give(thing, user=user, role=role, by=None)
    return user


@pytest.fixture
def study(db):
    study = building.new_study()
    building.complete(study, worker="A1", messages=["hello"])
    return study


def test_a_researcher_gets_a_zip_that_verifies(client, study, tmp_path):
    client.force_login(researcher(study))
    response = client.post(reverse("exports:dataset", args=[study.slug]))
    content = b"".join(response.streaming_content)
    assert response["Content-Type"] == "application/zip"
    assert int(response["Content-Length"]) == len(content)
    zipfile.ZipFile(io.BytesIO(content)).extractall(tmp_path)
    (folder,) = tmp_path.iterdir()
    assert folder.name.startswith("splitting-")
    assert verify(folder) == []


@pytest.mark.django_db(transaction=True)
async def test_the_web_server_streams_it_piece_by_piece():
    from asgiref.sync import sync_to_async

    def prepare():
        return researcher(building.new_study())

    client = AsyncClient()
    await client.aforce_login(await sync_to_async(prepare)())
    response = await client.post(URL)
    assert response.is_async
    content = b"".join([piece async for piece in response.streaming_content])
    assert zipfile.ZipFile(io.BytesIO(content)).testzip() is None


def test_only_by_post(client, study):
    client.force_login(researcher(study))
    assert client.get(URL).status_code == 405


def test_who_has_no_part_in_it_finds_nothing_and_a_viewer_is_refused(client, study):
    user = researcher()
    client.force_login(user)
    assert client.post(URL).status_code == 404
    give(study, user=user, role=Role.VIEWER, by=None)
    assert client.post(URL).status_code == 403
    assert not Record.objects.filter(deed=Deed.EXPORTED).exists()


def test_who_exported_is_written_down(client, study):
    client.force_login(researcher(study))
    client.post(URL)
    record = Record.objects.get(deed=Deed.EXPORTED)
    assert (record.by, record.title) == ("researcher", "Splitting money")


def test_strangers_are_sent_to_the_login(client, study):
    response = client.post(URL)
    assert response.status_code == 302 and "/admin/login/" in response["Location"]


def test_an_unknown_study_is_not_found(client, study):
    client.force_login(researcher(study))
    assert client.post("/admin/exports/nonsense/dataset.zip").status_code == 404


@pytest.mark.django_db
def test_a_collection_is_sent_to_its_editors(client):
    collection = make_collection(
        Plan(title="C", slug="c", game="bargaining", configurations=[{}], agents=["script:fair"])
    )
    address = reverse("exports:dataset_of_collection", args=["c"])
    user = researcher()
    client.force_login(user)
    assert client.post(address).status_code == 404
    give(collection, user=user, role=Role.EDITOR, by=None)
    assert client.get(address).status_code == 405
    packed = io.BytesIO(b"".join(client.post(address).streaming_content))
    names = {Path(name).name for name in zipfile.ZipFile(packed).namelist()}
    assert {"matches.csv", "manifest.json"} <= names
