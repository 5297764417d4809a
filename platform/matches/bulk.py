"""Write events without model instances: a move's few rows, a played match's many, imported logs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from games import interface
from games.interface import Json
from matches.models import Event

BATCH_ROWS = 2000
MAX_INSERTED_ROWS = 20
"""Up to this many rows, an INSERT is as fast as COPY."""
COLUMNS = (
    "match_id", "number", "kind", "role", "data", "at", "asked_at", "shown_at", "refused", "sight", "tries", "warned",
)  # fmt: skip
_TYPES = "bigint int text text jsonb timestamptz timestamptz timestamptz int jsonb jsonb jsonb".split()
_INSERT = f"INSERT INTO {Event._meta.db_table} ({', '.join(COLUMNS)})"
_INSERT_JSON = (
    f"{_INSERT} SELECT {', '.join(COLUMNS)} FROM jsonb_to_recordset(%s) "
    f"AS written({', '.join(map(' '.join, zip(COLUMNS, _TYPES, strict=True)))})"
)
"""The same for any number of rows, so that PostgreSQL plans it once."""

Statement = tuple[str, Sequence[Any]]
"""SQL and its values."""


class Row(NamedTuple):
    """One event to write: the columns of `Event` after its match."""

    number: int
    kind: str
    role: str
    data: dict[str, Json]
    at: datetime
    asked_at: datetime | None = None
    shown_at: datetime | None = None
    refused: int = 0
    sight: dict[str, int] | None = None
    tries: list[list[Any]] | None = None
    warned: dict[str, Json] | None = None


def write_events(rows: Sequence[tuple[int, Row]]) -> None:
    """Write events, each with its match's key; call this inside the transaction that changes or creates the matches.

    Raises:
        IntegrityError: an event with this number exists.
    """
    _write(rows) if len(rows) > MAX_INSERTED_ROWS else _insert(rows)


def send_together() -> None:
    """Until the transaction ends, wait for PostgreSQL's answers only when they are read (`config.database`)."""
    if connection.vendor == "postgresql":
        connection.send_together()  # type: ignore[attr-defined]


def wait_for_answers() -> None:
    """End `send_together`: what follows catches errors, or sends what cannot be sent like this."""
    if connection.vendor == "postgresql":
        connection.wait_for_answers()  # type: ignore[attr-defined]


def write_together(rows: Sequence[tuple[int, Row]], others: Sequence[Statement]) -> None:
    """Write events and run other statements, in any order; on PostgreSQL as one statement, unless rows are many.

    An error is raised here or, after `send_together`, by the commit.
    """
    if connection.vendor != "postgresql" or len(rows) > MAX_INSERTED_ROWS:
        wait_for_answers()  # COPY cannot be sent before the answers of others
        write_events(rows)
        with connection.cursor() as cursor:
            for sql, values in others:
                cursor.execute(sql, values)
        return
    statements = [_insertion(rows), *others] if rows else others
    parts = [f"part_{number} AS ({sql})" for number, (sql, _values) in enumerate(statements[:-1])]
    before = f"WITH {', '.join(parts)} " if parts else ""
    with connection.cursor() as cursor:
        cursor.execute(before + statements[-1][0], [value for _sql, values in statements for value in values])


def write_logs(logs: Iterable[tuple[int, Iterable[interface.Event]]], *, at: datetime) -> None:
    """Write whole logs, each with its match's key; call this in the transaction that creates the matches."""
    _write(
        (match, Row(event.number, event.kind, event.data.get("role") or "", dict(event.data), at))
        for match, events in logs
        for event in events
    )


def _write(rows: Iterable[tuple[int, Row]]) -> None:
    """Write with COPY on PostgreSQL, which takes about a fifth of the time of INSERT statements."""
    if connection.vendor == "postgresql":
        copy_rows = f"COPY {Event._meta.db_table} ({', '.join(COLUMNS)}) FROM STDIN"
        with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(copy_rows) as copy:
            for match, row in rows:
                copy.write_row(_values(match, row))
        return
    batch: list[tuple[int, Row]] = []
    for entry in rows:
        batch.append(entry)
        if len(batch) == BATCH_ROWS:
            _insert(batch)
            batch = []
    _insert(batch)


def _insert(rows: Sequence[tuple[int, Row]]) -> None:
    if not rows:
        return
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(*_insertion(rows))
        else:
            placeholders = ", ".join(["%s"] * len(COLUMNS))
            cursor.executemany(f"{_INSERT} VALUES ({placeholders})", [_values(match, row) for match, row in rows])


def _insertion(rows: Sequence[tuple[int, Row]]) -> Statement:
    """Return the statement that writes events on PostgreSQL."""
    records = [
        {"match_id": match, **{name: value for name, value in row._asdict().items() if value is not None}}
        for match, row in rows
    ]
    return _INSERT_JSON, [json.dumps(records, default=datetime.isoformat)]


def _values(match_id: int, row: Row) -> tuple[Any, ...]:
    as_column = connection.ops.adapt_datetimefield_value
    times = (as_column(row.at), as_column(row.asked_at), as_column(row.shown_at))
    on_page = (None if value is None else json.dumps(value) for value in (row.sight, row.tries, row.warned))
    return (match_id, row.number, row.kind, row.role, json.dumps(row.data), *times, row.refused, *on_page)
