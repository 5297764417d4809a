"""`manage.py export_dataset` from the researcher's shell."""

from __future__ import annotations

import csv
import json

import pytest
from django.core.management import CommandError, call_command

from exports.tests import building
from exports.verify import verify

pytestmark = pytest.mark.django_db


def test_command_exports_and_prints_counts(tmp_path, capsys):
    study = building.new_study()
    building.complete(study, worker="A1")
    building.arrive(study, worker="A2")
    call_command("export_dataset", "splitting", "--to", str(tmp_path / "d"))
    out = capsys.readouterr().out
    assert "1 of 1 matches" in out and "1 of 2 participants" in out and "not_finished: 1" in out
    assert verify(tmp_path / "d") == []


@pytest.mark.parametrize(
    ("times", "zeros", "formats"),
    [("minute", ":00.000000Z", "csv,parquet,jsonl"), ("hour", ":00:00.000000Z", "csv,parquet,jsonl,otree")],
)
def test_points_in_time_are_cut_and_durations_are_not(tmp_path, times, zeros, formats):
    study = building.new_study()
    person = building.complete(study, worker="A1")
    for name in ("exact", times):
        call_command("export_dataset", "splitting", "--to", str(tmp_path / name), "--times", name, "--formats", formats)
    assert verify(tmp_path / times) == []
    manifest = json.loads((tmp_path / times / "manifest.json").read_text())
    assert manifest["times"] == times and "times" not in json.loads((tmp_path / "exact/manifest.json").read_text())
    assert f"cut to the {times}" in (tmp_path / times / "README.md").read_text()
    compared = 0
    for table in {path.name for path in (tmp_path / times).glob("*.csv")} - {"codebook.csv"}:
        cut_rows, exact_rows = (csv.DictReader((tmp_path / name / table).open(newline="")) for name in (times, "exact"))
        for cut_row, exact_row in zip(cut_rows, exact_rows, strict=True):
            for column, value in cut_row.items():
                if column.endswith("_at") and value:
                    assert value.endswith(zeros) and exact_row[column].startswith(value.removesuffix(zeros))
                    compared += 1
                elif column in exact_row and column != "participant.time_started_utc":
                    assert value == exact_row[column]
    assert compared >= 8
    people = csv.DictReader((tmp_path / times / "participants.csv").open(newline=""))
    seconds = (person.ended_at - person.arrived_at).total_seconds()
    assert float(next(people)["seconds"]) == pytest.approx(seconds, abs=0.001)
    everything = "".join(path.read_text() for path in (tmp_path / times).iterdir() if path.suffix in (".csv", ".jsonl"))
    assert f"{person.arrived_at:%S.%f}" not in everything


@pytest.mark.parametrize(
    ("arguments", "expected_text"),
    [
        (["nonsense"], "“nonsense”. Existing ones: splitting"),
        (["splitting", "--formats", "csv,pdf"], "Unknown format: pdf"),
        (["splitting", "--formats", ","], "Unknown format: none given"),
    ],
)
def test_refusals_are_one_line_with_exit_code_2(tmp_path, arguments, expected_text):
    building.new_study()
    with pytest.raises(CommandError, match=expected_text) as refused:
        call_command("export_dataset", *arguments, "--to", str(tmp_path / "d"))
    assert refused.value.returncode == 2
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "d").exists()


def test_a_folder_in_use_needs_overwrite(tmp_path):
    building.new_study()
    call_command("export_dataset", "splitting", "--to", str(tmp_path / "d"))
    with pytest.raises(CommandError, match="not empty") as refused:
        call_command("export_dataset", "splitting", "--to", str(tmp_path / "d"))
    assert refused.value.returncode == 2
    call_command("export_dataset", "splitting", "--to", str(tmp_path / "d"), "--overwrite", "--formats", "csv")
    assert verify(tmp_path / "d") == []
