"""OpenAI's Chat Completions API.

Source: OpenAI's API reference ("Chat", "Streaming", "Structured Outputs") and the types of its SDK.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from llm_agents.standins.misbehaviours import Failure
from llm_agents.standins.protocols import (
    Json,
    Protocol,
    Reply,
    StreamEvent,
    answered_by,
    new_id,
    object_in,
    pieces,
    text_of,
)

_KINDS = {401: "invalid_request_error", 403: "invalid_request_error", 429: "requests"}
_CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}


class OpenAI(Protocol):
    """POST /v1/chat/completions, with and without streaming; GET /v1/models."""

    path = "/v1/chat/completions"
    prefix = "/v1"
    variables = ("OPENAI_API_KEY", "OPENAI_BASE_URL")
    id_header = "x-request-id"

    def key(self, headers: Mapping[str, str]) -> str | None:
        scheme, _, key = headers.get("authorization", "").partition(" ")
        return key if scheme.lower() == "bearer" else None

    def refusal(self, request: Mapping[str, Json], headers: Mapping[str, str], features: frozenset[str]) -> str | None:
        if not request.get("model"):
            return "you must provide a model parameter"
        messages = request.get("messages")
        if not isinstance(messages, list) or not messages:
            return "Missing required parameter: 'messages'."
        for name in ("tools", "stream_options"):
            if name in request and name not in features:
                return f"Unrecognized request argument supplied: {name}"
        if request.get("stream_options") is not None and not request.get("stream"):
            return "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        return _format_problem(request, features) or _tool_problem(request) or _results_problem(messages)

    def body(self, request: Mapping[str, Json], reply: Reply) -> Json:
        message: dict[str, Json] = {"role": "assistant", "content": reply.text, "refusal": None, "annotations": []}
        if reply.refused:
            message |= {"content": None, "refusal": reply.text}
        elif reply.calls:
            message |= {"content": reply.text or None, "tool_calls": [_tool_call(*call) for call in reply.calls]}
        elif tool := _forced_tool(request):
            message |= {"content": None, "tool_calls": [_tool_call(tool, reply.text)]}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish_reason(request, reply)}
        return {**_frame(request, "chat.completion"), "choices": [choice], "usage": _usage(reply)}

    def stream(self, request: Mapping[str, Json], reply: Reply) -> Iterator[StreamEvent]:
        usage_wanted = (request.get("stream_options") or {}).get("include_usage", False)
        frame = _frame(request, "chat.completion.chunk") | ({"usage": None} if usage_wanted else {})

        def chunk(delta: Json, piece: str = "", finish: str | None = None) -> StreamEvent:
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
            return StreamEvent({**frame, "choices": [choice]}, piece=piece)

        if reply.calls:
            yield from self._tool_call_chunks(reply, chunk)
        else:
            tool = None if reply.refused else _forced_tool(request)
            yield from self._text_chunks(reply, tool, chunk)
        yield chunk({}, finish=_finish_reason(request, reply))
        if usage_wanted:
            yield StreamEvent({**frame, "choices": [], "usage": _usage(reply)})
        yield StreamEvent("[DONE]")

    def _tool_call_chunks(self, reply: Reply, chunk: Callable[..., StreamEvent]) -> Iterator[StreamEvent]:
        yield chunk({"role": "assistant", "content": None, "refusal": None})
        for piece in pieces(reply.text):
            yield chunk({"content": piece}, piece)
        for index, (name, arguments) in enumerate(reply.calls):
            yield chunk({"tool_calls": [{"index": index, **_tool_call(name, "")}]})
            for piece in pieces(arguments):
                yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}, piece)

    def _text_chunks(self, reply: Reply, tool: str | None, chunk: Callable[..., StreamEvent]) -> Iterator[StreamEvent]:
        first: dict[str, Json] = {"role": "assistant", "content": None if tool else "", "refusal": None}
        yield chunk(first | ({"tool_calls": [{"index": 0, **_tool_call(tool, "")}]} if tool else {}))
        for piece in pieces(reply.text):
            if tool:
                yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}, piece)
            else:
                yield chunk({"refusal" if reply.refused else "content": piece}, piece)

    def error(self, failure: Failure, request_id: str) -> Json:
        kind = _KINDS.get(failure.status, "server_error" if failure.status >= 500 else "invalid_request_error")
        code = _CODES.get(failure.status)
        return {"error": {"message": failure.message, "type": kind, "param": None, "code": code}}

    def failure_event(self, failure: Failure, request_id: str) -> StreamEvent:
        return StreamEvent(self.error(failure, request_id))

    def wrong_key_message(self, key: str) -> str:
        masked_key = f"{key[:8]}{'*' * max(0, len(key) - 12)}{key[-4:]}"
        return f"Incorrect API key provided: {masked_key}. You can find your API key in your account."

    def wrong_model_message(self, model: str) -> str:
        return f"The model `{model}` does not exist or you do not have access to it."

    def models(self, names: Sequence[str]) -> Json:
        data = [{"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "standin"} for name in names]
        return {"object": "list", "data": data}


def _frame(request: Mapping[str, Json], kind: str) -> dict[str, Json]:
    return {
        "id": new_id("chatcmpl-"),
        "object": kind,
        "created": int(time.time()),
        "model": answered_by(request),
        "service_tier": "default",
        "system_fingerprint": "fp_standin",
    }


def _usage(reply: Reply) -> Json:
    input_tokens, output_tokens = reply.tokens
    return {
        "prompt_tokens": input_tokens,
        "completion_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


def _tool_call(name: str, arguments: str) -> Json:
    return {"id": new_id("call_"), "type": "function", "function": {"name": name, "arguments": arguments}}


def _forced_tool(request: Mapping[str, Json]) -> str | None:
    """Return the function that must be called, if any."""
    choice, tools = request.get("tool_choice"), request.get("tools") or []
    if isinstance(choice, Mapping):
        name: str | None = choice.get("function", {}).get("name")
        return name
    return tools[0]["function"]["name"] if choice == "required" and len(tools) == 1 else None


def _finish_reason(request: Mapping[str, Json], reply: Reply) -> str:
    """Return "stop" after a function that was requested by name, "tool_calls" after one the model chose."""
    if reply.calls:
        return "stop" if isinstance(request.get("tool_choice"), Mapping) else "tool_calls"
    required = request.get("tool_choice") == "required" and _forced_tool(request) is not None
    return "tool_calls" if required and not reply.refused else "stop"


# ---- refusals of the API -----------------------------------------------------------------------


def _format_problem(request: Mapping[str, Json], features: frozenset[str]) -> str | None:
    response_format = request.get("response_format")
    kind = response_format.get("type") if isinstance(response_format, Mapping) else "text"
    if kind == "text":
        return None
    if kind not in features:
        return f"Invalid parameter: 'response_format' of type '{kind}' is not supported with this model."
    if kind == "json_object":
        text = " ".join(text_of(message.get("content")) for message in request["messages"])
        if "json" in text.lower():
            return None
        return "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
    schema_format = response_format.get("json_schema") if isinstance(response_format, Mapping) else None
    if not isinstance(schema_format, Mapping) or not schema_format.get("name"):
        return "Missing required parameter: 'response_format.json_schema.name'."
    problem = why_not_strict(schema_format.get("schema", {})) if schema_format.get("strict") else None
    return f"Invalid schema for response_format '{schema_format['name']}': {problem}" if problem else None


def _tool_problem(request: Mapping[str, Json]) -> str | None:
    tools = request.get("tools")
    functions = {tool["function"]["name"]: tool["function"] for tool in tools or []}
    if request.get("tool_choice") not in (None, "none") and not functions:
        return "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
    if (forced := _forced_tool(request)) and forced not in functions:
        return f"Invalid value for 'tool_choice': the function '{forced}' is not among 'tools'."
    for name, function in functions.items():
        problem = why_not_strict(function.get("parameters", {})) if function.get("strict") else None
        if problem:
            return f"Invalid schema for function '{name}': {problem}"
    return None


def _results_problem(messages: Sequence[Mapping[str, Json]]) -> str | None:
    """Check that every tool call is answered by the messages right after it, and nothing else is."""
    unanswered: list[str] = []
    for index, message in enumerate(messages):
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in unanswered:
                return "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
            unanswered.remove(message["tool_call_id"])
        elif unanswered:
            return "An assistant message with 'tool_calls' must be followed by tool messages for each of them."
        for call in message.get("tool_calls") or ():
            if object_in(call["function"]["arguments"]) is None:
                return f"Invalid 'messages[{index}].tool_calls': the arguments are not a JSON object."
            unanswered.append(call["id"])
    return "An assistant message with 'tool_calls' must be followed by tool messages." if unanswered else None


_NOT_PERMITTED = (
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "oneOf",
    "dependentRequired",
    "default",
    "minLength",
    "maxLength",
)


def why_not_strict(schema: Mapping[str, Any]) -> str | None:
    """Return why a schema cannot be enforced strictly (OpenAI, "Structured Outputs"), or None if it can."""
    if schema.get("type") != "object":
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{schema.get('type')}\"'."
    if "anyOf" in schema:
        return "In context=(), 'anyOf' is not permitted at the top level."
    return _why_not_strict(schema, ())


def _why_not_strict(schema: Mapping[str, Any], context: tuple[str, ...]) -> str | None:
    for keyword in _NOT_PERMITTED:
        if keyword in schema:
            return f"In context={context}, '{keyword}' is not permitted."
    properties = schema.get("properties", {})
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            return f"In context={context}, 'additionalProperties' is required to be supplied and to be false."
        if missing := sorted(properties.keys() - set(schema.get("required", ()))):
            return f"In context={context}, 'required' is required to include every key. Missing '{missing[0]}'."
    if schema.get("type") == "array" and "items" not in schema:
        return f"In context={context}, array schema missing items."
    subschemas = [
        *((("properties", name), subschema) for name, subschema in properties.items()),
        *((("$defs", name), subschema) for name, subschema in schema.get("$defs", {}).items()),
        *((("anyOf", str(index)), subschema) for index, subschema in enumerate(schema.get("anyOf", ()))),
        *([(("items",), schema["items"])] if "items" in schema else []),
    ]
    return next(
        (problem for path, subschema in subschemas if (problem := _why_not_strict(subschema, (*context, *path)))), None
    )
