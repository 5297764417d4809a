"""A dataset's metadata for other tools, and that these tools can read it."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import made_once
from exports.dataset import export
from exports.forms import PublicationForm
from exports.metadata.creators import Creator, creators_of
from exports.models import Publication
from exports.readme import publication_of
from exports.tests import building
from exports.verify import verify

PUBLISHED = {
    "authors": "Lovelace, Ada (0000-0002-1825-0097); Institute of Games",
    "licence": "CC-BY-4.0",
    "doi": "10.5281/zenodo.123",
    "description": "People split money with a model.",
    "limitations": "Students only.",
}


def with_a_model(folder: Path) -> Path:
    """Write a dataset of a study that one person completed, with one recorded model call by the opponent."""
    study = building.new_study()
    person = building.complete(study, worker="A1WORKER", messages=["hello"])
    match = person.seats.get().match
    for problem in ("That is more than there is.", None):
        building.save_call(
            match, answer="{}", answered_by="m-2026-05-01", endpoint="lab", problem=problem, structured="json_schema"
        )
    calls = {"budget_of": f"study:{study.slug}", "endpoint": "lab", "model": "m"}
    building.Call.objects.update(**calls)
    building.Call.objects.exclude(record__problem=None).update(outcome=building.Call.Outcome.RULE_BREAK)
    Publication.objects.create(study=study, **PUBLISHED)
    export(study, folder / "d")
    assert verify(folder / "d") == []
    return folder / "d"


exported = made_once(with_a_model, rows=False)


@pytest.fixture
def dataset(exported: Path, tmp_path: Path) -> Path:
    """A copy of that dataset, which a test may change."""
    return Path(shutil.copytree(exported, tmp_path / "d"))


def read(dataset: Path, name: str):
    return json.loads((dataset / name).read_text())


@pytest.mark.slow
def test_mlcroissant_reads_every_table_without_warnings(dataset):
    reader = [sys.executable, str(Path(__file__).with_name("croissant_reader.py")), str(dataset / "croissant.json")]
    summary = json.loads(subprocess.run(reader, capture_output=True, text=True, check=True).stdout.splitlines()[-1])
    assert (summary["errors"], summary["warnings"], summary["is_v1_1"]) == ([], [], True)
    assert (summary["document"]["license"], summary["document"]["url"]) == (
        "https://creativecommons.org/licenses/by/4.0/",
        "https://doi.org/10.5281/zenodo.123",
    )
    assert summary["limitations"][0] == "Students only."
    assert summary["records"]
    for name, records in summary["records"].items():
        rows = list(csv.reader((dataset / f"{name}.csv").open(newline="")))
        assert (records["rows"], records["fields"]) == (len(rows) - 1, rows[0]), name
    manifest = read_manifest(dataset)
    assert summary["files"] == {
        name: entry["sha256"]
        for name, entry in manifest["files"].items()
        if name not in ("croissant.json", "README.md")
    }


def read_manifest(dataset: Path):
    return read(dataset, "manifest.json")


def test_the_psych_ds_folder_is_valid(dataset):
    """Its validator 1.5 requires, in short: valid names, and a description for every column and no others."""
    root = dataset / "psych-ds"
    described = read(dataset, "psych-ds/dataset_description.json")
    assert described["@context"] == "https://schema.org/" and described["@type"] == "Dataset"
    assert described["name"] and described["description"]
    variables = [variable["name"] for variable in described["variableMeasured"]]
    assert len(variables) == len(set(variables)) and all(v["description"] for v in described["variableMeasured"])
    columns = set()
    tables = sorted((root / "data").iterdir())
    assert {"description-matches_data.csv", "description-participants_data.csv"} <= {path.name for path in tables}
    for path in tables:
        assert re.fullmatch(r"([a-z]+-[a-zA-Z0-9]+)(_[a-z]+-[a-zA-Z0-9]+)*_data\.csv", path.name)
        header, *rows = csv.reader(path.open(newline=""))
        assert rows and all(len(row) == len(header) for row in rows) and len(header) == len(set(header))
        assert "row_id" not in header
        columns |= set(header)
    assert columns == set(variables)


def test_a_changed_psych_ds_folder_is_detected(dataset):
    table = dataset / "psych-ds" / "data" / "description-matches_data.csv"
    table.unlink()
    assert any("description-matches_data.csv" in difference for difference in verify(dataset))
    shutil.copyfile(dataset / "seats.csv", table)
    assert any("was changed" in difference for difference in verify(dataset))
    shutil.copyfile(dataset / "matches.csv", table)
    assert verify(dataset) == []
    (dataset / "psych-ds" / "more.txt").write_text("more")
    assert any("more.txt" in difference for difference in verify(dataset))


def test_datacite_has_creators_licence_and_doi(dataset):
    document = read(dataset, "datacite.json")
    assert document["creators"] == [
        {
            "name": "Lovelace, Ada",
            "givenName": "Ada",
            "familyName": "Lovelace",
            "nameType": "Personal",
            "nameIdentifiers": [
                {
                    "nameIdentifier": "https://orcid.org/0000-0002-1825-0097",
                    "nameIdentifierScheme": "ORCID",
                    "schemeUri": "https://orcid.org",
                }
            ],
        },
        {"name": "Institute of Games"},
    ]
    assert document["doi"] == "10.5281/zenodo.123"
    assert document["rightsList"][0]["rightsIdentifier"] == "CC-BY-4.0"
    assert document["types"]["resourceTypeGeneral"] == "Dataset"
    assert "People split money with a model." in document["descriptions"][0]["description"]


def test_the_checklist_is_filled_in_from_logs_and_asks_for_the_rest(dataset):
    items = {item["item"]: item for item in read(dataset, "reporting-checklist.json")["items"]}
    core = [key for key, item in items.items() if item["core"]]
    assert core == ["A.1", "A.2", "B.1", "B.2", "B.3", "B.4", "B.5", "C.1", "C.2", "D.1", "E.1", "E.2", "F.1", "G.1"]
    for words in ("m at endpoint “lab”", "m-2026-05-01; 2 calls"):
        assert words in items["B.1"]["from_the_logs"][0]
    assert '{"temperature":1.0}' in items["B.3"]["from_the_logs"][0]
    assert any("1 of 2 calls gave" in answer for answer in items["E.2"]["from_the_logs"])
    assert items["G.1"]["from_the_logs"] == [] and items["G.1"]["open_question"]
    text = (dataset / "reporting-checklist.md").read_text()
    assert text.count("answered by the authors:") == sum(bool(item["open_question"]) for item in items.values())


def test_checklist_without_models_is_empty(db, tmp_path):
    study = building.new_study()
    export(study, tmp_path / "d")
    assert read(tmp_path / "d", "reporting-checklist.json")["items"] == []
    assert "No language model was called" in (tmp_path / "d" / "reporting-checklist.md").read_text()
    assert read(tmp_path / "d", "datacite.json")["creators"] == [{"name": ":unav"}]
    assert verify(tmp_path / "d") == []


def test_readme_examples_load_the_dataset(dataset, monkeypatch):
    monkeypatch.chdir(dataset)
    code = dict(re.findall(r"```(python|r|sql)\n(.*?)\n```", (dataset / "README.md").read_text(), re.DOTALL))
    assert [len(lines.splitlines()) for lines in (code["python"], code["r"], code["sql"])] == [3, 3, 3]
    decisions = len(list(csv.reader((dataset / "decisions.csv").open(newline="")))) - 1
    namespace: dict = {}
    exec(code["python"], namespace)
    assert len(namespace["both"]) == decisions > 0 and namespace["both"]["config_messages_allowed"].notna().all()
    count_query = code["sql"].replace("SELECT *", "SELECT count(*)")
    script = f"import duckdb; print(duckdb.connect().execute({count_query!r}).fetchone()[0])"
    assert int(subprocess.check_output([sys.executable, "-c", script], stderr=subprocess.DEVNULL)) == decisions
    if shutil.which("Rscript"):
        output = subprocess.run(
            ["Rscript", "--vanilla", "-e", f"{code['r']}\ncat(nrow(both), class(matches$in_dataset))"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert output.stdout == f"{decisions} logical"


@pytest.mark.parametrize(
    ("authors", "expected"),
    [
        ("", []),
        ("Ada Lovelace", [Creator("Ada Lovelace")]),
        ("Lovelace, Ada", [Creator("Ada Lovelace", "Ada", "Lovelace")]),
        ("Lovelace, Ada, Countess", [Creator("Lovelace, Ada, Countess")]),
        ("A B https://orcid.org/0000-0002-1825-009X;", [Creator("A B", orcid="0000-0002-1825-009X")]),
    ],
)
def test_authors_are_split_only_if_unambiguous(authors, expected):
    assert creators_of(authors) == expected


@pytest.mark.parametrize(
    ("typed", "kept"),
    [("https://doi.org/10.5281/zenodo.1", "10.5281/zenodo.1"), ("doi: 10.1/x", None), ("<b>", None), ("", "")],
)
def test_invalid_dois_are_refused(db, typed, kept):
    form = PublicationForm({"doi": typed}, instance=publication_of(building.new_study()))
    assert form.is_valid() == (kept is not None)
    assert kept is None or form.cleaned_data["doi"] == kept
