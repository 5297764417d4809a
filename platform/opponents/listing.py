"""The models an endpoint offers: those with known prices, and those the endpoint itself lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.core.cache import cache
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from llm_agents.agent import is_model, spec_of
from llm_agents.endpoints import PRESETS, Endpoint, endpoint, endpoint_exists
from llm_agents.errors import AgentError
from llm_agents.pricing import PRICES
from opponents.agents import Agent, agent_problem
from opponents.apart import answer_from
from opponents.endpoints import MEMORY
from programs.turns import missing_program

TIMEOUT_SECONDS = 4.0
CACHE_SECONDS = 300
MAX_MODELS = 500


def usable_endpoints() -> list[tuple[str, str]]:
    """Return (name, title) of every endpoint that new agents can use: those from the admin, then the presets."""
    usable = [stored for stored in MEMORY.all() if not (stored.refusal or stored.retired)]
    stored_endpoints = [(stored.name, stored.title) for stored in usable]
    stored_names = {endpoint.name for endpoint in MEMORY.all()}
    return [*stored_endpoints, *((name, preset.title) for name, preset in PRESETS.items() if name not in stored_names)]


def retired_problem(specs: Iterable[str]) -> str:
    """Return why a new agent cannot be one of these models; empty if none of their endpoints is retired."""
    for spec in specs:
        stored = None if not is_model(spec) else MEMORY.get(spec_of(spec).kind)
        if stored is not None and stored.retired:
            return _("The endpoint “{name}” is retired. Choose a model of another one.").format(name=stored.name)
    return ""


def why_unusable(spec: str) -> str:
    """Return why this model cannot be asked until somebody changes its endpoint; empty if it can, or is a script.

    A key in the environment may be known to the workers alone, so its absence here says nothing.
    """
    if not is_model(spec):
        return missing_program([spec])
    name = spec_of(spec).kind
    if not endpoint_exists(name):
        return _("The endpoint “{name}” no longer exists.").format(name=name)
    stored = MEMORY.get(name)
    return stored.refusal if stored else ""


def unusable_agent(agents: Mapping[str, Agent]) -> str:
    """Return why one of these agents can play no match, as a sentence that names it; empty if all can."""
    for label, agent in agents.items():
        problems = [why_unusable(spec) for spec in agent.specs]
        if all(problems):
            return agent_problem(label, problems[0])
    return ""


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
    try:
        models = answer_from(endpoint, lambda provider: provider.models(), seconds=TIMEOUT_SECONDS)
    except AgentError:
        return []
    return sorted(model for model in models if isinstance(model, str) and 0 < len(model) <= 150)[:MAX_MODELS]
