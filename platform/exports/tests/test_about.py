"""How a dataset is described: codebook, figure, README."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest

from analysis.reasons import REASONS
from exports import codebook, figure, gate
from exports.dataset import export, reading_of, tables_for
from exports.models import Publication
from exports.parquet import schema_of
from exports.tests import building
from games import registry

UNITLESS = {"number", "time"}
"""Kinds whose values need a unit, or words that say what they measure."""
DETAILS = ("authors", "licence", "citation", "doi", "description", "limitations")
GAME_PREFIXES = ("config_", "move_")


@pytest.mark.django_db
@pytest.mark.parametrize("game", registry.keys())
def test_every_column_of_every_table_is_described(game):
    script = f"script:{min(registry.get(game).scripts)}"
    study = building.new_study(slug=f"{game.replace('_', '-')}-study", game=game, agents=script, quiz=False)
    all_tables = tables_for(reading_of(study))
    seen = set()
    for column in codebook.entries(all_tables.values()):
        table = column.table
        assert len(column.meaning) > 5 and column.meaning.endswith((".", "!", "?")), (table, column.name)
        if column.kind in UNITLESS and not column.name.startswith(GAME_PREFIXES):
            assert column.unit, (table, column.name)
        assert (table, column.name) not in seen
        seen.add((table, column.name))
    for table in all_tables.values():
        assert table.meaning.endswith(".")
        assert schema_of(table).names == [column.name for column in table.columns]


@pytest.mark.django_db
def test_survey_questions_are_described_by_their_text():
    study = building.new_study(before=[{"name": "age", "kind": "number", "text": "How old are you?"}])
    columns = tables_for(reading_of(study))["participants"].columns
    (column,) = [column for column in columns if column.name == "survey_before_age"]
    assert "How old are you?" in column.meaning


# ---- the figure ------------------------------------------------------------------------------------------


def flow(**reasons_by_stage: dict[str, int]) -> dict:
    counted = gate.Flow()
    for stage, reasons in reasons_by_stage.items():
        for reason, count in reasons.items():
            for _ in range(count):
                counted.count(stage=stage, reasons=(reason,))
    for _ in range(5):
        counted.count(stage="in_dataset", reasons=())
        counted.count_match(reasons=())
    return counted.as_dict()


def test_the_figure_names_every_stage_and_reason():
    assert set(figure.STAGES) == set(gate.STAGES)
    assert set(REASONS) == set(gate.REASONS)
    assert max(map(len, REASONS.values())) <= 30, "a box has room for no more"


@pytest.mark.parametrize("layout", [figure.IN_FILE, figure.ON_PAGE, figure.NARROW])
def test_the_figure_shows_every_number_of_the_flow(layout):
    counted = flow(arrived={"dropped_out": 3, "withdrew": 2}, completed={"scripted_fallback": 7})
    flow_svg = ElementTree.fromstring(figure.flow_svg(counted, title="Splitting & <money>", layout=layout))
    texts = [text.text for text in flow_svg.iter("{http://www.w3.org/2000/svg}text")]
    for text in ("Arrived and were placed in a cell", "n = 17", "Excluded: n = 5", "dropped out", "3", "2", "n = 12",
                 "a script moved for a model", "7", "n = 5 in 5 matches"):  # fmt: skip
        assert text in texts
    for box in flow_svg.iter("{http://www.w3.org/2000/svg}rect"):
        assert float(box.get("x", 0)) + float(box.get("width")) <= layout.width


def test_matches_without_people_have_their_own_figure():
    counted = gate.Flow()
    counted.count_match(reasons=())
    counted.count_match(reasons=("not_begun",))
    assert list(figure.flow_lines(counted.as_dict())) == [
        "Matches planned: 2", "excluded, not begun: 1", "In the dataset: 1",
    ]  # fmt: skip


# ---- the README ------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_readme_lists_files_and_how_to_load_and_check_them(tmp_path):
    study = building.new_study()
    building.complete(study, worker="A1WORKER")
    export(study, tmp_path / "d")
    text = (tmp_path / "d" / "README.md").read_text()
    listed = set(re.findall(r"^\| `([^`]+)`", text, re.MULTILINE))
    file_names = {path.name + "/" * path.is_dir() for path in (tmp_path / "d").iterdir()}
    assert listed == file_names - {"README.md"}
    assert not re.findall(r"^\| `[^`]+` \|[^|]*\|\s*\|$", text, re.MULTILINE), "a file without a meaning"
    for passage in ("pd.read_parquet", "read.csv", "USING (\"match\")", "verify_dataset",
                    "No licence has been chosen yet", "1 of 1 participants, in 1 of 1 matches",
                    "a row for everybody randomised"):  # fmt: skip
        assert passage in text
    manifest = json.loads((tmp_path / "d" / "manifest.json").read_text())
    assert manifest["publication"] == {"title": "Splitting money", **dict.fromkeys(DETAILS, "")}


@pytest.mark.django_db
def test_readme_escapes_what_researchers_typed(tmp_path):
    study = building.new_study(title="<script>alert(1)</script>")
    building.complete(study, worker="A1WORKER")
    Publication.objects.create(study=study, authors="<img src=x onerror=y>", citation="A & B <b>2026</b>")
    export(study, tmp_path / "d")
    text = (tmp_path / "d" / "README.md").read_text()
    assert not {"<script", "<img", "<b>"} & set(re.findall(r"<\w+>?", text))
    assert "&lt;script&gt;" in text and "A &amp; B &lt;b&gt;2026" in text


@pytest.mark.django_db
def test_pseudonyms_are_the_same_in_every_export_of_a_study(tmp_path):
    from exports.tests.test_dataset import rows

    study = building.new_study()
    first = building.complete(study, worker="A1WORKER")
    export(study, tmp_path / "one")
    building.complete(study, worker="A2WORKER")
    export(study, tmp_path / "two")
    first_rows, second_rows = (rows(tmp_path / name, "participants") for name in ("one", "two"))
    assert first_rows[0]["participant"] == second_rows[0]["participant"] == first.pseudonym
    assert len({row["participant"] for row in second_rows}) == 2
