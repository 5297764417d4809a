"""Test an endpoint with a short question; nothing is recorded."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from llm_agents.breaker import BREAKERS
from llm_agents.endpoints import Endpoint
from llm_agents.errors import AgentError, NoTools, ProviderError
from llm_agents.providers.base import Completion, OfferedTool, Provider, Request
from llm_agents.scrubbing import without_key
from opponents.apart import answer_from

SECONDS = 20.0
MARGIN_SECONDS = 0.5
"""How much longer the whole test may take than its two questions."""
DEFAULT_MAX_TOKENS = 64
QUESTION = "Reply with the single word: ready"


@dataclass(frozen=True)
class Trial:
    """The result; `problem` is empty if the endpoint answered. No text contains the key."""

    seconds: float
    model: str = ""
    answered_by: str = ""
    text: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    problem: str = ""
    tools: bool | None = None
    """Whether the model made the tool call it was asked for; None if the second request failed."""


TEST_TOOL = OfferedTool(
    "look",
    "Look.",
    {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
)


@sensitive_variables()
def try_out(endpoint: Endpoint, model: str, *, seconds: float = SECONDS) -> Trial:
    """Ask one question, ignoring limits and circuits, and wait at most `seconds` for the answer.

    An answer closes the endpoint's circuit.
    """
    started_at = time.monotonic()
    try:
        completion, tools = answer_from(
            replace(endpoint, structured="none", tools=True),
            lambda provider: _answer(provider, endpoint, model, seconds),
            seconds=seconds + MARGIN_SECONDS,
        )
    except Exception as failure:  # noqa: BLE001 - any failure is shown to the user who started the test
        elapsed = time.monotonic() - started_at
        return Trial(elapsed, model=model, problem=_without_key(_error_message(failure), endpoint))
    elapsed = time.monotonic() - started_at
    BREAKERS.succeeded(endpoint.name)
    return Trial(
        elapsed,
        tools=tools,
        model=model,
        answered_by=_without_key(completion.model or "", endpoint),
        text=_without_key(" ".join(completion.text.split()), endpoint),
        input_tokens=completion.input_tokens,
        output_tokens=completion.output_tokens,
    )


def _error_message(failure: Exception) -> str:
    if isinstance(failure, AgentError):
        return str(failure)
    return _("The call failed: {kind}.").format(kind=type(failure).__name__)


async def _answer(provider: Provider, endpoint: Endpoint, model: str, seconds: float) -> tuple[Completion, bool | None]:
    """Return the model's answer and whether it supports tools, both within `seconds`."""
    started_at = time.monotonic()
    is_openai = endpoint.protocol == "openai" and endpoint.base_url is None
    limit = {"max_completion_tokens" if is_openai else "max_tokens": DEFAULT_MAX_TOKENS}
    request = Request(model, [{"role": "user", "content": QUESTION}], limit, seconds)
    completion = await provider.complete(request)
    remaining = max(0.1, seconds - (time.monotonic() - started_at))
    return completion, await _supports_tools(provider, replace(request, timeout=remaining))


async def _supports_tools(provider: Provider, request: Request) -> bool | None:
    try:
        completion = await provider.complete(replace(request, tools=(TEST_TOOL,)))
    except NoTools:
        return False
    except ProviderError:
        return None
    return bool(completion.calls)


@sensitive_variables()
def _without_key(text: str, endpoint: Endpoint) -> str:
    """Return at most 300 characters without any part of the key, even if the endpoint repeats it."""
    try:
        key = endpoint.secret()
    except ProviderError:
        key = None
    return without_key(text, key)[:300]
