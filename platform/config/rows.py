"""Insert rows without waiting for PostgreSQL's answers: their keys are asked for before."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.db import connection, models


def new_keys(*kinds: type[models.Model]) -> Any:
    """Ask for a key of a new row of each model; the answer is read with `fetchone`. On SQLite, return None."""
    if connection.vendor != "postgresql":
        return None
    cursor = connection.cursor()
    cursor.execute(_next_keys(kinds))
    return cursor


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
