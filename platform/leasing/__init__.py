"""Leases: who works on a row, and until when nobody else may. The one room for turns, collections, pilots and payments.

A row that is worked on has the columns `holder` (a name that one worker made up) and `until`. Whoever dies
is silent, and their leases run out. Each function is one statement, so that of two workers one has the row.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone


def free() -> Q:
    """Rows that nobody works on."""
    return Q(until=None) | Q(until__lte=timezone.now())


def take(rows: QuerySet[Any], holder: str, length: timedelta, **also: Any) -> int:
    """Take those of the rows that are free; returns how many. `also` are further columns to write."""
    return rows.filter(free()).update(holder=holder, until=timezone.now() + length, **also)


def renew(rows: QuerySet[Any], holder: str, length: timedelta) -> int:
    """Hold on to those of the rows that are the holder's; returns how many still are."""
    return rows.filter(holder=holder).update(until=timezone.now() + length)


def let_go(rows: QuerySet[Any], mine: str, **also: Any) -> int:
    """Free those of the rows that are held by `mine`, at once. `also` are columns to write."""
    return rows.filter(holder=mine).update(**{"until": timezone.now(), **also})
