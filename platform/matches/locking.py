"""Lock and read a match. Composing the query and reading its row as a queryset takes a tenth of a move's time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from django.db import connection

from matches.models import Match

_LEFT_OUT = {"config", "texts", "payoffs", "metrics"}
_FIELDS = [field for field in Match._meta.concrete_fields if field.name not in _LEFT_OUT]
"""The columns that changes need."""


def locked_match(rows: str, values: Sequence[Any], *, beside: str) -> tuple[Match, Any] | None:
    """Lock and return the first match in some rows, with a column of another table; None if there is no row.

    Args:
        rows: SQL from FROM on, with the match as `played`.
        beside: what else to read.
    """
    lock = " FOR UPDATE OF played" if connection.features.has_select_for_update_of else ""
    columns = ", ".join(f"played.{field.column}" for field in _FIELDS)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {columns}, {beside} {rows}{lock}", values)
        row = cursor.fetchone()
    if row is None:
        return None
    read = list(row)
    for index, converters in _converters(connection.vendor):
        for convert in converters:
            read[index] = convert(read[index], None, connection)
    return Match.from_db(connection.alias, [field.attname for field in _FIELDS], read[:-1]), read[-1]


@cache
def _converters(vendor: str) -> list[tuple[int, list[Callable[[Any, Any, Any], Any]]]]:
    """Return what makes Python values of the columns, by their index."""
    expressions = [field.get_col(Match._meta.db_table) for field in _FIELDS]
    each = [connection.ops.get_db_converters(one) + one.get_db_converters(connection) for one in expressions]
    return [(index, converters) for index, converters in enumerate(each) if converters]
