"""Providers of models, each behind one method: `complete(request) -> Completion`."""

from __future__ import annotations

from importlib import import_module

from llm_agents.endpoints import Endpoint, endpoint
from llm_agents.providers.base import Provider

_CLASSES = {"openai": "OpenAI", "anthropic": "Anthropic"}
"""The provider class in each protocol's module."""


def provider_of(target: Endpoint) -> Provider:
    """Return the provider of an endpoint's calls. The SDK loads with the first call: scripts never wait for it."""
    module = import_module(f"llm_agents.providers.{target.protocol}")
    provider: Provider = getattr(module, _CLASSES[target.protocol])(target)
    return provider


def provider_called(name: str) -> Provider:
    """Return the provider of the endpoint of that name.

    Raises:
        NotConfigured: there is no such endpoint.
    """
    return provider_of(endpoint(name))
