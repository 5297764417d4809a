"""Writing the logs of many finished matches at once, for imports."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime

from django.db import connection

from games import interface
from matches.models import Event

ROWS = 2000
COLUMNS = ("match_id", "number", "kind", "role", "data", "at")


def write_logs(logs: Iterable[tuple[int, Iterable[interface.Event]]], *, at: datetime) -> None:
    """Write whole logs, each with its match's key; call inside the transaction that made the matches.

    PostgreSQL takes them as one stream (COPY), at about a fifth of the time that statements take.
    """
    if connection.vendor == "postgresql":
        _stream(logs, at)
    else:
        Event.objects.bulk_create(
            (
                Event(match_id=match, number=e.number, kind=e.kind, role=e.data.get("role") or "", data=e.data, at=at)
                for match, events in logs
                for e in events
            ),
            batch_size=ROWS,
        )


def _stream(logs: Iterable[tuple[int, Iterable[interface.Event]]], at: datetime) -> None:
    columns = ", ".join(COLUMNS)
    with connection.cursor() as cursor, cursor.copy(f"COPY {Event._meta.db_table} ({columns}) FROM STDIN") as copy:
        for match, events in logs:
            for event in events:
                role = event.data.get("role") or ""
                copy.write_row((match, event.number, event.kind, role, json.dumps(event.data), at))
