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

SECONDS = 4.0
KEPT_SECONDS = 300
MOST = 500


def offered() -> list[tuple[str, str]]:
    """Return (name, title) of every endpoint that agents can use: the admin's, then the presets."""
    own = [(place.name, place.title) for place in MEMORY.all() if not place.refusal]
    replaced = {place.name for place in MEMORY.all()}
    return [*own, *((name, preset.title) for name, preset in PRESETS.items() if name not in replaced)]


def priced(name: str) -> list[str]:
    """Return an endpoint's models with known prices."""
    kept = MEMORY.get(name)
    listed = (model.removeprefix(f"{name}:") for model in PRICES if model.startswith(f"{name}:"))
    return sorted({*(kept.prices if kept else ()), *listed})


def models_at(name: str) -> list[str]:
    """Return the models the endpoint lists, cached for five minutes; empty if it provides no list."""
    key = f"models-of/{name}"
    known: list[str] | None = cache.get(key)
    if known is None:
        known = _listed(endpoint(name))
        cache.set(key, known, KEPT_SECONDS)
    return known


@sensitive_variables()
def _listed(place: Endpoint) -> list[str]:
    found: list[str] = []
    asking = threading.Thread(target=_ask, args=(place, found), name="listing", daemon=True)
    asking.start()
    asking.join(SECONDS + 1)
    return sorted(found)[:MOST]


@sensitive_variables()
def _ask(place: Endpoint, found: list[str]) -> None:
    async def ask() -> Iterable[str]:
        provider = provider_of(place)
        try:
            return await asyncio.wait_for(provider.models(), SECONDS)
        finally:
            await provider.close()

    try:
        found += [model for model in asyncio.run(ask()) if isinstance(model, str) and 0 < len(model) <= 150]
    except (AgentError, TimeoutError):
        return
