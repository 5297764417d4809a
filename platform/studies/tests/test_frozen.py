"""A launched version is written once: neither Python nor the database changes it afterwards."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction

from studies.freezing import launch, parts_of
from studies.frozen import Frozen
from studies.models import Study, Version
from tests.visitors import launched

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "deed",
    [
        lambda version: version.save(),
        lambda version: version.delete(),
        lambda version: Version.objects.update(number=9),
        lambda version: Version.objects.filter(pk=version.pk).delete(),
        lambda version: Version.objects.bulk_update([version], ["number"]),
        lambda version: version.study.versions.update(content={}),
    ],
    ids=["save", "delete", "update", "delete rows", "bulk update", "update by study"],
)
def test_the_model_refuses_to_change_a_version(deed):
    version = launched().versions.get()
    before = Version.objects.values().get()
    version.number = 9
    with pytest.raises(Frozen):
        deed(version)
    assert Version.objects.values().get() == before


@pytest.mark.parametrize("column", ["content", "sha256", "number", "code_revision", "seed", "launched_at"])
def test_the_database_refuses_to_change_a_version(column):
    launched()
    before = Version.objects.values().get()
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE studies_version SET {column} = {column}")
    assert Version.objects.values().get() == before


def test_a_version_is_hashed_whole_and_part_by_part():
    study = launched()
    first = study.versions.get()
    Study.objects.update(base="2.50", consent="Another text.")
    second = launch(study)
    before, after = parts_of(first.content), parts_of(second.content)
    assert set(before) == set(first.content)
    assert {name for name in before if before[name] != after[name]} == {"texts", "pay"}
    assert all(len(digest) == 64 for digest in before.values())
