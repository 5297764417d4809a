"""Endpoints from the admin are served from memory."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from llm_agents.endpoints import PRESETS, Price, endpoint, endpoint_exists
from llm_agents.errors import NotConfigured
from llm_agents.pricing import LISTED
from opponents import endpoints
from opponents.endpoints import MEMORY, current_prices, refresh_if_old, stored_endpoint
from opponents.forms import preset_values
from opponents.models import Endpoint

pytestmark = pytest.mark.django_db

PRICES = {"small": {"input": 0.1, "output": "0.40"}}


def create_endpoint(**changes) -> Endpoint:
    return Endpoint.objects.create(**{"name": "ours", "base_url": "http://127.0.0.1:9/v1", **changes})


def test_agents_find_an_endpoint_after_reading():
    create_endpoint(title="Ours", structured="tool", concurrency=3, per_minute=60, prices=PRICES)
    assert not endpoint_exists("ours")
    assert refresh_if_old()
    found_endpoint = endpoint("ours")
    assert (found_endpoint.protocol, found_endpoint.structured) == ("openai", "tool")
    assert found_endpoint.address == "http://127.0.0.1:9/v1"
    assert (found_endpoint.concurrency, found_endpoint.per_minute, found_endpoint.title) == (3, 60, "Ours")
    assert found_endpoint.prices == {"small": Price(input=Decimal("0.1"), output=Decimal("0.4"))}
    assert found_endpoint.secret() is None


def test_endpoint_replaces_the_preset_of_the_same_name_and_a_disabled_one_refuses_calls():
    create_endpoint(name="openai", base_url="https://proxy.example/v1")
    create_endpoint(name="ollama", enabled=False)
    MEMORY.read()
    assert endpoint("openai").address == "https://proxy.example/v1"
    assert endpoint("anthropic") is PRESETS["anthropic"]
    assert endpoint_exists("ollama")
    with pytest.raises(NotConfigured, match="disabled"):
        endpoint("ollama").secret()


def test_memory_is_read_at_most_every_five_seconds(monkeypatch):
    assert refresh_if_old()
    with CaptureQueriesContext(connection) as queries:
        assert not any(refresh_if_old() for _ in range(100))
        endpoint("openai"), endpoint_exists("ours")
    assert not queries.captured_queries
    later = endpoints.time.monotonic() + endpoints.MAX_AGE_SECONDS
    monkeypatch.setattr(endpoints.time, "monotonic", lambda: later)
    assert refresh_if_old()


def test_an_unknown_endpoint_is_read_at_once():
    refresh_if_old()
    create_endpoint()
    assert not refresh_if_old("script:fair", "openai:gpt-4o")
    assert not endpoint_exists("ours")
    assert refresh_if_old("script:fair", "ours:small")
    assert endpoint_exists("ours")


async def test_nothing_is_read_inside_an_event_loop():
    assert not refresh_if_old()
    assert not endpoint_exists("ours")


def test_unreadable_database_keeps_the_old_endpoints(monkeypatch):
    create_endpoint()
    MEMORY.read()

    def fail(*_args, **_kwargs):
        raise endpoints.DatabaseFailure("gone")

    monkeypatch.setattr(Endpoint.objects, "all", fail)
    MEMORY.expire()
    refresh_if_old()
    assert endpoint_exists("ours")


def test_saved_and_deleted_endpoints_are_known_at_the_next_turn(django_capture_on_commit_callbacks):
    refresh_if_old()
    with django_capture_on_commit_callbacks(execute=True):
        created = create_endpoint()
    refresh_if_old()
    assert endpoint_exists("ours")
    with django_capture_on_commit_callbacks(execute=True):
        created.delete()
    refresh_if_old()
    assert not endpoint_exists("ours")


def test_admin_pages_refresh_the_endpoints(client: Client):
    create_endpoint()
    client.get("/")
    assert not endpoint_exists("ours")
    client.get("/admin/")
    assert endpoint_exists("ours")


def test_own_prices_override_the_list():
    create_endpoint(name="openai", base_url="", prices={"gpt-4o-mini": {"input": 1, "output": 2}})
    MEMORY.read()
    assert LISTED.of("openai:gpt-4o-mini").input == 1
    earlier_prices = current_prices()
    MEMORY._endpoints = {}
    assert LISTED.of("openai:gpt-4o-mini").input == Decimal("0.15")
    assert earlier_prices.of("openai:gpt-4o-mini").input == 1


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_a_valid_endpoint(name):
    preset_endpoint = Endpoint(**preset_values(name))
    preset_endpoint.full_clean()
    stored, preset = stored_endpoint(preset_endpoint), PRESETS[name]
    for attribute in ("name", "protocol", "base_url", "key_variable", "structured", "concurrency", "title"):
        assert getattr(stored, attribute) == getattr(preset, attribute)


@pytest.mark.parametrize(
    "field, value",
    [
        ("name", "script"),
        ("name", "with:colon"),
        ("name", "openai models"),
        ("base_url", "models.example/v1"),
        ("base_url", "ftp://models.example"),
        ("base_url", "file:///etc/passwd"),
        ("base_url", "https://"),
        ("base_url", "https://me:word@models.example"),
        ("base_url", "https://me@models.example"),
        ("base_url", "https://models.example/v1?key=1"),
        ("base_url", "https://models.example/v1#key"),
        ("base_url", "https://models.example:port"),
        ("base_url", "https://models.example\\@elsewhere.example"),
        ("base_url", "https://[::1"),
        ("base_url", "http://169.254.169.254/latest"),
        ("base_url", "http://[fe80::1]/v1"),
        ("base_url", "http://[::ffff:169.254.169.254]/v1"),
        ("base_url", "http://0.0.0.0:8000/v1"),
        ("key_variable", "SECRET_KEY"),
        ("key_variable", "DATABASE_URL"),
        ("key_variable", "openai_api_key"),
        ("key_variable", "OPENAI_API_KEY"),
        ("concurrency", 0),
        ("per_minute", 0),
        ("prices", [1]),
        ("prices", {"small": 1}),
        ("prices", {"small": {"input": 1}}),
        ("prices", {"small": {"input": -1, "output": 1}}),
        ("prices", {"small": {"input": "NaN", "output": 1}}),
        ("prices", {"small": {"input": 1, "output": 1, "kept": 1}}),
        ("protocol", "telepathy"),
        ("structured", "hope"),
    ],
)
def test_invalid_values_are_refused_at_their_field(field, value):
    valid = {
        "name": "ours",
        "base_url": "https://models.example/v1",
        "prices": PRICES,
        "prices_as_of": datetime.date(2026, 1, 1),
    }
    Endpoint(**valid).full_clean()
    with pytest.raises(ValidationError) as refused:
        Endpoint(**{**valid, field: value}).full_clean()
    assert list(refused.value.message_dict) == [field]


def test_presets_variable_works_only_with_its_address():
    Endpoint(name="again", key_variable="OPENAI_API_KEY").full_clean()
    with pytest.raises(ValidationError, match="another address"):
        Endpoint(name="again", protocol="anthropic", key_variable="OPENAI_API_KEY").full_clean()
