"""Events are stored as they were given, few by few and many at once, together with what belongs to them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from matches import bulk
from matches.models import Event, Match
from matches.tests import kit

pytestmark = pytest.mark.django_db
AT = datetime(2026, 11, 28, 23, 59, 59, 123457, tzinfo=UTC)


def row(number: int, **on_page) -> bulk.Row:
    return bulk.Row(number, "move", "alice", {"role": "alice", "x": [0.1, None, "“é”\n"]}, AT, **on_page)


@pytest.mark.parametrize("number", [1, 3, bulk.MAX_INSERTED_ROWS + 1])
def test_everything_of_an_event_is_stored(number):
    match = kit.opened()
    full = {"sight": {"offer": 7}, "tries": [[5, "price", 1.5]], "warned": {"shown": ["Sure?"], "confirmed": True}}
    times = {"asked_at": AT - timedelta(seconds=2), "shown_at": AT - timedelta(seconds=1), "refused": 2}
    rows = [row(100), *(row(101 + index, **full, **times) for index in range(number - 1))]
    update = f"UPDATE {Match._meta.db_table} SET budget_of = %s WHERE id = %s"
    bulk.write_together([(match.pk, each) for each in rows], [(update, ["kept", match.pk]), (update, ["kept", -1])])
    stored = Event.objects.filter(match=match, number__gte=100).order_by("number")
    assert [bulk.Row(*(getattr(event, name) for name in bulk.Row._fields)) for event in stored] == rows
    assert list(stored) == sorted(stored, key=lambda event: event.pk)
    assert Match.objects.get(pk=match.pk).budget_of == "kept"


def test_statements_without_events_are_run():
    match = kit.opened()
    bulk.write_together([], [(f"UPDATE {Match._meta.db_table} SET budget_of = 'alone' WHERE id = %s", [match.pk])])
    assert Match.objects.get(pk=match.pk).budget_of == "alone"


def test_writing_few_events_takes_one_statement_on_postgresql():
    match = kit.opened()
    update = (f"UPDATE {Match._meta.db_table} SET budget_of = 'x' WHERE id = %s", [match.pk])
    with connection.execute_wrapper(lambda execute, *call: statements.append(call[0]) or execute(*call)):
        statements: list[str] = []
        bulk.write_together([(match.pk, row(100)), (match.pk, row(101))], [update])
    assert len(statements) == (1 if connection.vendor == "postgresql" else 2)
