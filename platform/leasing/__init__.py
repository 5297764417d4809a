"""Leases on rows, for turns, collections, pilots and payments: one worker at a time, until the lease expires.

Leased rows have the columns `holder` (a random name of one worker) and `until`. A crashed worker stops renewing,
so its leases expire. Each function is a single SQL statement, so that only one of two workers gets the row.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone


def free() -> Q:
    """Return the condition for rows without a lease."""
    return Q(until=None) | Q(until__lte=timezone.now())


def take(rows: QuerySet[Any], holder: str, length: timedelta, **changes: Any) -> int:
    """Lease the free rows; return how many. `changes` holds further columns to write."""
    return rows.filter(free()).update(holder=holder, until=timezone.now() + length, **changes)


def renew(rows: QuerySet[Any], holder: str, length: timedelta) -> int:
    """Renew the leases that `holder` still has; return how many."""
    return rows.filter(holder=holder).update(until=timezone.now() + length)


def release(rows: QuerySet[Any], holder: str, /, **changes: Any) -> int:
    """Release the rows leased by `holder` at once. `changes` holds further columns to write."""
    return rows.filter(holder=holder).update(**{"until": timezone.now(), **changes})
