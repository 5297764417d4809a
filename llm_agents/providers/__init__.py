"""The makers of models, each behind one method: `complete(request) -> Completion`."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from llm_agents.providers.base import Provider

NAMES = ("openai", "anthropic")
"""The providers that an agent may name; keys and addresses come from the SDKs' own environment variables."""


@cache
def provider_called(name: str) -> Provider:
    """The provider of that name. Its SDK is loaded with the first call: scripts never wait for it."""
    made: Provider = import_module(f"llm_agents.providers.{name}").PROVIDER
    return made
