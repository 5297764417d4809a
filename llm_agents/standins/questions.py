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
        text: the last message with the question in it, without players' words.
        complaints: corrections of the answers given so far, oldest first.
    """

    schemas: tuple[Schema, ...]
    enforced: bool
    rules: str
    text: str
    complaints: tuple[str, ...]


def question_in(request: Mapping[str, Json]) -> Question:
    """Return the question in a call's body, of either protocol."""
    messages = [_role_and_text(message) for message in request["messages"]]
    system = [text_of(request.get("system")), *(text for role, text in messages if role in ("system", "developer"))]
    user_texts = [text for role, text in messages if role == "user"]
    with_keys = [index for index, text in enumerate(user_texts) if _KEYS in text or _NO_KEYS in text]
    index = with_keys[-1] if with_keys else len(user_texts) - 1
    question_text = user_texts[index] if user_texts else ""
    enforced = _enforced_schema(request)
    schemas = (enforced,) if enforced is not None else tuple(_described_forms(question_text))
    return Question(schemas, enforced is not None, " ".join(system), question_text, tuple(user_texts[index + 1 :]))


def _role_and_text(message: Mapping[str, Json]) -> tuple[str, str]:
    return str(message.get("role")), _PLAYERS_WORDS.sub("", text_of(message.get("content")))


def _enforced_schema(request: Mapping[str, Json]) -> Schema | None:
    """Return the schema that comes with the request."""
    response_format = request.get("response_format") or {}
    schema: Schema | None = (response_format.get("json_schema") or {}).get("schema")
    for tool in request.get("tools") or ():
        schema = schema or tool.get("input_schema") or (tool.get("function") or {}).get("parameters")
    return schema


def _described_forms(text: str) -> list[Schema]:
    """Return the forms that a question spells out; only those that end the turn, if any does."""
    text_before, *form_texts = re.split(f"{re.escape(_KEYS)}|{re.escape(_NO_KEYS)}", text)
    forms, ending = [_object(form_text) for form_text in form_texts], list[Schema]()
    for form, preceding in zip(forms, [text_before, *form_texts], strict=False):
        if _KEEPS_TURN_OPEN not in preceding[preceding.rfind("\n\n") + 1 :]:
            ending.append(form)
    return ending or forms


def worded_object(text: str) -> Schema:
    """Return the object whose keys a text spells out."""
    return _object(text.partition(_KEYS)[2])


def _object(text: str) -> Schema:
    properties: dict[str, Schema] = {}
    required = []
    for line in text.split("\n")[1:]:
        match = re.match(r'- "([^"]+)" \(', line)
        if match is None:
            break
        schema, position = _options(line, match.end())
        properties[match[1]] = schema
        if not line.startswith("; may be left out", position):
            required.append(match[1])
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


def _options(text: str, position: int) -> tuple[Schema, int]:
    """Return the schema at `position`, as `prompting.type_words` words it, and where it ends."""
    option, position = _option(text, position)
    options = [option]
    while text.startswith(" or ", position):
        option, position = _option(text, position + 4)
        options.append(option)
    return (options[0] if len(options) == 1 else {"anyOf": options}), position


def _option(text: str, position: int) -> tuple[Schema, int]:
    if text.startswith("list, each entry: ", position):
        items, position = _options(text, position + len("list, each entry: "))
        return _bounded({"type": "array", "items": items}, text, position)
    if text.startswith("object, each value: ", position):
        value, position = _options(text, position + len("object, each value: "))
        return {"type": "object", "additionalProperties": value}, position
    for quantifier in ("each", "any"):
        if text.startswith(prefix := f"object with {quantifier} of ", position):
            names, position = _values(text, position + len(prefix))
            value, position = _options(text, position + len(", each value: "))
            least = len(names["enum"]) if quantifier == "each" else 0
            return {
                "type": "object",
                "propertyNames": names,
                "minProperties": least,
                "additionalProperties": value,
            }, position
    if text.startswith("object {", position):
        return _fixed_object(text, position + len("object {"))
    if text.startswith("object", position):
        return {"type": "object", "additionalProperties": {}}, position + len("object")
    if text.startswith("one of ", position):
        return _values(text, position + len("one of "))
    for name, schema in _TYPES.items():
        if text.startswith(name, position):
            return _bounded(dict(schema), text, position + len(name))
    value, position = _value(text, position)
    return {"const": value}, position


def _bounded(schema: Schema, text: str, position: int) -> tuple[Schema, int]:
    while match := _BOUND.match(text, position):
        unit = match[3] or ""
        if (unit == " entries") != (schema.get("type") == "array"):
            break
        limit = float(match[2])
        schema[_KEYWORDS[match[1], unit]] = int(limit) if limit.is_integer() else limit
        position = match.end()
    if match := _PATTERN.match(text, position):
        schema["pattern"], position = match[1], match.end()
    return schema, position


def _fixed_object(text: str, position: int) -> tuple[Schema, int]:
    properties: dict[str, Schema] = {}
    while not text.startswith("}", position):
        name, position = _value(text, position)
        properties[str(name)], position = _options(text, position + 2)
        position += 2 if text.startswith(", ", position) else 0
        if position >= len(text):
            break
    return {"type": "object", "properties": properties, "required": list(properties)}, position + 1


def _values(text: str, position: int) -> tuple[Schema, int]:
    value, position = _value(text, position)
    values = [value]
    while text.startswith(", ", position):
        try:
            value, end = json.JSONDecoder().raw_decode(text, position + 2)
        except ValueError:
            break
        if text.startswith(": ", end):  # the next key of the object that contains these values
            break
        values.append(value)
        position = end
    return {"enum": values}, position


def _value(text: str, position: int) -> tuple[Json, int]:
    try:
        return json.JSONDecoder().raw_decode(text, position)
    except ValueError:
        return None, len(text)


def amounts(text: str) -> Sequence[float]:
    """Return the amounts of money in a text, in order."""
    return [float(amount.replace(",", "")) for amount in re.findall(r"\$([0-9][0-9,]*(?:\.[0-9]+)?)", text)]
