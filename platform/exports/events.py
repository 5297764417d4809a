"""Events as they are read for a dataset: plain rows of what the database says in words.

They cost a fifth of the model's objects: times and data come as text and are read by the interpreter's own parsers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db.models import TextField
from django.db.models.functions import Cast

from matches.models import Event


class Logged(NamedTuple):
    """One line of a match's log, as `matches.models.Event` has it."""

    number: int
    kind: str
    data: dict[str, Any]
    at: datetime
    asked_at: datetime | None
    shown_at: datetime | None
    refused: int


def logs_of(matches: Iterable[int]) -> dict[int, list[Logged]]:
    """The whole logs of the matches with these keys, in order; nothing for a match without events."""
    written = {name: Cast(name, TextField()) for name in ("data", "at", "asked_at", "shown_at")}
    rows = (
        Event.objects.filter(match_id__in=list(matches))
        .order_by("match_id", "number")
        .values_list("match_id", "number", "kind", "refused", *written.values())
    )
    logs: dict[int, list[Logged]] = {}
    for match, number, kind, refused, data, at, asked_at, shown_at in rows.iterator(chunk_size=2000):
        if (log := logs.get(match)) is None:
            log = logs[match] = []
        log.append(Logged(number, kind, json.loads(data), *map(_moment, (at, asked_at, shown_at)), refused))
    return logs


def _moment(text: str | None) -> datetime | None:
    """A time as PostgreSQL or SQLite (without a zone: in UTC) writes it."""
    if text is None:
        return None
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
