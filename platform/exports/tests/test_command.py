"""`manage.py export_dataset` from the researcher's shell."""

from __future__ import annotations

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
    assert "1 of 1 matches are in the dataset" in out
    assert "1 of 2 participants are in the dataset" in out
    assert "not_finished: 1" in out
    assert verify(tmp_path / "d") == []


@pytest.mark.parametrize(
    ("arguments", "expected_text"),
    [
        (["nonsense"], "No study or collection is called “nonsense”. Existing ones: splitting."),
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
