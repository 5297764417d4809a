"""The monitor's cost does not grow with the number of finished matches."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from monitoring.tests import crowd
from opponents.endpoints import MEMORY
from studies.models import Study
from studies.tests import kit

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

FEW, MANY = 200, 5_000
LIVE = 40
BIG_TABLES = (
    "matches_match", "matches_event", "matches_seat", "participants_enrolment", "studies_placement", "opponents_call",
)  # fmt: skip


def queries_of(client: Client, name: str, study: int) -> list[str]:
    """Return the SQL statements of one request to the monitor."""
    MEMORY.expire()  # otherwise it would depend on the time whether the page reads the endpoints
    with CaptureQueriesContext(connection) as captured:
        assert client.get(reverse(f"monitoring:{name}", args=[study])).status_code == 200
    return [query["sql"] for query in captured.captured_queries]


@transaction.atomic
def rows_read(statements: list[str]) -> int:
    """Return the number of rows that PostgreSQL reads, including discarded ones, or of big tables that SQLite scans.

    PostgreSQL scans tables of a few thousand rows because that is cheap, so it is told to prefer indexes, as
    it does automatically for large tables.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")
    return sum(_rows_read(sql) for sql in statements if sql.startswith(("SELECT", "(SELECT")))


def _rows_read(sql: str) -> int:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}")
            (plan,) = cursor.fetchone()
            return _rows_in_plan((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"])
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
        steps = [row[3] for row in cursor.fetchall()]
    return sum(
        step.startswith("SCAN") and "INDEX" not in step and any(table in step for table in BIG_TABLES) for step in steps
    )


def _rows_in_plan(node: dict[str, Any]) -> int:
    own_rows = 0
    if "Scan" in node["Node Type"]:
        discarded = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
        own_rows = round((node["Actual Rows"] + discarded) * node["Actual Loops"])
    return own_rows + sum(_rows_in_plan(child) for child in node.get("Plans", []))


@pytest.mark.slow
def test_no_query_grows_with_the_number_of_finished_matches(client):
    kit.administrator(client)
    study_key = crowd.launch_crowded("crowded", finished=FEW, live=LIVE)
    queries_of(client, "page", study_key)  # fills the process's caches
    few_queries = {name: queries_of(client, name, study_key) for name in ("page", "now")}
    few_rows = {name: rows_read(statements) for name, statements in few_queries.items()}
    crowd.add_people(Study.objects.get(pk=study_key), finished=MANY - FEW, live=0)
    for name in few_queries:
        many_queries = queries_of(client, name, study_key)
        assert len(many_queries) == len(few_queries[name]), name
        # A plan may change with the tables' size, and tallies have a row for each period.
        assert rows_read(many_queries) <= 1.2 * few_rows[name] + 100, (
            name,
            few_rows[name],
            [(sql, _rows_read(sql)) for sql in many_queries],
        )
