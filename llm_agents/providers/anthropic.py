"""Anthropic's Messages API, and every endpoint that speaks it."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import anthropic

from llm_agents.errors import ProviderError, RateLimited, Rejected, Unavailable, Unreadable
from llm_agents.providers.base import (
    CUT_OFF,
    LONGEST_ANSWER,
    ChatMessage,
    Completion,
    Draft,
    Provider,
    Request,
    ToolCall,
    error_text,
)

# At debug level these write prompts into the log.
for name in ("anthropic", "httpx2", "httpcore2"):
    logging.getLogger(name).setLevel(logging.WARNING)

UNREADABLE = "The provider's answer is not a message."


class Anthropic(Provider):
    """Anthropic's protocol."""

    sdk, base_error, unreadable = anthropic, anthropic.AnthropicError, UNREADABLE

    def make_client(self, **options: Any) -> anthropic.AsyncAnthropic:
        return anthropic.AsyncAnthropic(**options)

    def body(self, request: Request) -> dict[str, Any]:
        """Return the JSON object that a call sends."""
        system = "\n\n".join(message["content"] for message in request.messages if message["role"] == "system")
        return {
            "model": request.model,
            **({"system": system} if system else {}),
            "messages": _api_messages(request.messages),
            "max_tokens": LONGEST_ANSWER["anthropic"],
            **({} if request.on_text is None else {"stream": True}),
            **self._tools(request),
            **request.parameters,
        }

    def _tools(self, request: Request) -> dict[str, Any]:
        if request.tools:
            return _several_tools(request)
        return _forced_tool(request) if "structured" in self.optional_parameters(request) else {}

    def enforcement(self, optional_parameters: set[str]) -> str:
        return "tool" if "structured" in optional_parameters else "none"

    def status_error(self, error: anthropic.APIStatusError, key: str | None) -> ProviderError:
        """Return the error for a failure by status, or for one announced in a stream that began with 200."""
        if error.status_code >= 300:
            return super().status_error(error, key)
        inner = error.body.get("error") if isinstance(error.body, dict) else None
        kind = _IN_STREAM.get(inner.get("type", ""), Unavailable) if isinstance(inner, dict) else Unavailable
        return kind(f"The provider failed while answering: {error_text(error.body, key)}")

    async def ask(self, client: anthropic.AsyncAnthropic, request: Request, enforcement: str) -> Completion:
        body = self.body(request)
        body.pop("stream", None)
        common: dict[str, Any] = {
            "model": body.pop("model"),
            "messages": [],  # Sent with the rest: the SDK walks all their parts, which costs more than the call.
            "max_tokens": body.pop("max_tokens"),
            "system": body.pop("system", anthropic.omit),
            "timeout": self.timeout(request),
            "extra_body": body,
        }
        if request.on_text is None:
            return _completion(await client.messages.create(**common), enforcement, tools=bool(request.tools))
        draft = Draft(request.on_text)
        async with await client.messages.create(**common, stream=True) as stream:
            return await _read_stream(stream, draft, enforcement, tools=bool(request.tools))


def _api_messages(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """Return the messages without the system's, merging neighbours of the same role: the API requires alternation."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "system":
            continue
        role = "assistant" if message["role"] == "assistant" else "user"
        content = _content(message)
        if not turns or turns[-1]["role"] != role:
            turns.append({"role": role, "content": content})
        elif isinstance(content, str) and isinstance(turns[-1]["content"], str):
            turns[-1] = {"role": role, "content": f"{turns[-1]['content']}\n\n{content}"}
        else:
            turns[-1] = {"role": role, "content": [*_blocks(turns[-1]["content"]), *_blocks(content)]}
    return turns


def _content(message: ChatMessage) -> str | list[dict[str, Any]]:
    """Return a message's text, or its blocks if tools are called or answered."""
    if message["role"] == "tool":
        return [{"type": "tool_result", "tool_use_id": message["answers"], "content": message["content"]}]
    calls = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.as_object}
        for call in message.get("calls", ())
    ]
    return [*_blocks(message["content"]), *calls] if calls else message["content"]


