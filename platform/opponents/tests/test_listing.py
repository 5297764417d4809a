"""The models that the set-up form offers for an endpoint."""

from __future__ import annotations

import pytest
from django.core.cache import cache

from llm_agents.standins.server import OpenAIStandIn
from opponents.endpoints import MEMORY
from opponents.listing import listed_models, priced_models, usable_endpoints
from opponents.models import Endpoint

pytestmark = pytest.mark.django_db


def create_endpoint(name: str, url: str, **fields) -> Endpoint:
    cache.clear()
    endpoint = Endpoint.objects.create(name=name, title=name.title(), protocol="openai", base_url=url, **fields)
    MEMORY.read()
    return endpoint


@pytest.fixture(autouse=True)
def forgotten():
    yield
    Endpoint.objects.all().delete()
    MEMORY.read()


def test_models_come_from_the_endpoints_list():
    with OpenAIStandIn(["x"], models=["small", "large"]) as standin:
        create_endpoint("lab", standin.environment["OPENAI_BASE_URL"])
        assert listed_models("lab") == ["large", "small"]
    assert listed_models("lab") == ["large", "small"], "the list is cached for five minutes"


def test_priced_models_are_offered_without_a_list():
    create_endpoint("lab", "http://127.0.0.1:9/v1", prices={"stand-in": {"input": "1", "output": "2"}})
    assert listed_models("lab") == []
    assert priced_models("lab") == ["stand-in"]


def test_only_enabled_endpoints_are_offered():
    create_endpoint("lab", "http://127.0.0.1:9/v1")
    create_endpoint("off", "http://127.0.0.1:9/v1", enabled=False)
    names = [name for name, _title in usable_endpoints()]
    assert "lab" in names and "openai" in names and "off" not in names
