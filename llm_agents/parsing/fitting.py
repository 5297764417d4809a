"""Fit values to a form: numbers are read from text where only a number is allowed, and nothing else changes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from games.interface import Json, Move
from games.play import MAX_EXACT
from games.words import quoted
from llm_agents.errors import BadAnswer
from llm_agents.parsing.schema import ENTRY_NAME, ENTRY_VALUE, options_of
from llm_agents.prompting import json_schema

_NUMBER = re.compile(
    r"([-+]?)[$€£]?([0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?"
    r"|[0-9]{1,3}(?:[ \u00a0\u2009\u202f][0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
)
_SEPARATORS = re.compile("[, \u00a0\u2009\u202f]")
_LONGEST = 300
"""Digits of the longest integer that is read as one."""
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def fit(move: Mapping[str, Json], model: type[Move]) -> dict[str, Json]:
    """Return `move` with text converted to the number, object or list that the model wants there.

    Where text is allowed, text stays as it is. A null for an optional field that cannot be null removes
    the field: strict schemas have no other way to leave it out.

    Raises:
        BadAnswer: a number is missing, or the text cannot be stored; names the field.
    """
    schema = json_schema(model)
    definitions, properties = schema.get("$defs", {}), schema.get("properties", {})
    required = schema.get("required", ())
    fitted: dict[str, Json] = {}
    for name, value in move.items():
        field_schema = properties.get(name, {})
        if (
            value is None
            and name in properties
            and name not in required
            and not _may_be_null(field_schema, definitions)
        ):
            continue
        fitted[name] = _fit(value, field_schema, definitions, name)
    return fitted


def _fit(value: Json, schema: Mapping[str, Any], definitions: Mapping[str, Any], path: str) -> Json:
    options = options_of(schema, definitions)
    if isinstance(value, str) and not any(_allows_text(option) for option in options):
        value = _parsed(value, {option.get("type") for option in options}, path)
    if isinstance(value, int) and abs(value) > MAX_EXACT:
        raise BadAnswer(f'The value of "{path}" is too large a number.')
    if isinstance(value, str) and _LONE_SURROGATE.search(value):
        raise BadAnswer(f'The text of "{path}" holds half of a \\u surrogate pair, which is not a character.')
    for option in options:
        if option.get("type") == "object" and "properties" not in option and isinstance(value, list):
            value = _from_entries(value, path)
        if isinstance(value, dict) and option.get("type") == "object":
            properties, additional = option.get("properties", {}), option.get("additionalProperties")
            additional_schema = additional if isinstance(additional, Mapping) else {}
            return {
                key: _fit(item, properties.get(key, additional_schema), definitions, f"{path}.{quoted(key)}")
                for key, item in value.items()
            }
        if isinstance(value, list) and option.get("type") == "array":
            item_schema = option.get("items", {})
            return [_fit(item, item_schema, definitions, f"{path}[{index}]") for index, item in enumerate(value)]
    return value


def _may_be_null(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> bool:
    return any(option.get("type", "null") == "null" for option in options_of(schema, definitions))


def _allows_text(option: Mapping[str, Any]) -> bool:
    values = option.get("enum", [option["const"]] if "const" in option else [])
    return option.get("type", "string") == "string" or any(isinstance(value, str) for value in values)


def _parsed(text: str, types: set[Any], path: str) -> Json:
    if types & {"number", "integer"}:
        return _number(text, path)
    if types & {"object", "array"}:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return text
        if isinstance(value, dict | list):
            return value
    return text


def _number(text: str, path: str) -> float | int:
    """Return the number that `text` writes; thousands separators and a leading currency sign are allowed."""
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        hint = ": give the number itself" if text.strip().endswith("%") else ", such as 6000 or 6000.50"
        raise BadAnswer(f'The value of "{path}" must be a number{hint}, not the text {quoted(text)}.')
    digits = match[1].replace("+", "") + _SEPARATORS.sub("", match[2])
    return float(digits) if "." in digits or len(digits) > _LONGEST else int(digits)


def _from_entries(entries: list[Json], path: str) -> Json:
    """Return the object given as the list of entries that a strict schema asks for; otherwise the list itself."""
    if not all(isinstance(entry, dict) and entry.keys() == {ENTRY_NAME, ENTRY_VALUE} for entry in entries):
        return entries
    values_by_name = {entry[ENTRY_NAME]: entry[ENTRY_VALUE] for entry in entries if isinstance(entry[ENTRY_NAME], str)}
    if len(values_by_name) < len(entries):
        raise BadAnswer(f'Each "{ENTRY_NAME}" in "{path}" must be a text of its own.')
    return values_by_name
