"""OpenAI's Chat Completions API, and every endpoint that speaks it."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import httpx2
import openai

from llm_agents.endpoints import Endpoint
from llm_agents.errors import NoTools, ProviderError, Rejected, TimedOut, Unavailable, Unreadable
from llm_agents.providers.base import (
    CONNECT_SECONDS,
    MAX_BYTES,
    UNSUPPORTED,
    ChatMessage,
    Clients,
    Completion,
    Draft,
    Request,
    ToolCall,
    connection_error,
    error_for_status,
    error_text,
    refuse_tools,
    unsupported_parameter,
)
from llm_agents.scrubbing import NO_KEY
from outgoing.client import async_options

# At debug level these write prompts into the log.
for name in ("openai", "httpx2", "httpcore2"):
    logging.getLogger(name).setLevel(logging.WARNING)

UNREADABLE = "The provider's answer is not a chat completion."
CUT_OFF = "The answer was cut off."


def _client(endpoint: Endpoint) -> openai.AsyncOpenAI:
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=endpoint.concurrency)
    client = openai.AsyncOpenAI(
        api_key=endpoint.secret() or NO_KEY,
        base_url=endpoint.address,
        max_retries=0,
        http_client=openai.DefaultAsyncHttpxClient(**async_options(limits=limits, max_bytes=MAX_BYTES)),
    )
    if endpoint.base_url is not None:
        # Read from the environment and meant for OpenAI alone.
        client.organization = client.project = client.admin_api_key = None
    return client


_CLIENTS = Clients(_client)


class OpenAI:
    """Calls one endpoint through the official SDK, with the SDK's own retries switched off."""

    def __init__(self, endpoint: Endpoint):
        self._endpoint = endpoint

    async def complete(self, request: Request) -> Completion:
        """Return one chat completion, streamed if the request wants text as it comes."""
        client = _CLIENTS.get(self._endpoint)
        failure: ProviderError
        try:
            async with asyncio.timeout(request.timeout):
                return await self._complete(client, request)
        except ProviderError as error:
            failure = error
        except TimeoutError:
            failure = TimedOut(f"No answer within {request.timeout:g} seconds.")
        except openai.APIStatusError as error:
            failure = error_for_status(error.status_code, error.body, client.api_key, error.response.headers)
        except openai.APITimeoutError as error:
            failure = _timeout_error(error, request)
        except openai.APIConnectionError as error:
            failure = connection_error(error)
        except openai.APIResponseValidationError:
            failure = Unreadable(UNREADABLE)
        except openai.APIError as error:
            failure = Unavailable(f"The provider failed while answering: {error_text(error.body, client.api_key)}")
        except httpx2.HTTPError:
            failure = Unavailable(CUT_OFF)
        except (openai.OpenAIError, json.JSONDecodeError, UnicodeDecodeError):
            failure = Unreadable(UNREADABLE)
        except ValueError:
            failure = Rejected("The request cannot be encoded as JSON.")
        # Raised here and not above: the SDK's errors hold the request with its key and would be chained to this one.
        raise failure

    async def models(self) -> list[str]:
        """Return the models that the endpoint lists.

        Raises:
            ProviderError: it does not list any.
        """
        try:
            return [model.id async for model in _CLIENTS.get(self._endpoint).models.list()]
        except (openai.OpenAIError, httpx2.HTTPError, ValueError, TypeError, AttributeError):
            pass
        raise Unreadable("The endpoint does not list its models.")

    async def close(self) -> None:
        """Close the endpoint's connections of the running event loop."""
        await _CLIENTS.close(self._endpoint)

    def body(self, request: Request) -> dict[str, Any]:
        """Return the JSON object that a call sends."""
        optional_parameters = self._optional_parameters(request)
        stream_arguments: dict[str, Any] = {} if request.on_text is None else {"stream": True}
        if "stream_options" in optional_parameters:
            stream_arguments["stream_options"] = {"include_usage": True}
        constraint = (
            _tools(request) if request.tools else _schema_arguments(request, self._enforcement(optional_parameters))
        )
        messages = [_message(message) for message in request.messages]
        return {"model": request.model, "messages": messages, **stream_arguments, **constraint, **request.parameters}

    async def _complete(self, client: openai.AsyncOpenAI, request: Request) -> Completion:
        """Ask, and ask again without each parameter that the endpoint turns out not to support."""
        refuse_tools(self._endpoint, request)
        while True:
            optional_parameters = self._optional_parameters(request)
            try:
                return await self._ask(client, request, self._enforcement(optional_parameters))
            except openai.APIStatusError as error:
                parameter = unsupported_parameter(error.status_code, error.body, optional_parameters)
                if parameter is None:
                    raise
                UNSUPPORTED.add(self._endpoint, request.model, parameter)
                if parameter == "tools":
                    raise NoTools(f"Tools are not supported: {error_text(error.body, client.api_key)}") from None

    def _optional_parameters(self, request: Request) -> set[str]:
        applicable = {
            "tools": bool(request.tools),
            "structured": request.schema is not None and not request.tools and self._endpoint.structured != "none",
            "stream_options": request.on_text is not None,
        }
        return {
            name
            for name, applies in applicable.items()
            if applies and not UNSUPPORTED.contains(self._endpoint, request.model, name)
        }

    def _enforcement(self, optional_parameters: set[str]) -> str:
        return self._endpoint.structured if "structured" in optional_parameters else "none"

    async def _ask(self, client: openai.AsyncOpenAI, request: Request, enforcement: str) -> Completion:
        body = self.body(request)
        body.pop("stream", None)
        common: dict[str, Any] = {
            "model": body.pop("model"),
            "messages": [],  # They are in `extra_body`, whose parts the SDK does not check one by one: that is slow.
            "timeout": openai.Timeout(request.timeout, connect=min(CONNECT_SECONDS, request.timeout)),
            "extra_body": body,
        }
        if request.on_text is None:
            return _completion(await client.chat.completions.create(**common), enforcement, tools=bool(request.tools))
        draft = Draft(request.on_text)
        async with await client.chat.completions.create(**common, stream=True) as stream:
            return await _read_stream(stream, draft, enforcement, tools=bool(request.tools))


def _timeout_error(error: openai.APITimeoutError, request: Request) -> ProviderError:
    if isinstance(error.__cause__, httpx2.ConnectTimeout):
        return Unavailable("The provider could not be reached.")
    return TimedOut(f"No answer within {request.timeout:g} seconds.")


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


def _completion(answer: Any, enforcement: str, *, tools: bool) -> Completion:
    try:
        choice, usage = answer.choices[0], answer.usage
        refusal = getattr(choice.message, "refusal", None)
        tool_calls = getattr(choice.message, "tool_calls", None) or ()
        calls = [ToolCall(call.id or f"call_{index}", call.function.name, call.function.arguments or "{}")
                 for index, call in enumerate(tool_calls)] if tools else []  # fmt: skip
        arguments = "" if tools else "".join(call.function.arguments for call in tool_calls[:1])
        text = arguments or choice.message.content or refusal or ""
        if not all(isinstance(value, str) for call in calls for value in (call.id, call.name, call.arguments)):
            raise Unreadable(UNREADABLE)
        return Completion(
            text=_text(text),
            model=answer.model,
            input_tokens=usage.prompt_tokens if usage else None,
            output_tokens=usage.completion_tokens if usage else None,
            request_id=getattr(answer, "_request_id", None) or answer.id,
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
            ToolCall(fields[0] or f"call_{index}", fields[1], fields[2] or "{}")
            for index, fields in sorted(calls.items())
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
