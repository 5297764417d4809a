"""OpenAI's Chat Completions, and every endpoint that speaks it (OPENAI_BASE_URL)."""

from __future__ import annotations

import asyncio
from typing import Any

import openai

from llm_agents.errors import NotConfigured, TimedOut, Unavailable, Unreadable
from llm_agents.providers.base import ClientPerLoop, Completion, Request, failed


class OpenAI:
    """Calls through the official SDK; it reads OPENAI_API_KEY and OPENAI_BASE_URL itself."""

    def __init__(self) -> None:
        self._clients = ClientPerLoop(openai.AsyncOpenAI)

    async def complete(self, request: Request) -> Completion:
        """One chat completion; the SDK's own two retries are inside the time-out."""
        try:
            client = self._clients.get()
        except openai.OpenAIError:
            raise NotConfigured("OPENAI_API_KEY is not set.") from None
        messages: Any = list(request.messages)
        try:
            async with asyncio.timeout(request.timeout):
                answer = await client.chat.completions.create(
                    model=request.model, messages=messages, timeout=request.timeout, extra_body=dict(request.parameters)
                )
        except (TimeoutError, openai.APITimeoutError):
            raise TimedOut(f"No answer within {request.timeout:g} seconds.") from None
        except openai.APIStatusError as error:
            raise failed(error.status_code, error.body, client.api_key) from None
        except openai.APIConnectionError:
            raise Unavailable("The provider could not be reached.") from None
        except (openai.OpenAIError, ValueError):
            raise Unreadable("The provider's answer is not a chat completion.") from None
        return _completion(answer)

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        await self._clients.close()


def _completion(answer: Any) -> Completion:
    try:
        choice, usage = answer.choices[0], answer.usage
        text = choice.message.content or getattr(choice.message, "refusal", None) or ""
        return Completion(
            text=text,
            model=answer.model,
            input_tokens=usage.prompt_tokens if usage else None,
            output_tokens=usage.completion_tokens if usage else None,
            request_id=getattr(answer, "_request_id", None) or answer.id,
            stop=choice.finish_reason,
        )
    except (AttributeError, IndexError, TypeError):
        raise Unreadable("The provider's answer is not a chat completion.") from None


PROVIDER = OpenAI()
