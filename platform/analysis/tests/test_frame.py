"""Reading datasets, finding analyses, and running one of them from start to finish."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis import load
from analysis.errors import DataError
from analysis.registry import analyses, select_analyses
from analysis.tests.building import dataset, match, write_manifest


@pytest.fixture
def toy(tmp_path):
    """Two configurations with people against a script; efficiency is .5 with one round and .7 with ten."""
    rows = [
        match(
            number,
            config_rounds=1 if number % 2 else 10,
            config_money=100,
            player_alice="human",
            participant_alice=f"p{number}",
            efficiency=(0.5 if number % 2 else 0.7) + 0.01 * (number // 2),
            agreement=number < 6,
        )
        for number in range(8)
    ]
    return dataset(tmp_path / "toy", {"matches": rows}, formats=("csv", "parquet"))


def test_outcomes_of_each_cell_with_intervals(toy):
    outcome = load(toy).run("general.outcomes")
    rows = {(row["config_rounds"], row["key"]): row for row in outcome.tables["cells"].frame.to_dict("records")}
    cell = rows["1", "efficiency"]
    assert (cell["n"], round(cell["estimate"], 6), round(cell["median"], 6)) == (4, 0.515, 0.515)
    assert cell["low"] == pytest.approx(0.515 - 3.182446 * 0.0129099 / 2)
    assert rows["1", "agreement"]["estimate"] == 0.75
    centre, t = 0.75, 2.364624**2 / 7
    half = (t * (0.75 * 0.25 + t / 4)) ** 0.5
    assert outcome.numbers["agreement"]["low"] == pytest.approx((centre + t / 2 - half) / (1 + t), abs=1e-6)


def test_svg_has_a_title_and_a_description(toy):
    figure = load(toy).run("general.outcomes").figures["outcomes"]
    svg = figure.svg()
    assert svg == figure.svg()
    assert re.match(r"<svg [^>]*role=\"img\"><title>Outcomes by cell</title><desc>[^<]*smallest 0.515", svg)


@pytest.mark.parametrize("formats", [["csv"], ["parquet"], ["csv", "parquet"]])
def test_both_formats_give_the_same_types(tmp_path, formats):
    rows = [match(1, config_rounds=3, efficiency=0.25, agreement=True), match(2, config_rounds=None, agreement=False)]
    data = load(dataset(tmp_path / "one", {"matches": rows}, formats=formats))
    assert [str(data.matches[name].dtype) for name in ("match", "efficiency", "agreement")] == [
        "str", "float64", "boolean",
    ]  # fmt: skip
    assert data.matches["efficiency"].tolist()[0] == 0.25
    assert data.matches["config_rounds"].isna().tolist() == [False, True]


def test_datasets_are_pooled_with_a_factor(tmp_path):
    folders = [dataset(tmp_path / name, {"matches": [match(number)]}) for number, name in enumerate(["one", "two"])]
    assert load(*folders).matches["dataset"].tolist() == ["one", "two"]
    with pytest.raises(DataError, match="m000000"):
        load(folders[0], folders[0])


def test_a_parquet_files_own_description_of_its_columns_counts(tmp_path):
    folder = dataset(tmp_path / "one", {"matches": [match(1, efficiency=0.5)]}, formats=["parquet"])
    about = {"kind": "number", "unit": "seconds", "meaning": "Parameter of the game: Rounds. Known to both."}
    columns = pa.schema([pa.field("match", pa.string()), pa.field("config_n", pa.float64(), metadata=about),
                         pa.field("whole", pa.int64())])  # fmt: skip
    rows = [{"match": "m1", "config_n": -1.0, "whole": 2}, {"match": "m2", "config_n": float("inf"), "whole": None}]
    pq.write_table(pa.Table.from_pylist(rows, columns), folder / "matches.parquet")
    data = load(write_manifest(folder))
    assert (data.heading("config_n"), data.kind("matches", "config_n"), data.kind("matches", "whole")) == (
        "Rounds", "number", "integer")  # fmt: skip
    assert data.matches["config_n"].isna().all() and data.invalid_values["matches", "config_n"] == 2


def test_unknown_analyses_and_systems_are_refused():
    assert [analysis.id for analysis in select_analyses(["general.out*"])] == ["general.outcomes"]
    assert len({analysis.id for analysis in analyses()}) == len(analyses())
    with pytest.raises(DataError, match=r"general\.nothing"):
        select_analyses(["general.nothing"])
