"""Parquet and CSV hold the same values."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conftest import examples
from exports import folder, parquet
from exports.columns import Column, Table
from exports.csvsafe import cell, plain
from exports.dataset import export
from exports.errors import WrongValueType
from exports.folder import Folder
from exports.pieces import Pieces
from exports.tests import building
from exports.tests.test_dataset import rows
from exports.verify import verify

KINDS = ("identifier", "choice", "text", "json", "number", "integer", "boolean", "time")
TEXT_KINDS = ("identifier", "choice", "text", "json")
TABLE = Table(
    "made_up",
    "A row per example.",
    [Column(kind, kind, f"A {kind}.", lambda row, kind=kind: row[kind]) for kind in KINDS],
)

HOSTILE = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        ["", "=1+1", "-5", "@SUM(A1)", "\t=1", "\ufeff=1", "'=1", 'a "b", c', "a\r\nb", "\n", "\x00", "a\x00b",
         "\u2028", "🂡", "e\u0301", "\ud800", "NULL", "None", "nan", "x" * 5_000, "\\u0000", ";", "\\"]
    ),
)  # fmt: skip
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | HOSTILE, lambda inner: st.lists(inner, max_size=3), max_leaves=5
)
VALUES = st.fixed_dictionaries(
    {
        "identifier": st.none() | HOSTILE,
        "choice": st.none() | HOSTILE | st.integers() | st.booleans(),
        "text": st.none() | HOSTILE,
        "json": st.none() | PLAIN,
        "number": st.none()
        | st.floats(allow_nan=False)
        | st.integers(-(2**53), 2**53)
        | st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**9), max_value=10**9),
        "integer": st.none() | st.integers(-(2**63), 2**63 - 1),
        "boolean": st.none() | st.booleans(),
        "time": st.none()
        | st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))
        | st.datetimes(
            datetime(1990, 1, 1), datetime(2050, 1, 1), timezones=st.just(timezone(timedelta(hours=5, minutes=45)))
        ),
    }
)


def write(folder: Path, table: Table, portions: Iterable[Sequence[Any]], names: Iterable[str]) -> None:
    """Write the rows of each portion to the files of a table."""
    files = dict.fromkeys(names, table)
    with Folder(folder, names=[], overwrite=True) as target:
        target.open_for_pieces(files)
        for rows in portions:
            (folder / "pieces").mkdir()
            with Pieces(folder / "pieces", files) as pieces:
                for row in rows:
                    pieces.row(table.name, row)
            target.join(folder / "pieces", pieces.rows)


def written_and_read(folder: Path, examples: Sequence[dict[str, Any]]) -> tuple[list[list[str]], list[tuple[Any, ...]]]:
    """Return the examples as read back from CSV and from Parquet."""
    write(folder, TABLE, [examples], ["made_up.csv", "made_up.parquet"])
    with (folder / "made_up.csv").open(encoding="utf-8", newline="") as opened:
        header, *records = csv.reader(opened, strict=True)
    assert header == list(KINDS) == parquet.columns_in(folder / "made_up.parquet")
    return records, list(parquet.rows_in(folder / "made_up.parquet"))


def stored(text: str) -> str:
    """Return `text` as stored in a UTF-8 file: lone surrogates are spelled out."""
    return text.encode("utf-8", "backslashreplace").decode()


@settings(deadline=None, max_examples=examples(25))
@given(st.lists(VALUES, min_size=1, max_size=6))
@example([{**dict.fromkeys(KINDS), **dict.fromkeys(TEXT_KINDS, hostile)} for hostile in ("\ud800", "-1", "=\ud800")])
@example([{**dict.fromkeys(KINDS), "json": -1, "choice": -1}])
def test_csv_and_parquet_columns_hold_the_same_values(tmp_path_factory, given_rows):
    records, parquet_rows = written_and_read(tmp_path_factory.mktemp("both"), given_rows)
    assert len(records) == len(parquet_rows) == len(given_rows)
    for row, record, values in zip(given_rows, records, parquet_rows, strict=True):
        for kind, csv_cell, value in zip(KINDS, record, values, strict=True):
            original = row[kind]
            assert (value is None) == (original is None), "a missing value differs from an empty text"
            if kind in TEXT_KINDS:
                # Only CSV is defused, and there only words: a number among them stays a number.
                assert csv_cell == stored(cell(original)), kind
                assert value is None or value == stored(plain(original)), kind
            elif kind == "number" and value is not None:
                assert float(csv_cell) == value == float(original)
            else:
                assert csv_cell == cell(value) == cell(original), kind


def test_columns_have_real_types_and_meanings():
    schema = parquet.schema_of(TABLE)
    assert [str(field.type) for field in schema] == [
        "string", "string", "string", "string", "double", "int64", "bool", "timestamp[us, tz=UTC]",
    ]  # fmt: skip
    assert all(field.nullable and field.metadata[b"meaning"] for field in schema)


@pytest.mark.parametrize(
    ("kind", "value"), [("number", "5"), ("integer", 1.5), ("integer", 2**63), ("boolean", 1), ("time", "2026")]
)
def test_a_value_of_another_type_is_an_error_that_names_the_column(kind, value):
    with pytest.raises(WrongValueType, match=f"{kind} holds .* of kind {kind}"):
        parquet.converted(Column(kind, kind, "", lambda row: row), [None, value])


def test_amounts_of_money_are_read_back_exactly():
    assert parquet.converted(Column("amount", "number", "", lambda row: row), [Decimal("1.50"), 2, None]) == [
        1.5, 2.0, None,
    ]  # fmt: skip


def test_row_groups_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "GROUP_ROWS", 100)
    table = replace(TABLE, columns=[TABLE.columns[5]])
    portions = [[{"integer": i} for i in range(first, first + 50)] for first in range(0, 1000, 50)]
    write(tmp_path / "d", table, portions, ["made_up.parquet"])
    file = pq.ParquetFile(tmp_path / "d" / "made_up.parquet")
    assert file.metadata.num_row_groups == 10
    assert file.read().column("integer").to_pylist() == list(range(1000))


@pytest.mark.django_db
def test_tables_are_the_same_in_both_formats_and_changes_detected(tmp_path):
    study = building.new_study()
    building.complete(study, worker="A1WORKER", messages=["=1+1", 'He said "no",\r\nthen left', "🂡 \u2028 ٣", "-5"])
    building.arrive(study, worker="A2WORKER")
    export(study, tmp_path / "d")
    for path in sorted((tmp_path / "d").glob("*.parquet")):
        names = parquet.columns_in(path)
        parquet_rows = [dict(zip(names, map(cell, row), strict=True)) for row in parquet.rows_in(path)]
        csv_rows = rows(tmp_path / "d", path.stem)
        assert [list(row) for row in csv_rows] == [names] * len(parquet_rows)
        for parquet_row, csv_row in zip(parquet_rows, csv_rows, strict=True):
            for name in names:
                same = parquet_row[name] == csv_row[name] or float(parquet_row[name]) == float(csv_row[name])
                assert same, (path.name, name)
    assert verify(tmp_path / "d") == []


@pytest.mark.django_db
@pytest.mark.parametrize("formats", [["csv", "parquet"], ["parquet"]])
def test_a_value_that_differs_between_formats_is_detected(tmp_path, formats):
    from exports.tests.test_verify import reseal

    study = building.new_study()
    building.complete(study, worker="A1WORKER")
    export(study, tmp_path / "d", [*formats, "jsonl"])
    path = tmp_path / "d" / "matches.parquet"
    table = pq.read_table(path)
    at = table.column_names.index("payoffs_alice")
    changed = table.set_column(at, table.field(at), pa.array([1.0], type=pa.float64()))
    pq.write_table(changed, path)
    reseal(tmp_path / "d")
    assert any("matches.parquet" in difference for difference in verify(tmp_path / "d"))


@pytest.mark.django_db
def test_meanings_are_in_the_file_itself(tmp_path):
    export(building.new_study(), tmp_path / "d", ["parquet"])
    schema = pq.read_schema(tmp_path / "d" / "matches.parquet")
    assert schema.field("seconds").metadata[b"unit"] == b"seconds"
    assert json.loads((tmp_path / "d" / "manifest.json").read_text())["counts"]["matches.parquet"] == 0
