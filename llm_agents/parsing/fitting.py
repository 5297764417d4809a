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
    definitions, known = schema.get("$defs", {}), schema.get("properties", {})
    required = schema.get("required", ())
    fitted: dict[str, Json] = {}
    for name, value in move.items():
        part = known.get(name, {})
        if value is None and name in known and name not in required and not _may_be_null(part, definitions):
            continue
        fitted[name] = _fit(value, part, definitions, name)
    return fitted


def _fit(value: Json, schema: Mapping[str, Any], definitions: Mapping[str, Any], where: str) -> Json:
    options = options_of(schema, definitions)
    if isinstance(value, str) and not any(_allows_text(option) for option in options):
        value = _parsed(value, {option.get("type") for option in options}, where)
    if isinstance(value, int) and abs(value) > MAX_EXACT:
        raise BadAnswer(f'The value of "{where}" is too large a number.')
    if isinstance(value, str) and _LONE_SURROGATE.search(value):
        raise BadAnswer(f'The text of "{where}" holds half of a \\u surrogate pair, which is not a character.')
    for option in options:
        if option.get("type") == "object" and "properties" not in option and isinstance(value, list):
            value = _from_entries(value, where)
        if isinstance(value, dict) and option.get("type") == "object":
            inner, others = option.get("properties", {}), option.get("additionalProperties")
            rest = others if isinstance(others, Mapping) else {}
            return {
                key: _fit(part, inner.get(key, rest), definitions, f"{where}.{quoted(key)}")
                for key, part in value.items()
            }
        if isinstance(value, list) and option.get("type") == "array":
            parts = enumerate(value)
            return [_fit(part, option.get("items", {}), definitions, f"{where}[{at}]") for at, part in parts]
    return value


def _may_be_null(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> bool:
    return any(option.get("type", "null") == "null" for option in options_of(schema, definitions))


def _allows_text(option: Mapping[str, Any]) -> bool:
    values = option.get("enum", [option["const"]] if "const" in option else [])
    return option.get("type", "string") == "string" or any(isinstance(value, str) for value in values)


def _parsed(text: str, types: set[Any], where: str) -> Json:
    if types & {"number", "integer"}:
        return _number(text, where)
    if types & {"object", "array"}:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return text
        if isinstance(value, dict | list):
            return value
    return text


def _number(text: str, where: str) -> float | int:
    """Return the number that `text` writes; thousands separators and a leading currency sign are allowed."""
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        hint = ": give the number itself" if text.strip().endswith("%") else ", such as 6000 or 6000.50"
        raise BadAnswer(f'The value of "{where}" must be a number{hint}, not the text {quoted(text)}.')
    digits = found[1].replace("+", "") + _SEPARATORS.sub("", found[2])
    return float(digits) if "." in digits or len(digits) > _LONGEST else int(digits)


def _from_entries(entries: list[Json], where: str) -> Json:
    """Return the object given as the list of entries that a strict schema asks for; otherwise the list itself."""
    if not all(isinstance(entry, dict) and entry.keys() == {ENTRY_NAME, ENTRY_VALUE} for entry in entries):
        return entries
    read = {entry[ENTRY_NAME]: entry[ENTRY_VALUE] for entry in entries if isinstance(entry[ENTRY_NAME], str)}
    if len(read) < len(entries):
        raise BadAnswer(f'Each "{ENTRY_NAME}" in "{where}" must be a text of its own.')
    return read
