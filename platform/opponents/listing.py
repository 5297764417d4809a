"""Which models an endpoint offers: as its prices name them, and as the endpoint itself lists them."""

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
    """(name, title) of every endpoint that agents can be asked at: those of the admin, then the presets."""
    own = [(place.name, place.title) for place in MEMORY.all() if not place.refusal]
    replaced = {place.name for place in MEMORY.all()}
    return [*own, *((name, preset.title) for name, preset in PRESETS.items() if name not in replaced)]


def priced(name: str) -> list[str]:
    """The models of an endpoint whose price is known."""
    kept = MEMORY.get(name)
    listed = (model.removeprefix(f"{name}:") for model in PRICES if model.startswith(f"{name}:"))
    return sorted({*(kept.prices if kept else ()), *listed})


def models_at(name: str) -> list[str]:
    """The models that the endpoint lists now, or listed within five minutes; none where it does not tell."""
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
