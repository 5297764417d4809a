"""From a model's text to a move: find the JSON object, and read numbers as people write them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from games.interface import Form, Json
from games.play import form_for
from llm_agents.errors import BadAnswer

_decoder = json.JSONDecoder()
_NUMBER = re.compile(r"([-+]?)[$€£]?((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)")


def read_move(text: str, forms: Sequence[Form]) -> dict[str, Json]:
    """The move in a model's answer: its last complete JSON object, fitted to the form it fills in.

    Raises:
        BadAnswer: there is no JSON object in it.
    """
    move = last_object(text)
    return fit(move, form_for(forms, move).model.model_json_schema())


def last_object(text: str) -> dict[str, Json]:
    """The last complete JSON object of `text` that is not inside another one.

    Raises:
        BadAnswer: there is none.
    """
    found: dict[str, Json] | None = None
    at = text.find("{")
    while at >= 0:
        try:
            found, end = _decoder.raw_decode(text, at)
        except ValueError:
            end = at + 1
        except RecursionError:
            break
        at = text.find("{", end)
    if found is None:
        raise BadAnswer("There is no complete JSON object in your answer.")
    return found


def fit(move: Mapping[str, Json], schema: Mapping[str, Any]) -> dict[str, Json]:
    """`move` with text turned into the number, object or list that the schema wants in its place.

    Where the schema allows text, text stays as it is.
    """
    fitted: dict[str, Json] = _fit(dict(move), schema, schema.get("$defs", {}))
    return fitted


def _fit(value: Json, schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Json:
    options = _options(schema, definitions)
    if isinstance(value, str) and not any(_allows_text(option) for option in options):
        value = _untexted(value, {option.get("type") for option in options})
    if isinstance(value, dict):
        for option in options:
            if option.get("type") == "object":
                known, others = option.get("properties", {}), option.get("additionalProperties")
                rest = others if isinstance(others, Mapping) else {}
                return {key: _fit(part, known.get(key, rest), definitions) for key, part in value.items()}
    if isinstance(value, list):
        for option in options:
            if option.get("type") == "array":
                return [_fit(part, option.get("items", {}), definitions) for part in value]
    return value


def _options(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The plain schemas of which a value may fulfil any."""
    if "$ref" in schema:
        return _options(definitions[schema["$ref"].rsplit("/", 1)[-1]], definitions)
    several = schema.get("anyOf") or schema.get("oneOf")
    if several:
        return [option for part in several for option in _options(part, definitions)]
    return [schema]


def _allows_text(option: Mapping[str, Any]) -> bool:
    values = option.get("enum", [option["const"]] if "const" in option else [])
    return option.get("type", "string") == "string" or any(isinstance(value, str) for value in values)


def _untexted(text: str, wanted: set[Any]) -> Json:
    if wanted & {"number", "integer"} and (number := _NUMBER.fullmatch(text.strip())):
        digits = number[1].replace("+", "") + number[2].replace(",", "")
        return float(digits) if "." in digits else _whole(digits, text)
    if wanted & {"object", "array"}:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return text
        if isinstance(value, dict | list):
            return value
    return text


def _whole(digits: str, text: str) -> Json:
    try:
        return int(digits)
    except ValueError:
        return text
