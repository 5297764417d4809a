"""`manage.py study`: plans as files, on the command line."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from plans.canonical import canonical
from plans.files import dumps
from plans.tests.examples import FRAMING, changed
from studies.models import Study
from studies.tests.kit import new_study


def run(*arguments) -> tuple[str, int]:
    """Return what the command prints and its exit code."""
    out = io.StringIO()
    try:
        call_command("study", *map(str, arguments), stdout=out, stderr=io.StringIO())
    except SystemExit as end:
        return out.getvalue(), int(end.code or 0)
    except CommandError as error:
        return str(error), error.returncode
    return out.getvalue(), 0


@pytest.fixture
def file(tmp_path):
    def write(document, name="plan.yaml"):
        path = tmp_path / name
        path.write_text(dumps(document))
        return path

    return write


def test_check_prints_cells_matches_and_faults(file):
    printed, code = run("check", file(FRAMING), "--json")
    assert code == 0
    assert json.loads(printed)["matches"] == 640
    printed, code = run("check", file(changed("pay.base", -1)), "--json")
    assert code == 2
    (fault,) = json.loads(printed)["faults"]
    assert fault["at"] == "pay.base"


def test_check_of_a_file_that_cannot_be_read(tmp_path):
    assert run("check", tmp_path / "missing.yaml")[1] == 2
    (tmp_path / "broken.yaml").write_text("a: {")
    printed, code = run("check", tmp_path / "broken.yaml", "--json")
    assert (json.loads(printed)["cells"], code) == ([], 2)


def test_resolve_prints_a_plan_without_factors(file):
    levels = {"wording": "give", "opponent": "model", "stakes": "small", "horizon": "long"}
    printed, code = run("resolve", file(FRAMING), "--factors", json.dumps(levels), "--json")
    assert code == 0
    assert '"by"' not in printed
    assert json.loads(printed)["journey"][3]["of"][0]["config"]["rounds"] == 12


@pytest.mark.parametrize(
    "levels, names",
    [
        ({"wording": "give"}, ["opponent", "stakes", "horizon"]),
        ({"wording": "lend", "opponent": "model", "stakes": "small", "horizon": "long"}, ["lend"]),
    ],
)
def test_resolve_names_what_is_missing(file, levels, names):
    printed, code = run("resolve", file(FRAMING), "--factors", json.dumps(levels))
    assert code == 2
    assert all(name in printed for name in names)


def test_diff_exits_with_1_only_if_the_plans_differ(file):
    first = file(FRAMING)
    assert run("diff", first, file(canonical(FRAMING), "same.yaml")) == ("", 0)
    printed, code = run("diff", first, file(changed("pay.base", 2), "other.yaml"))
    assert (printed.strip(), code) == ("pay, base: 1.00 → 2.00", 1)


@pytest.mark.django_db
def test_export_and_import_are_each_other_s_inverse(tmp_path):
    study = new_study("talk")
    assert run("export", "talk", "--to", tmp_path / "talk.yaml") == ("", 0)
    printed, code = run("import", tmp_path / "talk.yaml")
    assert code == 0
    assert canonical(Study.objects.get(slug=printed.strip()).draft) == canonical(study.draft)


@pytest.mark.django_db
def test_what_cannot_be_imported_or_exported_is_named(tmp_path, file):
    assert run("import", file(changed("pay.base", -1)))[1] == 2
    assert run("export", "nowhere", "--to", tmp_path / "x.yaml")[1] == 2
    assert not Study.objects.exists()
