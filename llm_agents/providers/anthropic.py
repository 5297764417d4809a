"""Anthropic's Messages, and every endpoint that speaks it (ANTHROPIC_BASE_URL)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import Any

import anthropic

from llm_agents.errors import NotConfigured, TimedOut, Unavailable, Unreadable
from llm_agents.providers.base import ChatMessage, ClientPerLoop, Completion, Request, failed

MOST_TOKENS = 4096
"""Length of an answer where no `max_tokens` is given; the API demands one."""


class Anthropic:
    """Calls through the official SDK; it reads ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL itself."""

    def __init__(self) -> None:
        self._clients = ClientPerLoop(anthropic.AsyncAnthropic)

    async def complete(self, request: Request) -> Completion:
        """One message; the SDK's own two retries are inside the time-out."""
        if not (os.environ.get("ANTHROPIC_API_KEY") or os.environ.get("ANTHROPIC_AUTH_TOKEN")):
            raise NotConfigured("ANTHROPIC_API_KEY is not set.")
        client = self._clients.get()
        system = "\n\n".join(message["content"] for message in request.messages if message["role"] == "system")
        turns: Any = _turns(request.messages)
        try:
            async with asyncio.timeout(request.timeout):
                answer = await client.messages.create(
                    model=request.model,
                    messages=turns,
                    max_tokens=MOST_TOKENS,
                    system=system or anthropic.omit,
                    timeout=request.timeout,
                    extra_body=dict(request.parameters),
                )
        except (TimeoutError, anthropic.APITimeoutError):
            raise TimedOut(f"No answer within {request.timeout:g} seconds.") from None
        except anthropic.APIStatusError as error:
            raise failed(error.status_code, error.body, client.api_key) from None
        except anthropic.APIConnectionError:
            raise Unavailable("The provider could not be reached.") from None
        except (anthropic.AnthropicError, ValueError):
            raise Unreadable("The provider's answer is not a message.") from None
        return _completion(answer)

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        await self._clients.close()


def _turns(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The messages without the system's, neighbours of the same role joined: the API wants them to alternate."""
    turns: list[ChatMessage] = []
    for message in messages:
        if message["role"] == "system":
            continue
        if turns and turns[-1]["role"] == message["role"]:
            turns[-1] = {"role": message["role"], "content": f"{turns[-1]['content']}\n\n{message['content']}"}
        else:
            turns.append(message)
    return turns


def _completion(answer: Any) -> Completion:
    try:
        return Completion(
            text="".join(part.text for part in answer.content if part.type == "text"),
            model=answer.model,
            input_tokens=answer.usage.input_tokens,
            output_tokens=answer.usage.output_tokens,
            request_id=getattr(answer, "_request_id", None) or answer.id,
            stop=answer.stop_reason,
        )
    except (AttributeError, TypeError):
        raise Unreadable("The provider's answer is not a message.") from None


PROVIDER = Anthropic()
