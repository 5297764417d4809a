"""The models an endpoint offers: those with known prices, and those the endpoint itself lists."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable

from django.core.cache import cache
from django.views.decorators.debug import sensitive_variables

from llm_agents.endpoints import PRESETS, Endpoint, endpoint
from llm_agents.errors import AgentError
from llm_agents.pricing import PRICES
from llm_agents.providers import provider_of
from opponents.endpoints import MEMORY

TIMEOUT_SECONDS = 4.0
CACHE_SECONDS = 300
MAX_MODELS = 500


def usable_endpoints() -> list[tuple[str, str]]:
    """Return (name, title) of every endpoint that agents can use: those from the admin, then the presets."""
    stored_endpoints = [(endpoint.name, endpoint.title) for endpoint in MEMORY.all() if not endpoint.refusal]
    stored_names = {endpoint.name for endpoint in MEMORY.all()}
    return [*stored_endpoints, *((name, preset.title) for name, preset in PRESETS.items() if name not in stored_names)]


def priced_models(name: str) -> list[str]:
    """Return an endpoint's models with known prices."""
    stored_endpoint = MEMORY.get(name)
    list_priced = (model.removeprefix(f"{name}:") for model in PRICES if model.startswith(f"{name}:"))
    return sorted({*(stored_endpoint.prices if stored_endpoint else ()), *list_priced})


def listed_models(name: str) -> list[str]:
    """Return the models the endpoint lists, cached for five minutes; empty if it provides no list."""
    key = f"models-of/{name}"
    models: list[str] | None = cache.get(key)
    if models is None:
        models = _fetched(endpoint(name))
        cache.set(key, models, CACHE_SECONDS)
    return models


@sensitive_variables()
def _fetched(endpoint: Endpoint) -> list[str]:
    models: list[str] = []
    thread = threading.Thread(target=_ask, args=(endpoint, models), name="listing", daemon=True)
    thread.start()
    thread.join(TIMEOUT_SECONDS + 1)
    return sorted(models)[:MAX_MODELS]


@sensitive_variables()
def _ask(endpoint: Endpoint, models: list[str]) -> None:
    async def ask() -> Iterable[str]:
        provider = provider_of(endpoint)
        try:
            return await asyncio.wait_for(provider.models(), TIMEOUT_SECONDS)
        finally:
            await provider.close()

    try:
        models += [model for model in asyncio.run(ask()) if isinstance(model, str) and 0 < len(model) <= 150]
    except (AgentError, TimeoutError):
        return
