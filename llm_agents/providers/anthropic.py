"""Anthropic's Messages, and every endpoint that speaks it."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from typing import Any

import anthropic
import httpx2

from llm_agents.endpoints import Endpoint
from llm_agents.errors import ProviderError, RateLimited, Rejected, TimedOut, Unavailable, Unreadable
from llm_agents.providers.base import (
    CONNECT_SECONDS,
    UNKNOWN,
    ChatMessage,
    Clients,
    Completion,
    Draft,
    Request,
    does_not_know,
    failed,
    said_by,
)
from llm_agents.scrubbing import NO_KEY

# At their debug level these write prompts into the log.
for name in ("anthropic", "httpx2", "httpcore2"):
    logging.getLogger(name).setLevel(logging.WARNING)

MOST_TOKENS = 4096
"""Length of an answer where no `max_tokens` is given; the API demands one."""
UNREADABLE = "The provider's answer is not a message."
CUT = "The answer was cut off."


def _client(endpoint: Endpoint) -> anthropic.AsyncAnthropic:
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=endpoint.concurrency)
    return anthropic.AsyncAnthropic(
        api_key=endpoint.secret() or NO_KEY,
        base_url=endpoint.address,
        max_retries=0,
        http_client=anthropic.DefaultAsyncHttpxClient(limits=limits),
    )


_CLIENTS = Clients(_client)


class Anthropic:
    """Calls of one endpoint through the official SDK, which never retries by itself here."""

    def __init__(self, endpoint: Endpoint):
        self._endpoint = endpoint

    async def complete(self, request: Request) -> Completion:
        """One message, streamed where the request wants its text as it comes."""
        client = _CLIENTS.get(self._endpoint)
        failure: ProviderError
        try:
            async with asyncio.timeout(request.timeout):
                return await self._complete(client, request)
        except ProviderError as error:
            failure = error
        except TimeoutError:
            failure = TimedOut(f"No answer within {request.timeout:g} seconds.")
        except anthropic.APIStatusError as error:
            failure = _failed(error, client.api_key)
        except anthropic.APITimeoutError as error:
            failure = _timed_out(error, request)
        except anthropic.APIConnectionError:
            failure = Unavailable("The provider could not be reached.")
        except httpx2.HTTPError:
            failure = Unavailable(CUT)
        except (anthropic.AnthropicError, json.JSONDecodeError, UnicodeDecodeError):
            failure = Unreadable(UNREADABLE)
        except ValueError:
            failure = Rejected("The request cannot be written as JSON.")
        # Raised here and not above: the SDK's errors hold the request with its key, and would hang on to this one.
        raise failure

    async def close(self) -> None:
        """Close the endpoint's connections of the running event loop."""
        await _CLIENTS.close(self._endpoint)

    def body(self, request: Request) -> dict[str, Any]:
        """The JSON object that a call sends."""
        system = "\n\n".join(message["content"] for message in request.messages if message["role"] == "system")
        return {
            "model": request.model,
            **({"system": system} if system else {}),
            "messages": _turns(request.messages),
            "max_tokens": MOST_TOKENS,
            **({} if request.on_text is None else {"stream": True}),
            **(_forced_tool(request) if self._sent(request) else {}),
            **request.parameters,
        }

    async def _complete(self, client: anthropic.AsyncAnthropic, request: Request) -> Completion:
        """Ask, and ask again without the tool where the endpoint turns out not to know tools."""
        while True:
            sent = self._sent(request)
            try:
                return await self._ask(client, request, "tool" if sent else "none")
            except anthropic.APIStatusError as error:
                parameter = does_not_know(error.status_code, error.body, sent)
                if parameter is None:
                    raise
                UNKNOWN.add(self._endpoint, request.model, parameter)

    def _sent(self, request: Request) -> set[str]:
        wanted = request.schema is not None and self._endpoint.structured != "none"
        known = not UNKNOWN.holds(self._endpoint, request.model, "structured")
        return {"structured"} if wanted and known else set()

    async def _ask(self, client: anthropic.AsyncAnthropic, request: Request, how: str) -> Completion:
        body = self.body(request)
        body.pop("stream", None)
        common: dict[str, Any] = {
            "model": body.pop("model"),
            "messages": body.pop("messages"),
            "max_tokens": body.pop("max_tokens"),
            "system": body.pop("system", anthropic.omit),
            "timeout": anthropic.Timeout(request.timeout, connect=min(CONNECT_SECONDS, request.timeout)),
            "extra_body": body,
        }
        if request.on_text is None:
            return _completion(await client.messages.create(**common), how)
        draft = Draft(request.on_text)
        async with await client.messages.create(**common, stream=True) as stream:
            return await _streamed(stream, draft, how)


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