def _blocks(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content.strip() else []
    return content


def _several_tools(request: Request) -> dict[str, Any]:
    """Return the arguments that make the answer use one of several tools, or the only one."""
    only_tool = {"type": "tool", "name": request.tools[0].name}
    return {
        "tools": [
            {"name": tool.name, "description": tool.help, "input_schema": tool.parameters} for tool in request.tools
        ],
        "tool_choice": only_tool if len(request.tools) == 1 else {"type": "any"},
    }


def _forced_tool(request: Request) -> dict[str, Any]:
    """Return the arguments that make the answer the input of one tool."""
    return {
        "tools": [{"name": "move", "description": "Make your move.", "input_schema": request.schema}],
        "tool_choice": {"type": "tool", "name": "move"},
    }


_IN_STREAM = {"rate_limit_error": RateLimited, "invalid_request_error": Rejected}


def _input_tokens(usage: Any) -> tuple[int, int]:
    """Return (all tokens read, those from the cache): the API counts cache reads and writes separately."""
    cached = getattr(usage, "cache_read_input_tokens", None) or 0
    return usage.input_tokens + cached + (getattr(usage, "cache_creation_input_tokens", None) or 0), cached


def _completion(answer: Any, enforcement: str, *, tools: bool) -> Completion:
    try:
        calls = tuple(
            ToolCall(block.id, block.name, json.dumps(block.input, ensure_ascii=False))
            for block in answer.content
            if block.type == "tool_use"
        )
        text = "".join(block.text for block in answer.content if block.type == "text")
        input_tokens, cached = _input_tokens(answer.usage)
        return Completion(
            text=calls[0].arguments if calls and not tools else text,
            model=answer.model,
            input_tokens=input_tokens,
            output_tokens=answer.usage.output_tokens,
            request_id=getattr(answer, "_request_id", None) or answer.id,
            stop=answer.stop_reason,
            refused=answer.stop_reason == "refusal",
            structured=enforcement,
            calls=calls if tools else (),
            cached_tokens=cached,
        )
    except (AttributeError, TypeError):
        raise Unreadable(UNREADABLE) from None


async def _read_stream(
    stream: anthropic.AsyncStream[Any], draft: Draft, enforcement: str, *, tools: bool
) -> Completion:
    """Read a stream to its end; one without its last event was cut off."""
    message: Any = None
    ended = has_tool_use = False
    calls: dict[int, ToolCall] = {}
    async for event in stream:
        piece = None
        try:
            match event.type:
                case "message_start":
                    message = event.message
                case "content_block_start" if event.content_block.type == "tool_use":
                    has_tool_use = True
                    calls[event.index] = ToolCall(event.content_block.id, event.content_block.name, "")
                case "content_block_delta" if event.delta.type == "text_delta":
                    piece = event.delta.text
                case "content_block_delta" if event.delta.type == "input_json_delta":
                    piece = event.delta.partial_json
                    if tools and (call := calls.get(event.index)) is not None:
                        calls[event.index], piece = replace(call, arguments=call.arguments + piece), None
                case "message_delta":
                    message.stop_reason = event.delta.stop_reason or message.stop_reason
                    message.usage.output_tokens = event.usage.output_tokens
                case "message_stop":
                    ended = True
        except (AttributeError, TypeError):
            raise Unreadable(UNREADABLE) from None
        draft.add(piece)
    if message is None:
        raise Unreadable(UNREADABLE)
    if not ended:
        raise Unavailable(CUT_OFF)
    return replace(
        _completion(message, enforcement, tools=tools),
        text=draft.text or ("{}" if has_tool_use and not tools else ""),
        request_id=stream.response.headers.get("request-id") or message.id,
        first_text=draft.first,
        calls=tuple(call for _index, call in sorted(calls.items())) if tools else (),
    )
