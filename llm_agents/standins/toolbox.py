"""How the stand-in plays a turn with tools: what a request offers, what was called so far, and what to call next.

The last tool of a request submits; a tool whose description says that it does not end the turn takes notes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llm_agents.standins.protocols import Json, object_in, text_of
from llm_agents.standins.questions import Schema, worded_object

_KEEPS_TURN_OPEN = "This does not end your turn."
_DESCRIBED_TOOL = re.compile(r'^Tool "([^"]+)": (.*)$', re.MULTILINE)
_RESULT = "Result of "


@dataclass(frozen=True)
class DescribedTool:
    """A tool as a request describes it."""

    name: str
    help: str
    schema: Schema

    @property
    def takes_notes(self) -> bool:
        return _KEEPS_TURN_OPEN in self.help


@dataclass(frozen=True)
class Toolbox:
    """The tools that a request offers.

    Attributes:
        tools: the last one submits.
        called_names: names of the tools called so far in this conversation, in order.
        results: their results.
        in_text: tools are called in plain JSON; "call" if a schema wraps the call in a key of this name.
    """

    tools: tuple[DescribedTool, ...]
    called_names: tuple[str, ...]
    results: tuple[str, ...]
    in_text: str = ""

    @property
    def refusals(self) -> tuple[str, ...]:
        """Return the corrections of calls that failed."""
        return tuple(result for result in self.results if result.startswith("Refused."))

    def next_calls(self) -> list[DescribedTool]:
        """Return what a sensible player calls now: it looks at everything once, takes a note, and submits."""
        *other_tools, submission = self.tools
        lookups = [tool for tool in other_tools if not tool.takes_notes and tool.name not in self.called_names]
        notes = [tool for tool in other_tools if tool.takes_notes and tool.name not in self.called_names]
        if self.in_text:
            return [*lookups, *notes, submission][:1]
        return lookups or [*notes[:1], submission]


def toolbox_in(request: Mapping[str, Json]) -> Toolbox | None:
    """Return the tools that a call in either protocol offers, or describes in text; None if it does neither."""
    offered = [_described_tool(tool) for tool in request.get("tools") or ()]
    if offered and [tool.name for tool in offered] != ["move"]:
        called_names, results = _calls_and_results(request["messages"])
        return Toolbox(tuple(offered), called_names, results)
    return _described_toolbox(request)


def _described_tool(tool: Mapping[str, Json]) -> DescribedTool:
    function = tool.get("function", tool)
    schema = function.get("parameters") or function.get("input_schema") or {}
    return DescribedTool(str(function.get("name")), str(function.get("description", "")), schema)


def _calls_and_results(messages: Sequence[Mapping[str, Json]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    names, results = [], []
    for message in messages:
        names += [call["function"]["name"] for call in message.get("tool_calls") or ()]
        if message.get("role") == "tool":
            results.append(text_of(message.get("content")))
        for block in message["content"] if isinstance(message.get("content"), list) else ():
            if block.get("type") == "tool_use":
                names.append(block["name"])
            elif block.get("type") == "tool_result":
                results.append(text_of(block.get("content")))
    return tuple(names), tuple(results)


def _described_toolbox(request: Mapping[str, Json]) -> Toolbox | None:
    messages = [(str(message.get("role")), text_of(message.get("content"))) for message in request["messages"]]
    described = next((text for role, text in messages if role == "user" and _DESCRIBED_TOOL.search(text)), None)
    if described is None:
        return None
    schema = ((request.get("response_format") or {}).get("json_schema") or {}).get("schema")
    for tool in request.get("tools") or ():
        schema = _described_tool(tool).schema
    tools = _tools_in_schema(schema) if schema else _tools_in_description(described)
    help_by_name = {match[1]: match[2] for match in _DESCRIBED_TOOL.finditer(described)}
    described_tools = tuple(DescribedTool(name, help_by_name.get(name, ""), schema) for name, schema in tools)
    called_names = tuple(name for role, text in messages if role == "assistant" and (name := _called_tool(text)))
    results = tuple(text.partition(": ")[2] for role, text in messages if role == "user" and text.startswith(_RESULT))
    return Toolbox(described_tools, called_names, results, "call" if schema else "words")


def _tools_in_schema(schema: Mapping[str, Any]) -> list[tuple[str, Schema]]:
    options = schema["properties"]["call"]["anyOf"]
    return [(option["properties"]["tool"]["enum"][0], option["properties"]["arguments"]) for option in options]


def _tools_in_description(described: str) -> list[tuple[str, Schema]]:
    _introduction, *sections = re.split(r'(?:^|\n)Tool "', described)
    return [(section.partition('"')[0], worded_object(section)) for section in sections]


def _called_tool(text: str) -> str | None:
    answer = object_in(text) or {}
    call = answer.get("call", answer)
    return call.get("tool") if isinstance(call, Mapping) else None


def in_plain_json(toolbox: Toolbox, name: str, arguments: Json) -> str:
    """Return a call in plain JSON, for when no tools are offered."""
    call = {"tool": name, "arguments": arguments}
    return json.dumps({"call": call} if toolbox.in_text == "call" else call, ensure_ascii=False)
