"""Test an endpoint with a short question; nothing is recorded."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from llm_agents.breaker import BREAKERS
from llm_agents.endpoints import Endpoint
from llm_agents.errors import AgentError, NoTools, ProviderError, TimedOut
from llm_agents.providers import provider_of
from llm_agents.providers.base import Completion, OfferedTool, Provider, Request
from llm_agents.scrubbing import without_key

SECONDS = 20.0
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
    """Whether it makes a required tool call; None if it gave no second answer."""


LOOK = OfferedTool(
    "look",
    "Look.",
    {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
)


@sensitive_variables()
def try_out(place: Endpoint, model: str, *, seconds: float = SECONDS) -> Trial:
    """Ask once, ignoring limits and circuits, and wait at most `seconds` for the answer.

    An answer closes the endpoint's circuit.
    """
    outcome: list[tuple[Completion, bool | None] | Exception] = []
    began = time.monotonic()
    asking = threading.Thread(target=_ask, args=(place, model, seconds, outcome), name="trying", daemon=True)
    asking.start()
    asking.join(seconds + 1)
    took = time.monotonic() - began
    came = outcome[0] if outcome else TimedOut(_("No answer within {seconds:g} seconds.").format(seconds=seconds))
    if isinstance(came, Exception):
        return Trial(took, model=model, problem=_without_key(_in_words(came), place))
    BREAKERS.succeeded(place.name)
    completion, tools = came
    return Trial(
        took,
        tools=tools,
        model=model,
        answered_by=_without_key(completion.model or "", place),
        text=_without_key(" ".join(completion.text.split()), place),
        input_tokens=completion.input_tokens,
        output_tokens=completion.output_tokens,
    )


def _in_words(failure: Exception) -> str:
    if isinstance(failure, AgentError):
        return str(failure)
    return _("The call failed: {kind}.").format(kind=type(failure).__name__)


@sensitive_variables()
def _ask(
    place: Endpoint, model: str, seconds: float, outcome: list[tuple[Completion, bool | None] | Exception]
) -> None:
    try:
        outcome.append(asyncio.run(_answer(place, model, seconds)))
    except Exception as failure:  # noqa: BLE001 - whatever it is, it is shown to anyone who pressed the button
        outcome.append(failure)


async def _answer(place: Endpoint, model: str, seconds: float) -> tuple[Completion, bool | None]:
    """Return its text and whether it supports tools, both within `seconds`."""
    began = time.monotonic()
    own_maker = place.protocol == "openai" and place.base_url is None
    limit = {"max_completion_tokens" if own_maker else "max_tokens": DEFAULT_MAX_TOKENS}
    asked = Request(model, [{"role": "user", "content": QUESTION}], limit, seconds)
    provider = provider_of(replace(place, structured="none", tools=True))
    try:
        completion = await asyncio.wait_for(provider.complete(asked), seconds)
        left = max(0.1, seconds - (time.monotonic() - began))
        return completion, await _takes_tools(provider, replace(asked, timeout=left))
    except TimeoutError:
        raise TimedOut(_("No answer within {seconds:g} seconds.").format(seconds=seconds)) from None
    finally:
        await provider.close()


async def _takes_tools(provider: Provider, asked: Request) -> bool | None:
    try:
        called = await provider.complete(replace(asked, tools=(LOOK,)))
    except NoTools:
        return False
    except ProviderError:
        return None
    return bool(called.calls)


@sensitive_variables()
def _without_key(words: str, place: Endpoint) -> str:
    """Return at most 300 characters without any part of the key, even if the endpoint repeats it."""
    try:
        key = place.secret()
    except ProviderError:
        key = None
    return without_key(words, key)[:300]
