"""Several processes write and check the same as one, in the same order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from collecting import driver, services
from collecting.models import Collection
from collecting.tests.kit import new_collection
from conftest import slow_except
from exports import metadata, portions, verify
from exports.dataset import Progress, export
from exports.tests import building
from exports.tests.test_dataset import rows

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def small_portions(monkeypatch) -> None:
    """Make portions so small that these few matches need several."""
    monkeypatch.setattr(portions, "PEOPLE", 2)
    monkeypatch.setattr(portions, "MATCHES", 5)
    monkeypatch.setattr(verify, "MIN_BYTES", 1)


@pytest.fixture
def played() -> Collection:
    plan = {"configurations": [{"rounds": 4}], "agents": ["script:fair", "script:random"], "repetitions": 4}
    collection = services.start(new_collection(seed=5, **plan))
    driver.drive(collection, slot=0)
    return collection


def hashes(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the hashes of files that hold data, not those with the time of writing."""
    for path in sorted(filter(Path.is_file, folder.rglob("*"))):
        if path.name not in ("manifest.json", "README.md", "dataset_description.json", *metadata.FILES):
            yield path.name, hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.slow
def test_two_processes_write_the_same_files_as_one(tmp_path, played):
    steps: list[Progress] = []
    export(played, tmp_path / "one", processes=1)
    export(played, tmp_path / "two", processes=2, on_progress=steps.append)
    export(played, tmp_path / "helped", processes=2, caller_works=True)
    assert dict(hashes(tmp_path / "one")) == dict(hashes(tmp_path / "two")) == dict(hashes(tmp_path / "helped"))
    assert [(progress.done, progress.total) for progress in steps] == [(5, 16), (10, 16), (15, 16), (16, 16)]
    assert not list((tmp_path / "two").glob(".pieces*"))
    verification = verify.examine(tmp_path / "two", processes=2)
    assert (verification.differences, verification.matches) == ([], 16)
    assert verification.decisions == verify.examine(tmp_path / "one", processes=1).decisions


@pytest.mark.parametrize(
    "name", slow_except(["matches.csv", "decisions.csv", "transcripts.jsonl"], ["transcripts.jsonl"])
)
def test_two_processes_detect_missing_and_extra_rows(tmp_path, played, name):
    from exports.tests.test_verify import reseal

    export(played, tmp_path / "d", processes=1)
    lines = (tmp_path / "d" / name).read_bytes().splitlines(keepends=True)
    middle = len(lines) // 2
    for changed in ([*lines[:middle], *lines[middle + 1 :]], [*lines[:middle], lines[middle], *lines[middle:]]):
        (tmp_path / "d" / name).write_bytes(b"".join(changed))
        reseal(tmp_path / "d")
        assert verify.examine(tmp_path / "d", processes=2).differences


@pytest.mark.slow
def test_people_in_several_portions_are_each_counted_once(tmp_path):
    study = building.new_study()
    people = [building.complete(study, worker=f"A{i}") for i in range(4)]
    late = building.arrive(study, worker="A9")
    manifest = export(study, tmp_path / "d", processes=2, caller_works=True)
    assert manifest.flow["arrived"] == 5 and manifest.flow["in_dataset"] == 4
    assert [row["participant"] for row in rows(tmp_path / "d", "participants")] == [
        person.pseudonym for person in [*people, late]
    ]
    assert verify.verify(tmp_path / "d") == []
