"""Endpoints that serve models: their names, addresses, keys, limits and prices.

An agent is called "ENDPOINT:MODEL". The presets below need nothing but a key in the environment;
an application adds its own endpoints, or replaces presets, with `use_endpoints`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from games.words import gettext as _
from llm_agents.errors import NotConfigured

Protocol = Literal["openai", "anthropic"]
Structured = Literal["json_schema", "json_object", "tool", "none"]
"""How a schema is enforced: natively, as any JSON object, as the arguments of a forced tool, or not at all."""

OFFICIAL: Mapping[Protocol, tuple[str, str]] = {
    "openai": ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
    "anthropic": ("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
}
"""By protocol: the variable in which the official SDK looks for an address, and its default."""


class Price(BaseModel):
    """US dollars per million tokens; `cached`: of input read from the provider's cache, None: like other input."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    input: Decimal = Field(ge=0)
    output: Decimal = Field(ge=0)
    cached: Decimal | None = Field(default=None, ge=0)


@dataclass(frozen=True)
class Endpoint:
    """An address that serves models.

    Attributes:
        name: the ENDPOINT part of an agent's name.
        protocol: the API it speaks.
        base_url: its address; None: the protocol's default, or the SDK's environment variable.
        key: its key, unless kept in the environment.
        key_variable: the environment variable that holds the key otherwise; None: it needs no key.
        structured: how it can enforce a JSON schema.
        concurrency: maximum calls in flight, per event loop.
        per_minute: maximum calls started within a minute, per event loop; None: no limit.
        prices: by model.
        title: its name for researchers.
        tools: whether it supports tools; if not, models call them in plain JSON.
    """

    name: str
    protocol: Protocol
    base_url: str | None = None
    key: str | None = field(default=None, repr=False)
    key_variable: str | None = None
    structured: Structured = "none"
    concurrency: int = 64
    per_minute: int | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)
    title: str = ""
    tools: bool = True

    @property
    def address(self) -> str:
        """The base URL of its calls."""
        variable, default = OFFICIAL[self.protocol]
        return self.base_url or os.environ.get(variable) or default

    def secret(self) -> str | None:
        """The key of its calls; None if none is needed.

        Raises:
            NotConfigured: a key is needed and missing, or malformed.
        """
        key = (self.key or os.environ.get(self.key_variable or "") or "").strip()
        if not key and self.key_variable is not None:
            raise NotConfigured(_("{variable} is not set.").format(variable=self.key_variable))
        if not (key.isascii() and key.isprintable()):
            raise NotConfigured(
                _("The key of endpoint “{name}” contains characters that no key has.").format(name=self.name)
            )
        return key or None


def _compatible(name: str, title: str, base_url: str, structured: Structured, *, concurrency: int = 64) -> Endpoint:
    """Return a public OpenAI-compatible endpoint whose key is in the variable named after it."""
    return Endpoint(
        name, "openai", base_url, None, f"{name.upper()}_API_KEY", structured, concurrency=concurrency, title=title
    )


def _local(name: str, title: str, port: int, *, concurrency: int) -> Endpoint:
    """Return an OpenAI-compatible server on this machine, at its usual port and without a key."""
    base_url = f"http://127.0.0.1:{port}/v1"
    return Endpoint(name, "openai", base_url, None, None, "json_schema", concurrency=concurrency, title=title)


_PRESET_ENDPOINTS = (
    Endpoint("openai", "openai", None, None, "OPENAI_API_KEY", "json_schema", concurrency=200, title="OpenAI"),
    Endpoint("anthropic", "anthropic", None, None, "ANTHROPIC_API_KEY", "tool", concurrency=200, title="Anthropic"),
    _compatible("gemini", "Google Gemini", "https://generativelanguage.googleapis.com/v1beta/openai/", "json_schema"),
    _compatible("mistral", "Mistral", "https://api.mistral.ai/v1", "json_schema"),
    _compatible("xai", "xAI", "https://api.x.ai/v1", "json_schema"),
    _compatible("together", "Together", "https://api.together.xyz/v1", "json_schema"),
    _local("vllm", "vLLM", 8000, concurrency=64),
    _local("ollama", "Ollama", 11434, concurrency=4),
    _local("llamacpp", "llama.cpp", 8080, concurrency=4),
)
PRESETS: Mapping[str, Endpoint] = {preset.name: preset for preset in _PRESET_ENDPOINTS}
"""Endpoints available without configuration."""

Source = Callable[[str], Endpoint | None]


def _no_endpoint(name: str) -> Endpoint | None:
    return None


_source: Source = _no_endpoint


def use_endpoints(source: Source) -> None:
    """Look endpoints up in `source` first, and in the presets where it returns None.

    `source` is called for every call of a model, from any thread and inside event loops: it must
    answer from memory.
    """
    global _source
    _source = source


def endpoint(name: str) -> Endpoint:
    """Return the endpoint of that name.

    Raises:
        NotConfigured: there is none.
    """
    target = _source(name) or PRESETS.get(name)
    if target is None:
        raise NotConfigured(_("There is no endpoint “{name}”.").format(name=name))
    return target


def endpoint_exists(name: str) -> bool:
    """Return whether there is an endpoint of that name."""
    return bool(_source(name) or name in PRESETS)
