"""Read and insert rows without waiting for each of PostgreSQL's answers (`matches.bulk.send_together`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from django.db import connection, models

Answer = Callable[[], list[Any]]


def ask(sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Answer:
    """Send a query; return what waits for its rows, once."""
    cursor = connection.cursor()
    cursor.execute(sql, values)
    if connection.vendor == "postgresql":
        return cursor.fetchall
    with cursor:  # an answer half read would keep SQLite's snapshot
        rows = cursor.fetchall()
    return lambda: rows


def new_keys(*kinds: type[models.Model]) -> Answer:
    """Ask for a key of a new row of each model, in one row; on SQLite each is None."""
    return ask(_next_keys(kinds)) if connection.vendor == "postgresql" else lambda: [(None,) * len(kinds)]


def insert(row: models.Model) -> None:
    """Insert a row that has one of the `new_keys`, or save one without a key.

    An error is raised here or, after `send_together`, by the commit. Signals are not sent for a row with a key.
    """
    if row.pk is None:
        row.save()
        return
    fields = row._meta.local_concrete_fields
    values = [field.get_db_prep_save(field.pre_save(row, add=True), connection) for field in fields]
    with connection.cursor() as cursor:
        cursor.execute(_insertion(type(row)), values)
    row._state.adding, row._state.db = False, connection.alias


@lru_cache
def _next_keys(kinds: tuple[type[models.Model], ...]) -> str:
    return "SELECT " + ", ".join(f"nextval('{kind._meta.db_table}_id_seq')" for kind in kinds)


@lru_cache
def _insertion(kind: type[models.Model]) -> str:
    columns = [str(field.column) for field in kind._meta.local_concrete_fields]
    return f"INSERT INTO {kind._meta.db_table} ({', '.join(columns)}) VALUES ({', '.join(['%s'] * len(columns))})"
