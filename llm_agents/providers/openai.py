"""OpenAI's Chat Completions API, and every endpoint that speaks it."""

from __future__ import annotations

import json
import logging
from functools import partial
from types import SimpleNamespace
from typing import Any

import openai
from httpx2 import Response
from openai.types.chat import ChatCompletionChunk

from llm_agents.errors import Unavailable, Unreadable
from llm_agents.providers.base import CUT_OFF, ChatMessage, Completion, Draft, Provider, Request, ToolCall

# At debug level these write prompts into the log.
for name in ("openai", "httpx2", "httpcore2"):
    logging.getLogger(name).setLevel(logging.WARNING)

UNREADABLE = "The provider's answer is not a chat completion."


class OpenAI(Provider):
    """OpenAI's protocol."""

    sdk, base_error, unreadable = openai, openai.OpenAIError, UNREADABLE
    optional = (*Provider.optional, "stream_options")

    def make_client(self, **options: Any) -> openai.AsyncOpenAI:
        client = openai.AsyncOpenAI(**options)
        if self._endpoint.base_url is not None:
            # Read from the environment and meant for OpenAI alone.
            client.organization = client.project = client.admin_api_key = None
        return client

    def body(self, request: Request) -> dict[str, Any]:
        """Return the JSON object that a call sends."""
        optional_parameters = self.optional_parameters(request)
        stream_arguments: dict[str, Any] = {} if request.on_text is None else {"stream": True}
        if "stream_options" in optional_parameters:
            stream_arguments["stream_options"] = {"include_usage": True}
        constraint = (
            _tools(request) if request.tools else _schema_arguments(request, self.enforcement(optional_parameters))
        )
        messages = [_message(message) for message in request.messages]
        return {"model": request.model, "messages": messages, **stream_arguments, **constraint, **request.parameters}

    async def ask(self, client: openai.AsyncOpenAI, request: Request, enforcement: str) -> Completion:
        # Not `client.chat.completions.create`, which looks up the type of every part of the body and answer: slow.
        timeout = {"timeout": self.timeout(request)}
        post = partial(client.post, "/chat/completions", body=self.body(request), options=timeout)
        if request.on_text is None:
            return _completion(await post(cast_to=Response), enforcement, tools=bool(request.tools))
        draft = Draft(request.on_text)
        streamed = {"stream": True, "stream_cls": openai.AsyncStream[ChatCompletionChunk]}
        async with await post(cast_to=ChatCompletionChunk, **streamed) as stream:
            return await _read_stream(stream, draft, enforcement, tools=bool(request.tools))


def _message(message: ChatMessage) -> dict[str, Any]:
    if message["role"] == "tool":
        return {"role": "tool", "tool_call_id": message["answers"], "content": message["content"]}
    converted: dict[str, Any] = {"role": message["role"], "content": message["content"]}
    if calls := message.get("calls"):
        converted["content"] = message["content"] or None
        converted["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.as_object, ensure_ascii=False)},
            }
            for call in calls
        ]
    return converted


def _tools(request: Request) -> dict[str, Any]:
    """Return the arguments that make the answer call one of several tools, or the only one."""
    functions = [{"name": tool.name, "description": tool.help, "parameters": tool.parameters} for tool in request.tools]
    only_function = {"type": "function", "function": {"name": request.tools[0].name}}
    return {
        "tools": [{"type": "function", "function": function} for function in functions],
        "tool_choice": only_function if len(functions) == 1 else "required",
    }


def _schema_arguments(request: Request, enforcement: str) -> dict[str, Any]:
    """Return the arguments that enforce the request's schema."""
    match enforcement:
        case "json_schema":
            named_schema = {"name": "move", "strict": True, "schema": request.schema}
            return {"response_format": {"type": "json_schema", "json_schema": named_schema}}
        case "json_object":
            return {"response_format": {"type": "json_object"}}
        case "tool":
            function = {"name": "move", "description": "Make your move.", "parameters": request.schema, "strict": True}
            return {
                "tools": [{"type": "function", "function": function}],
                "tool_choice": {"type": "function", "function": {"name": "move"}},
            }
    return {}


