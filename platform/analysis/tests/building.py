"""Small handmade datasets in the form that the exporter writes."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Rows = Sequence[Mapping[str, Any]]
TIMES = ("_at", "at")


def dataset(folder: Path, tables: Mapping[str, Rows], *, formats: Sequence[str] = ("csv",), **manifest: Any) -> Path:
    """Write tables, their codebook and a matching manifest.

    Args:
        tables: rows by table; their values determine the kinds. For a table without rows, give {column: kind}.
        manifest: additional manifest entries, such as flow or demonstration.
    """
    folder.mkdir(parents=True, exist_ok=True)
    kinds = {name: _kinds(rows) for name, rows in tables.items()}
    codebook = [
        {"table": table, "column": column, "meaning": "", "kind": kind, "unit": _unit(column, kind), "values": ""}
        for table, columns in kinds.items()
        for column, kind in columns.items()
    ]
    for name, rows in {**tables, "codebook": codebook}.items():
        columns = kinds.get(name) or dict.fromkeys(("table", "column", "meaning", "kind", "unit", "values"), "text")
        records = [] if isinstance(rows, Mapping) else list(rows)
        if "csv" in formats:
            _csv(folder / f"{name}.csv", records, columns)
        if "parquet" in formats:
            _parquet(folder / f"{name}.parquet", records, columns)
    return write_manifest(folder, **manifest)


def write_manifest(folder: Path, **manifest: Any) -> Path:
    """Write a manifest of the existing files."""
    files = {
        path.name: {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "bytes": path.stat().st_size}
        for path in sorted(folder.iterdir())
        if path.name != "manifest.json"
    }
    content = {
        "format": "parley-dataset",
        "format_version": 6,
        "study": {"slug": folder.name, "title": "A study", "purpose": "study", "source": "parley"},
        "publication": {"title": "A study", "authors": "A. Author", "licence": "CC BY 4.0", "citation": "Author 2026"},
        "demonstration": False,
        "versions": [],
        "flow": {},
        **manifest,
        "files": files,
    }
    text = json.dumps(content, indent=2) + "\n"
    content["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(content, indent=2) + "\n")
    return folder


def match(number: int, **columns: Any) -> dict[str, Any]:
    """Return a row of matches.csv between two agents; `more` changes or adds columns."""
    return {
        "match": f"m{number:06}", "game": "toy", "version": 1, "cell": 1, "cell_kind": None, "unverified": None,
        "decisions": 2, "messages": 0, "player_alice": "script:a", "player_bob": "script:b", "participant_alice": None,
        "participant_bob": None, **columns, "in_dataset": True, "reason": None, "reasons": None,
    }  # fmt: skip


def _kinds(rows: Any) -> dict[str, str]:
    if isinstance(rows, Mapping):
        return dict(rows)
    kinds: dict[str, str] = {}
    for row in rows:
        for column, value in row.items():
            if value is not None or column not in kinds:
                kind = kinds.get(column)
                kinds[column] = _kind(column, value) if kind in (None, "text") else kind
    return kinds


def _kind(column: str, value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "time" if value is not None and (column.endswith("_at") or column == "at") else "text"


def _unit(column: str, kind: str) -> str:
    return "seconds" if kind == "number" and column.startswith("seconds") else ""


def _csv(path: Path, rows: Rows, columns: Mapping[str, str]) -> None:
    with path.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.writer(opened)
        writer.writerow(columns)
        for row in rows:
            writer.writerow([_cell(row.get(column)) for column in columns])


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return "" if value is None else value


def _parquet(path: Path, rows: Rows, columns: Mapping[str, str]) -> None:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {"number": pa.float64(), "integer": pa.int64(), "boolean": pa.bool_(), "time": pa.timestamp("us", "UTC")}
    schema = pa.schema([pa.field(name, types.get(kind, pa.string())) for name, kind in columns.items()])
    values = [
        {name: pd.Timestamp(v) if kind == "time" and (v := row.get(name)) is not None else row.get(name)
         for name, kind in columns.items()}
        for row in rows
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(values, schema=schema), path)