def _forced_tool(request: Request) -> dict[str, Any]:
    """The arguments that make the answer the input of one tool."""
    return {
        "tools": [{"name": "move", "description": "Make your move.", "input_schema": request.schema}],
        "tool_choice": {"type": "tool", "name": "move"},
    }


_IN_STREAM = {"rate_limit_error": RateLimited, "invalid_request_error": Rejected}


def _failed(error: anthropic.APIStatusError, key: str | None) -> ProviderError:
    """The error for a failure by status, or for one announced in the middle of a stream that began with 200."""
    if error.status_code >= 400:
        return failed(error.status_code, error.body, key, error.response.headers)
    inner = error.body.get("error") if isinstance(error.body, dict) else None
    kind = _IN_STREAM.get(inner.get("type", ""), Unavailable) if isinstance(inner, dict) else Unavailable
    return kind(f"The provider failed while answering: {said_by(error.body, key)}")


def _timed_out(error: anthropic.APITimeoutError, request: Request) -> ProviderError:
    if isinstance(error.__cause__, httpx2.ConnectTimeout):
        return Unavailable("The provider could not be reached.")
    return TimedOut(f"No answer within {request.timeout:g} seconds.")


def _completion(answer: Any, how: str) -> Completion:
    try:
        tools = [json.dumps(part.input, ensure_ascii=False) for part in answer.content if part.type == "tool_use"]
        return Completion(
            text=tools[0] if tools else "".join(part.text for part in answer.content if part.type == "text"),
            model=answer.model,
            input_tokens=answer.usage.input_tokens,
            output_tokens=answer.usage.output_tokens,
            request_id=getattr(answer, "_request_id", None) or answer.id,
            stop=answer.stop_reason,
            refused=answer.stop_reason == "refusal",
            structured=how,
        )
    except (AttributeError, TypeError):
        raise Unreadable(UNREADABLE) from None


async def _streamed(stream: anthropic.AsyncStream[Any], draft: Draft, how: str) -> Completion:
    """Read a stream to its end; one without its last event was cut."""
    message: Any = None
    output_tokens = stop = None
    ended = tool = False
    async for event in stream:
        piece = None
        try:
            match event.type:
                case "message_start":
                    message = event.message
                    identity, model, input_tokens = message.id, message.model, message.usage.input_tokens
                case "content_block_start":
                    tool = tool or event.content_block.type == "tool_use"
                case "content_block_delta" if event.delta.type == "text_delta":
                    piece = event.delta.text
                case "content_block_delta" if event.delta.type == "input_json_delta":
                    piece = event.delta.partial_json
                case "message_delta":
                    stop, output_tokens = event.delta.stop_reason or stop, event.usage.output_tokens
                case "message_stop":
                    ended = True
        except (AttributeError, TypeError):
            raise Unreadable(UNREADABLE) from None
        draft.add(piece)
    if message is None:
        raise Unreadable(UNREADABLE)
    if not ended:
        raise Unavailable(CUT)
    return Completion(
        text=draft.text or ("{}" if tool else ""),
        model=model,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        request_id=stream.response.headers.get("request-id") or identity,
        stop=stop,
        refused=stop == "refusal",
        first_text=draft.first,
        structured=how,
    )
