"""Anthropic's Messages API.

Source: Anthropic's API reference ("Messages", "Streaming Messages", "Errors") and the types of its SDK.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

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

_KINDS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class Anthropic(Protocol):
    """POST /v1/messages, with and without streaming; GET /v1/models."""

    path = "/v1/messages"
    prefix = ""
    variables = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")
    id_header = "request-id"

    def key(self, headers: Mapping[str, str]) -> str | None:
        return headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ") or None

    def refusal(self, request: Mapping[str, Json], headers: Mapping[str, str], features: frozenset[str]) -> str | None:
        if "anthropic-version" not in headers:
            return "anthropic-version: header is required"
        for name in ("model", "max_tokens", "messages"):
            if name not in request:
                return f"{name}: Field required"
        if "tools" in request and "tools" not in features:
            return "tools: Extra inputs are not permitted"
        if "format" in (request.get("output_config") or {}) and "json_schema" not in features:
            return "output_config.format: Extra inputs are not permitted"
        messages = request["messages"]
        return _messages_problem(messages) or _tool_problem(request) or _results_problem(messages)

    def body(self, request: Mapping[str, Json], reply: Reply) -> Json:
        blocks = _blocks(request, reply)
        input_tokens, output_tokens = reply.tokens
        return {
            **_frame(request),
            "content": blocks,
            "stop_reason": _stop(blocks, reply),
            "usage": _usage(input_tokens, output_tokens),
        }

    def stream(self, request: Mapping[str, Json], reply: Reply) -> Iterator[StreamEvent]:
        def event(kind: str, piece: str = "", **data: Json) -> StreamEvent:
            return StreamEvent({"type": kind, **data}, kind, piece)

        blocks = _blocks(request, reply)
        texts = [*([reply.text] if reply.text and reply.calls else []), *(text for _n, text in reply.calls)]
        input_tokens, output_tokens = reply.tokens
        yield event("message_start", message={**_frame(request), "content": [], "usage": _usage(input_tokens, 1)})
        for index, (block, text) in enumerate(zip(blocks, texts or [reply.text], strict=False)):
            is_tool_use = block["type"] == "tool_use"
            empty: dict[str, Json] = {"input": {}} if is_tool_use else {"text": ""}
            yield event("content_block_start", index=index, content_block={**block, **empty})
            yield event("ping")
            kind, key = ("input_json_delta", "partial_json") if is_tool_use else ("text_delta", "text")
            for piece in ["", *pieces(text)] if is_tool_use else pieces(text):
                yield event("content_block_delta", piece, index=index, delta={"type": kind, key: piece})
            yield event("content_block_stop", index=index)
        stop = {"stop_reason": _stop(blocks, reply), "stop_sequence": None}
        yield event("message_delta", delta=stop, usage={"output_tokens": output_tokens})
        yield event("message_stop")

    def error(self, failure: Failure, request_id: str) -> Json:
        kind = _KINDS.get(failure.status, "api_error" if failure.status >= 500 else "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": failure.message}, "request_id": request_id}

    def failure_event(self, failure: Failure, request_id: str) -> StreamEvent:
        return StreamEvent(self.error(failure, request_id), "error")

    def wrong_key_message(self, key: str) -> str:
        return "invalid x-api-key"

    def wrong_model_message(self, model: str) -> str:
        return f"model: {model}"

    def models(self, names: Sequence[str]) -> Json:
        data = [
            {
                "type": "model",
                "id": name,
                "display_name": name,
                "created_at": "2025-01-01T00:00:00Z",
                "lifecycle": "active",
            }
            for name in names
        ]
        ends = (names[0], names[-1]) if names else (None, None)
        return {"data": data, "has_more": False, "first_id": ends[0], "last_id": ends[1]}


def _frame(request: Mapping[str, Json]) -> dict[str, Json]:
    return {
        "id": new_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": answered_by(request),
        "stop_reason": None,
        "stop_sequence": None,
    }


def _usage(input_tokens: int, output_tokens: int) -> Json:
    return {
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "service_tier": "standard",
    }


def _blocks(request: Mapping[str, Json], reply: Reply) -> list[dict[str, Json]]:
    """Return the blocks of an answer: its text and tool uses; arguments that are not an object get a single key."""
    if not reply.calls:
        block = _block(request, reply)
        return [block] if block else []
    text_blocks = [{"type": "text", "text": reply.text}] if reply.text else []
    return [*text_blocks, *(_tool_use(name, arguments) for name, arguments in reply.calls)]


def _tool_use(name: str, arguments: str) -> dict[str, Json]:
    filled = object_in(arguments)
    return {
        "type": "tool_use",
        "id": new_id("toolu_"),
        "name": name,
        "input": {"arguments": arguments} if filled is None else filled,
    }


def _block(request: Mapping[str, Json], reply: Reply) -> dict[str, Json] | None:
    """Return the answer as the input of a forced tool, if it is a JSON object; otherwise as text, if there is any."""
    tool = None if reply.refused else _forced_tool(request)
    if tool and (filled := reply.as_object) is not None:
        return {"type": "tool_use", "id": new_id("toolu_"), "name": tool, "input": filled}
    return {"type": "text", "text": reply.text} if reply.text else None


def _stop(blocks: Sequence[Mapping[str, Json]], reply: Reply) -> str:
    if reply.refused:
        return "refusal"
    return "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"


def _forced_tool(request: Mapping[str, Json]) -> str | None:
    """Return the tool that must be used, if any."""
    choice, tools = request.get("tool_choice") or {}, request.get("tools") or []
    name: str | None = choice.get("name") if choice.get("type") == "tool" else None
    return tools[0]["name"] if choice.get("type") == "any" and tools else name


# ---- refusals of the API -----------------------------------------------------------------------


def _messages_problem(messages: Sequence[Mapping[str, Json]]) -> str | None:
    if not messages:
        return "messages: at least one message is required"
    for index, message in enumerate(messages):
        if message.get("role") not in ("user", "assistant"):
            return (
                f'messages: Unexpected role "{message.get("role")}". The Messages API accepts a top-level `system` '
                "parameter, not a message with this role."
            )
        if not message.get("content") and not (message["role"] == "assistant" and index == len(messages) - 1):
            rule = "all messages must have non-empty content except for the optional final assistant message"
            return f"messages.{index}: {rule}"
    last = messages[-1]
    if last["role"] == "assistant" and text_of(last["content"])[-1:].isspace():
        return "messages: final assistant content cannot end with trailing whitespace"
    return None


def _results_problem(messages: Sequence[Mapping[str, Json]]) -> str | None:
    """Check that the next message begins by answering every tool use."""
    unanswered: list[str] = []
    for index, message in enumerate(messages):
        blocks = message["content"] if isinstance(message["content"], list) else []
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if unmet := [name for name in unanswered if name not in results]:
            return f"messages.{index}: `tool_use` ids were found without `tool_result` blocks after: {unmet[0]}"
        if unknown := [name for name in results if name not in unanswered]:
            return f"messages.{index}: unexpected `tool_use_id` found in `tool_result` blocks: {unknown[0]}"
        kinds = [block["type"] for block in blocks]
        if results and kinds[: len(results)] != ["tool_result"] * len(results):
            return f"messages.{index}: `tool_result` blocks must come first"
        unanswered = [block["id"] for block in blocks if block["type"] == "tool_use"]
    return "messages: `tool_use` ids were found without `tool_result` blocks" if unanswered else None


def _tool_problem(request: Mapping[str, Json]) -> str | None:
    tools = request.get("tools") or []
    for index, tool in enumerate(tools):
        if tool.get("input_schema", {}).get("type") != "object":
            return f"tools.{index}.custom.input_schema.type: Input should be 'object'"
    forced = _forced_tool(request)
    if forced and forced not in {tool["name"] for tool in tools}:
        return f"Tool '{forced}' not found in provided tools"
    return None
