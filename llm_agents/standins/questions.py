"""Read what a request asks for: schemas its answer may match, from the request itself or from the question's text.

The text is that of `llm_agents.prompting.task`, which names each key and its type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llm_agents.standins.protocols import Json, text_of

Schema = dict[str, Any]

_KEYS = "JSON object with these keys and no others:"
_NO_KEYS = "JSON object without any key: {}"
_KEEPS_TURN_OPEN = "This does not end your turn."
_PLAYERS_WORDS = re.compile(r"<message from=[^<>]*>[^<>]*</message>")


@dataclass(frozen=True)
class Question:
    """The question in a request.

    Attributes:
        schemas: objects that are valid answers; empty if no object is asked for.
        enforced: whether the service enforces the schema.
        rules: the instructions, without players' words.
        words: the last message with the question in it, without players' words.
        complaints: corrections of the answers given so far, oldest first.
    """

    schemas: tuple[Schema, ...]
    enforced: bool
    rules: str
    words: str
    complaints: tuple[str, ...]


def question_in(request: Mapping[str, Json]) -> Question:
    """Return the question in a call's body, of either protocol."""
    messages = [_role_and_text(message) for message in request["messages"]]
    system = [text_of(request.get("system")), *(text for role, text in messages if role in ("system", "developer"))]
    asked = [text for role, text in messages if role == "user"]
    at = next((at for at in reversed(range(len(asked))) if _KEYS in asked[at] or _NO_KEYS in asked[at]), len(asked) - 1)
    words = asked[at] if asked else ""
    enforced = _enforced_schema(request)
    schemas = (enforced,) if enforced is not None else tuple(_described_forms(words))
    return Question(schemas, enforced is not None, " ".join(system), words, tuple(asked[at + 1 :]))


def _role_and_text(message: Mapping[str, Json]) -> tuple[str, str]:
    return str(message.get("role")), _PLAYERS_WORDS.sub("", text_of(message.get("content")))


def _enforced_schema(request: Mapping[str, Json]) -> Schema | None:
    """Return the schema that comes with the request."""
    response_format = request.get("response_format") or {}
    found: Schema | None = (response_format.get("json_schema") or {}).get("schema")
    for tool in request.get("tools") or ():
        found = found or tool.get("input_schema") or (tool.get("function") or {}).get("parameters")
    return found


def _described_forms(words: str) -> list[Schema]:
    """Return the forms that a question spells out; only those that end the turn, if any does."""
    before, *parts = re.split(f"{re.escape(_KEYS)}|{re.escape(_NO_KEYS)}", words)
    forms, ending = [_object(part) for part in parts], list[Schema]()
    for form, preceding in zip(forms, [before, *parts], strict=False):
        if _KEEPS_TURN_OPEN not in preceding[preceding.rfind("\n\n") + 1 :]:
            ending.append(form)
    return ending or forms


def worded_object(words: str) -> Schema:
    """Return the object whose keys a text spells out."""
    return _object(words.partition(_KEYS)[2])


def _object(words: str) -> Schema:
    properties: dict[str, Schema] = {}
    required = []
    for line in words.split("\n")[1:]:
        found = re.match(r'- "([^"]+)" \(', line)
        if found is None:
            break
        schema, at = _options(line, found.end())
        properties[found[1]] = schema
        if not line.startswith("; may be left out", at):
            required.append(found[1])
    return {"type": "object", "properties": properties, "required": required}


# ---- a field's text, read back into a schema ----------------------------------------------------

