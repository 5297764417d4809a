"""The makers of models, each behind one method: `complete(request) -> Completion`."""

from __future__ import annotations

from collections.abc import Mapping

from llm_agents.providers.anthropic import Anthropic
from llm_agents.providers.base import Provider
from llm_agents.providers.openai import OpenAI

PROVIDERS: Mapping[str, Provider] = {"openai": OpenAI(), "anthropic": Anthropic()}
"""The providers that an agent may name; keys and addresses come from the SDKs' own environment variables."""
