from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from conftest import made_once


def two_matches(folder: Path) -> Path:
    """Write a dataset with two matches, and two participants who are excluded."""
    # Models can be imported only after Django has been set up, which happens after this file is read.
    from exports.dataset import export
    from exports.tests import building

    study = building.new_study()
    first = building.complete(study, worker="A1FIRSTWORKER", name="Maria", messages=["Half for you?", "=1+1", "-5"])
    said = [{"role": "user", "content": "Maria says: Half?"}]
    building.save_call(building.match_of(first), messages=said, answer="-2", input_tokens=12)
    building.complete(study, worker="A2SECONDWORKER", name="Lee", messages=['Über 1.000 €?\nSay yes, "Bob"'])
    stranger = building.consent(building.arrive(study, worker="A3THIRDWORKER"), name="Kim")
    building.read_instructions(stranger, word="wrong")
    building.consent(building.arrive(study, worker="A4FOURTHWORKER"), name="Ada")
    export(study, folder / "splitting")
    return folder / "splitting"


finished_dataset = made_once(two_matches, scope="session", rows=False)
"""A dataset that no test modifies."""


@pytest.fixture
def dataset(finished_dataset: Path, tmp_path: Path) -> Path:
    """A copy of that dataset that a test may modify."""
    return Path(shutil.copytree(finished_dataset, tmp_path / "dataset"))
