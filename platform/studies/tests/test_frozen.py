"""Launched versions are immutable in Python and in the database."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction

from plans.canonical import part_hashes
from studies.frozen import Frozen
from studies.models import Version
from studies.tests import kit
from tests.visitors import Visitor, arrived_participant, launched_study

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "action",
    [
        lambda version: version.save(),
        lambda version: version.delete(),
        lambda version: Version.objects.update(number=9),
        lambda version: Version.objects.filter(pk=version.pk).delete(),
        lambda version: Version.objects.bulk_update([version], ["number"]),
        lambda version: version.study.versions.update(document={}),
    ],
    ids=["save", "delete", "update", "delete rows", "bulk update", "update by study"],
)
def test_model_refuses_to_change_a_version(action):
    version = launched_study().versions.get()
    before = Version.objects.values().get()
    version.number = 9
    with pytest.raises(Frozen):
        action(version)
    assert Version.objects.values().get() == before


@pytest.mark.parametrize("column", ["document", "sha256", "number", "code_revision", "seed", "launched_at"])
def test_database_refuses_to_change_a_version(column):
    launched_study()
    before = Version.objects.values().get()
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE studies_version SET {column} = {column}")
    assert Version.objects.values().get() == before


def test_version_page_shows_the_hash_of_each_part(admin_client):
    version = launched_study().versions.get()
    page = admin_client.get(f"/admin/studies/version/{version.pk}/change/").content.decode()
    assert version.sha256 in page
    for digest in part_hashes(version.document).values():
        assert digest in page


def test_match_links_to_its_version():
    study = launched_study()
    early = arrived_participant(study, "early")
    kit.launch_again(study, turn=99)
    late = arrived_participant(study, "late")
    matches = [Visitor(person).walk_to("match").match() for person in (early, late)]
    numbers = [match.seats.get(enrolment__isnull=False).enrolment.placement.version.number for match in matches]
    assert numbers == [1, 2]


def test_version_is_hashed_as_a_whole_and_by_part():
    study = launched_study()
    first = study.versions.get()
    kit.launch_again(study, base="2.50", consent="Another text.")
    before, after = part_hashes(first.document), part_hashes(study.latest_version().document)
    assert set(before) == set(first.document)
    assert {name for name in before if before[name] != after[name]} == {"journey", "pay"}
    assert all(len(digest) == 64 for digest in before.values())
