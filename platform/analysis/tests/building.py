"""Small handmade datasets in the form that the exporter writes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.data import DTYPES, Field, Folder

Rows = Sequence[Mapping[str, Any]]
CODEBOOK = ("table", "column", "meaning", "kind", "unit", "values")
TYPES = {"number": pa.float64(), "integer": pa.int64(), "boolean": pa.bool_(), "time": pa.timestamp("us", "UTC")}


def dataset(
    folder: Path,
    tables: Mapping[str, Rows],
    *,
    formats: Sequence[str] = ("csv",),
    values: Mapping[str, str] | None = None,
    **manifest: Any,
) -> Path:
    """Write tables, their codebook and a matching manifest.

    Args:
        tables: rows by table; their values determine the kinds. For a table without rows, give {column: kind}.
        values: what the codebook says of the values of some columns; they are choices unless they begin with "the".
        manifest: additional manifest entries, such as flow or demonstration.
    """
    folder.mkdir(parents=True, exist_ok=True)
    kinds = {name: dict(rows) if isinstance(rows, Mapping) else _kinds(rows) for name, rows in tables.items()}
    listed = values or {}
    codebook = [
        {"table": table, "column": column,
         "kind": "choice" if listed.get(column, "the").partition(" ")[0] != "the" else kind,
         "values": listed.get(column), "unit": "seconds" if kind == "number" and column.startswith("seconds") else ""}
        for table, columns in kinds.items() for column, kind in columns.items()
    ]  # fmt: skip
    for name, rows in {**tables, "codebook": codebook}.items():
        columns = kinds.get(name) or dict.fromkeys(CODEBOOK, "text")
        frame = pd.DataFrame([] if isinstance(rows, Mapping) else rows, columns=list(columns), dtype="object")
        if "csv" in formats:
            text = frame.map(lambda value: str(value).upper() if isinstance(value, bool) else value)
            text.to_csv(folder / f"{name}.csv", index=False, lineterminator="\r\n")
        if "parquet" in formats:
            times = {column: pd.to_datetime(frame[column]) for column, kind in columns.items() if kind == "time"}
            schema = pa.schema([pa.field(column, TYPES.get(kind, pa.string())) for column, kind in columns.items()])
            pq.write_table(pa.Table.from_pandas(frame.assign(**times), schema), folder / f"{name}.parquet")
    return write_manifest(folder, **manifest)


class InMemory(Folder):
    """A dataset that was never written: tables as lists of rows, whose values determine the kinds.

    Args:
        values: what the codebook would say of columns' values, such as "from 0; to 1".
    """

    def __init__(self, tables: Mapping[str, Rows], values: Mapping[str, str] | None = None, **manifest: Any) -> None:
        super().__init__(Path("memory"), "memory", {"flow": {}, **manifest})
        kinds = {name: _kinds(rows) for name, rows in tables.items()}
        frames = {name: pd.DataFrame(rows, columns=list(kinds[name]), dtype="object") for name, rows in tables.items()}
        self.__dict__ |= {"frames": frames, "kinds": kinds, "values": values or {}}

    def file(self, table: str) -> Path | None:
        return self.path if table in self.frames else None

    def fields(self, table: str) -> dict[str, Field]:
        kinds = self.kinds.get(table, {})
        return {name: Field(kind, values=self.values.get(name, "")) for name, kind in kinds.items()}

    def read(self, table: str, names: Sequence[str]) -> pd.DataFrame:
        frame = self.frames[table][[*names]]
        return frame.assign(**{
            name: pd.to_datetime(frame[name]) if kind == "time" else frame[name].astype(DTYPES.get(kind, "str"))
            for name, kind in self.kinds[table].items() if name in names
        })  # fmt: skip


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
    content["sha256"] = hashlib.sha256((json.dumps(content, indent=2) + "\n").encode()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(content, indent=2) + "\n")
    return folder


def match(number: int, **columns: Any) -> dict[str, Any]:
    """Return a row of the matches' table between two agents, with these columns changed or added."""
    return {
        "match": f"m{number:06}", "game": "toy", "version": 1, "cell": 1, "cell_kind": None, "unverified": None,
        "decisions": 2, "messages": 0, "player_alice": "script:a", "player_bob": "script:b", "participant_alice": None,
        "participant_bob": None, **columns, "in_dataset": True, "reason": None, "reasons": None,
    }  # fmt: skip


def study(folder: Path, *, people: int = 24) -> Path:
    """Write a 2 × 2 study in which people play against two models, each under its label; some are lost."""
    rng, rows, participants = Random(1), [], []
    for number in range(people):
        partner, frame = ("careful", "daring")[number % 2], ("give", "take")[number // 2 % 2]
        about = {"cell": 1 + number % 4, "version": 1, "factor_frame": frame, "factor_partner": partner}
        lost, payoff, agreed = number % 12 == 0, rng.gauss(10, 2), rng.random() < 0.8
        participants.append({
            "participant": f"p{number}", "person": f"p{number}", "role": "alice", "stage": "in_dataset", **about,
            "in_dataset": not lost, "reasons": "dropped_out" if lost else None, "survey_before_age": 18 + number % 50,
        })  # fmt: skip
        rows.append(match(
            number, player_alice="human", participant_alice=f"p{number}", seed=number, agent_bob=partner,
            player_bob=f"endpoint:{partner[:3]}", agent_bob_hash="ab12", payoffs_alice=payoff,
            payoffs_bob=20 - payoff, **about, agreement=agreed,
            efficiency=rng.random() if agreed else 0.0, rounds_played=rng.randint(1, 9),
        ))  # fmt: skip
    stages = [{"stage": name, "reached": people, "left": {}} for name in ("arrived", "consented", "in_dataset")]
    return dataset(folder, {"matches": rows, "participants": participants}, flow={"arrived": people, "stages": stages})


def _kinds(rows: Rows) -> dict[str, str]:
    columns = dict.fromkeys(column for row in rows for column in row)
    found = {column: [_kind(column, row[column]) for row in rows if row.get(column) is not None] for column in columns}
    return {column: next((kind for kind in kinds if kind != "text"), "text") for column, kinds in found.items()}


def _kind(column: str, value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else "time" if column.endswith("_at") else "text"