_TYPES: Mapping[str, Schema] = {
    "whole number": {"type": "integer"},
    "number": {"type": "number"},
    "text": {"type": "string"},
    "true or false": {"type": "boolean"},
    "null": {"type": "null"},
    "any value": {},
}
_BOUND = re.compile(
    r", (at least|more than|at most|less than|a multiple of) (-?[0-9][0-9.e+-]*)( characters| entries)?(?=[,);} ]|$)"
)
_PATTERN = re.compile(r", of the form (.+?)(?= or null\b|; may be left out\)|\)(?::|$))")
_KEYWORDS = {
    ("at least", ""): "minimum",
    ("more than", ""): "exclusiveMinimum",
    ("at most", ""): "maximum",
    ("less than", ""): "exclusiveMaximum",
    ("a multiple of", ""): "multipleOf",
    ("at least", " characters"): "minLength",
    ("at most", " characters"): "maxLength",
    ("at least", " entries"): "minItems",
    ("at most", " entries"): "maxItems",
}


def _options(words: str, at: int) -> tuple[Schema, int]:
    """Return the schema at `at`, as `prompting.type_words` words it, and where it ends."""
    found, at = _option(words, at)
    several = [found]
    while words.startswith(" or ", at):
        found, at = _option(words, at + 4)
        several.append(found)
    return (several[0] if len(several) == 1 else {"anyOf": several}), at


def _option(words: str, at: int) -> tuple[Schema, int]:
    if words.startswith("list, each entry: ", at):
        items, at = _options(words, at + len("list, each entry: "))
        return _bounded({"type": "array", "items": items}, words, at)
    if words.startswith("object, each value: ", at):
        value, at = _options(words, at + len("object, each value: "))
        return {"type": "object", "additionalProperties": value}, at
    for which in ("each", "any"):
        if words.startswith(prefix := f"object with {which} of ", at):
            names, at = _values(words, at + len(prefix))
            value, at = _options(words, at + len(", each value: "))
            least = len(names["enum"]) if which == "each" else 0
            return {"type": "object", "propertyNames": names, "minProperties": least, "additionalProperties": value}, at
    if words.startswith("object {", at):
        return _fixed_object(words, at + len("object {"))
    if words.startswith("object", at):
        return {"type": "object", "additionalProperties": {}}, at + len("object")
    if words.startswith("one of ", at):
        return _values(words, at + len("one of "))
    for name, schema in _TYPES.items():
        if words.startswith(name, at):
            return _bounded(dict(schema), words, at + len(name))
    value, at = _value(words, at)
    return {"const": value}, at


def _bounded(schema: Schema, words: str, at: int) -> tuple[Schema, int]:
    while found := _BOUND.match(words, at):
        unit = found[3] or ""
        if (unit == " entries") != (schema.get("type") == "array"):
            break
        limit = float(found[2])
        schema[_KEYWORDS[found[1], unit]] = int(limit) if limit.is_integer() else limit
        at = found.end()
    if found := _PATTERN.match(words, at):
        schema["pattern"], at = found[1], found.end()
    return schema, at


def _fixed_object(words: str, at: int) -> tuple[Schema, int]:
    properties: dict[str, Schema] = {}
    while not words.startswith("}", at):
        name, at = _value(words, at)
        properties[str(name)], at = _options(words, at + 2)
        at += 2 if words.startswith(", ", at) else 0
        if at >= len(words):
            break
    return {"type": "object", "properties": properties, "required": list(properties)}, at + 1


def _values(words: str, at: int) -> tuple[Schema, int]:
    value, at = _value(words, at)
    values = [value]
    while words.startswith(", ", at):
        try:
            value, end = json.JSONDecoder().raw_decode(words, at + 2)
        except ValueError:
            break
        if words.startswith(": ", end):  # the next key of the object that contains these values
            break
        values.append(value)
        at = end
    return {"enum": values}, at


def _value(words: str, at: int) -> tuple[Json, int]:
    try:
        return json.JSONDecoder().raw_decode(words, at)
    except ValueError:
        return None, len(words)


def amounts(words: str) -> Sequence[float]:
    """Return the amounts of money in a text, in order."""
    return [float(found.replace(",", "")) for found in re.findall(r"\$([0-9][0-9,]*(?:\.[0-9]+)?)", words)]
