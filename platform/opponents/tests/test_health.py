"""The last hour's figures come from the recorded calls."""

from __future__ import annotations

import uuid
from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone

from opponents.circuits import write
from opponents.health import EndpointHealth, health, percentile
from opponents.models import Call, Endpoint
from studies.tests import kit

pytestmark = pytest.mark.django_db


def create_calls(number: int = 1, *, minutes_ago: float = 0, **changes) -> None:
    fields = {"endpoint": "ours", "model": "small", "latency": 1.0, "outcome": "move", "cost": Decimal("0.5")}
    values = {"match_uid": uuid.uuid4(), "role": "alice", "answering": 1, "record": {}, **fields, **changes}
    at = timezone.now() - timedelta(minutes=minutes_ago)
    Call.objects.bulk_create(Call(**values, at=at) for _ in range(number))


def test_no_calls():
    assert health() == []


def test_one_row_per_model_and_endpoint():
    for seconds in range(1, 101):
        create_calls(latency=seconds / 10)
    create_calls(4, outcome="rule_break", latency=20.0, cost=None)
    create_calls(6, outcome="failed", latency=60.0, cost=None)
    create_calls(model="large", cost=Decimal(2))
    create_calls(endpoint="theirs", outcome="failed", cost=None)
    create_calls(endpoint="theirs", outcome="failed", cost=None)
    assert health() == [
        EndpointHealth("ours", "large", 1, 0, 0, 1.0, 1.0, Decimal(2), 0),
        EndpointHealth("ours", "small", 110, 6, 4, 5.2, 9.9, Decimal(50), 4),
        EndpointHealth("theirs", "small", 2, 2, 0, None, None, Decimal(0), 0),
    ]


def test_older_calls_do_not_count():
    create_calls(3, minutes_ago=61)
    create_calls(2, minutes_ago=59)
    assert [row.calls for row in health()] == [2]
    assert [row.calls for row in health(timedelta(hours=2))] == [5]


def test_open_circuits_are_shown():
    create_calls()
    create_calls(endpoint="theirs")
    write("ours", "open", timezone.now())
    assert [row.open_until is not None for row in health()] == [True, False]


def test_number_of_queries_is_constant(django_assert_num_queries):
    for number in range(30):
        create_calls(model=f"model-{number}")
    with django_assert_num_queries(3):
        health()


def test_percentiles_are_observed_values():
    assert percentile([], 50) is None
    assert [percentile([3.0], percent) for percent in (0, 50, 100)] == [3.0] * 3
    assert [percentile([1.0, 2.0, 3.0, 4.0], percent) for percent in (50, 75, 95)] == [2.0, 3.0, 4.0]


def test_list_and_endpoint_page_show_health(client: Client):
    kit.administrator(client)
    endpoint = Endpoint.objects.create(name="ours")
    create_calls(7, latency=1.25)
    create_calls(2, outcome="failed", cost=None)
    create_calls(endpoint="openai", model="gpt-5")
    write("ours", "open", timezone.now())
    page = client.get("/admin/opponents/endpoint/").content.decode()
    assert "failing, paused" in page and "gpt-5" in page and "$3.50" in page and "open until" in page
    assert ">1.25<" in page and ">9<" in page
    page = client.get(f"/admin/opponents/endpoint/{endpoint.pk}/change/").content.decode()
    assert ">1.25<" in page and "gpt-5" not in page
