from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def finished_dataset(tmp_path_factory, django_db_setup, django_db_blocker) -> Iterator[Path]:
    """A dataset with two matches, and two participants who are excluded; never modified."""
    # Models can be imported only after Django has been set up, which happens after this file is read.
    from django.db import transaction

    from exports.dataset import export
    from exports.tests import building

    folder = tmp_path_factory.mktemp("dataset") / "splitting"
    with django_db_blocker.unblock(), transaction.atomic():
        study = building.new_study()
        first = building.complete(study, worker="A1FIRSTWORKER", name="Maria", messages=["Half for you?", "=1+1", "-5"])
        building.save_call(
            building.match_of(first),
            messages=[{"role": "user", "content": "Maria says: Half?"}],
            answer="-2",
            input_tokens=12,
        )
        building.complete(study, worker="A2SECONDWORKER", name="Lee", messages=['Über 1.000 €?\nSay yes, "Bob"'])
        stranger = building.consent(building.arrive(study, worker="A3THIRDWORKER"), name="Kim")
        building.read_instructions(stranger, word="wrong")
        building.consent(building.arrive(study, worker="A4FOURTHWORKER"), name="Ada")
        export(study, folder)
        transaction.set_rollback(True)
    yield folder


@pytest.fixture
def dataset(finished_dataset: Path, tmp_path: Path) -> Path:
    """A copy of that dataset that a test may modify."""
    return Path(shutil.copytree(finished_dataset, tmp_path / "dataset"))