def _cached_tokens(usage: Any) -> int | None:
    return getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", None)


def _completion(response: Response, enforcement: str, *, tools: bool) -> Completion:
    answer = json.loads(response.text, object_hook=lambda fields: SimpleNamespace(**fields))
    try:
        choice, usage = answer.choices[0], getattr(answer, "usage", None)
        refusal = getattr(choice.message, "refusal", None)
        tool_calls = getattr(choice.message, "tool_calls", None) or ()
        calls = [
            ToolCall(getattr(call, "id", None) or f"call_{index}", call.function.name, call.function.arguments or "{}")
            for index, call in enumerate(tool_calls if tools else ())
        ]
        arguments = "" if tools else "".join(call.function.arguments for call in tool_calls[:1])
        text = arguments or getattr(choice.message, "content", None) or refusal or ""
        if not all(isinstance(value, str) for call in calls for value in (call.id, call.name, call.arguments)):
            raise Unreadable(UNREADABLE)
        return Completion(
            text=_text(text),
            model=answer.model,
            input_tokens=usage.prompt_tokens if usage else None,
            output_tokens=usage.completion_tokens if usage else None,
            request_id=response.headers.get("x-request-id") or answer.id,
            stop=choice.finish_reason,
            refused=bool(refusal) or choice.finish_reason == "content_filter",
            structured=enforcement,
            calls=tuple(calls),
            cached_tokens=_cached_tokens(usage),
        )
    except (AttributeError, IndexError, TypeError, KeyError):
        raise Unreadable(UNREADABLE) from None


def _text(text: object) -> str:
    if not isinstance(text, str):
        raise Unreadable(UNREADABLE)
    return text


async def _read_stream(stream: openai.AsyncStream[Any], draft: Draft, enforcement: str, *, tools: bool) -> Completion:
    """Read a stream to its end; one that ends without a finish reason was cut off."""
    model = usage = stop = completion_id = None
    refused = False
    calls: dict[int, list[str]] = {}
    async for chunk in stream:
        try:
            model, completion_id = model or chunk.model, completion_id or chunk.id
            usage = getattr(chunk, "usage", None) or usage
            for choice in (chunk.choices or ())[:1]:
                delta = choice.delta
                refusal = getattr(delta, "refusal", None)
                tool_calls = getattr(delta, "tool_calls", None) or ()
                pieces = [delta.content or refusal]
                if tools:
                    _merge_tool_calls(calls, tool_calls)
                else:
                    pieces = [call.function.arguments for call in tool_calls if call.index == 0] + pieces
                refused = refused or bool(refusal)
                stop = choice.finish_reason or stop
                pieces = [_text(piece) for piece in pieces if piece]
        except (AttributeError, TypeError):
            raise Unreadable(UNREADABLE) from None
        if chunk.choices:
            for piece in pieces:
                draft.add(piece)
    if model is None:
        raise Unreadable(UNREADABLE)
    if stop is None:
        raise Unavailable(CUT_OFF)
    return Completion(
        text=draft.text,
        model=model,
        input_tokens=getattr(usage, "prompt_tokens", None),
        output_tokens=getattr(usage, "completion_tokens", None),
        request_id=stream.response.headers.get("x-request-id") or completion_id,
        stop=stop,
        refused=refused or stop == "content_filter",
        first_text=draft.first,
        structured=enforcement,
        calls=tuple(
            ToolCall(call_id or f"call_{index}", name, arguments or "{}")
            for index, (call_id, name, arguments) in sorted(calls.items())
        ),
        cached_tokens=_cached_tokens(usage),
    )


def _merge_tool_calls(calls: dict[int, list[str]], deltas: Any) -> None:
    """Add the pieces of tool calls to those received so far: id, name, arguments."""
    for delta in deltas:
        fields = calls.setdefault(delta.index, ["", "", ""])
        fields[0] = fields[0] or _text(delta.id or "")
        fields[1] += _text(delta.function.name or "")
        fields[2] += _text(delta.function.arguments or "")
