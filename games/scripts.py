"""Scripts by name, and one for any game: a random legal move, generated from the forms' schemas.

`scripts = {"random": random_move}` is all that a small game needs; games where random moves are rarely legal
define their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from random import Random
from typing import Any

from pydantic import ValidationError

from games.interface import Form, Game, Json, Move, MoveData, Role, Script

TRIES = 40
"""Random moves tried before the game's default move is played."""
NOTES = 0.2
"""How often a form that leaves the turn open is filled in, if the game allows many per turn."""
MANY_NOTES = 20
UNLIMITED_RANGE = 100.0
"""Range of numbers without limits in the form."""
_WORDS = ("yes", "no", "perhaps", "fair", "high", "low", "we", "you", "more", "less")


def by_name(*scripts: Script, **named: Script) -> dict[str, Script]:
    """Return scripts by the names of their functions, then those that are given a name."""
    return {script.__name__: script for script in scripts} | named


def random_move(game: Game[Any, Any], state: Any, role: Role, rng: Random) -> MoveData:
    """Return a random legal move of the forms that are always shown; the game's default move if none was found."""
    turn = game.turn(state)
    assert turn is not None
    shown_forms = [form for form in turn.forms[role] if not form.on_request] or list(turn.forms[role])
    ending_forms = [form for form in shown_forms if form.ends_turn]
    note_forms = [form for form in shown_forms if not form.ends_turn]
    for _trial in range(TRIES):
        writes_note = note_forms and game.open_moves >= MANY_NOTES and rng.random() < NOTES
        forms = note_forms if writes_note else ending_forms or shown_forms
        move = random_filling(rng.choice(forms), rng)
        if allowed(game, state, role, forms, move):
            return move
    return game.default(state, role)


def allowed(game: Game[Any, Any], state: Any, role: Role, forms: list[Form], move: MoveData) -> bool:
    """Return whether one of these forms accepts the move and the game does not refuse it."""
    for form in forms:
        try:
            checked = form.model.model_validate(move, strict=True)
        except ValidationError:
            continue
        return game.refuse(state, role, checked) is None
    return False


def random_filling(form: Form, rng: Random) -> dict[str, Json]:
    """Return the form filled in at random, within the limits of its schema; the rules may still refuse it."""
    schema = schema_of(form.model)
    return {
        name: value_of(field_schema, schema.get("$defs", {}), rng)
        for name, field_schema in schema.get("properties", {}).items()
        if name in schema.get("required", ()) or rng.random() < 0.5
    }


@lru_cache(maxsize=256)
def schema_of(model: type[Move]) -> Mapping[str, Any]:
    """Return the JSON schema of a form; do not modify it."""
    return model.model_json_schema()


def value_of(schema: Mapping[str, Any], definitions: Mapping[str, Any], rng: Random) -> Json:
    """Return a random value that matches a JSON schema from pydantic."""
    if "$ref" in schema:
        return value_of(definitions[schema["$ref"].rsplit("/", 1)[-1]], definitions, rng)
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return value_of(rng.choice(options), definitions, rng)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(schema["enum"])
    kind = schema.get("type")
    if kind == "boolean":
        return rng.random() < 0.5
    if kind in ("integer", "number"):
        return _number(schema, rng)
    if kind == "string":
        words = " ".join(rng.choices(_WORDS, k=rng.randint(1, 6)))
        return words[: schema.get("maxLength", len(words))].ljust(schema.get("minLength", 0), ".")
    if kind == "array":
        return _list(schema, definitions, rng)
    if kind == "object":
        return _dictionary(schema, definitions, rng)
    return None


def _number(schema: Mapping[str, Any], rng: Random) -> int | float:
    low, high = schema.get("minimum", schema.get("exclusiveMinimum")), schema.get("maximum")
    high = schema.get("exclusiveMaximum") if high is None else high
    low = (0.0 if high is None else min(0.0, high - UNLIMITED_RANGE)) if low is None else low
    high = low + UNLIMITED_RANGE if high is None else high
    if schema["type"] == "integer":
        first = int(low) + ("exclusiveMinimum" in schema)
        last = int(high) - ("exclusiveMaximum" in schema)
        return rng.randint(first, max(first, last))
    return min(max(round(rng.uniform(low, high), 2), low), high)


def _list(schema: Mapping[str, Any], definitions: Mapping[str, Any], rng: Random) -> list[Json]:
    items, min_items = schema.get("items", {}), schema.get("minItems", 0)
    items = definitions[items["$ref"].rsplit("/", 1)[-1]] if "$ref" in items else items
    item_schemas = schema.get("prefixItems", ())
    if item_schemas:
        return [value_of(item_schema, definitions, rng) for item_schema in item_schemas]
    length = rng.randint(min_items, max(min_items, min(schema.get("maxItems", min_items + 3), min_items + 3)))
    values: list[Json] = []
    for _trial in range(TRIES):
        if len(values) == length:
            break
        value = value_of(items, definitions, rng)
        if not schema.get("uniqueItems") or value not in values:
            values.append(value)
    if schema.get("uniqueItems"):  # a set: the order does not matter
        order = items.get("enum", values)
        values.sort(key=order.index)
    return values


def _dictionary(schema: Mapping[str, Any], definitions: Mapping[str, Any], rng: Random) -> dict[str, Json]:
    required = schema.get("required", ())
    values = {
        name: value_of(value_schema, definitions, rng)
        for name, value_schema in schema.get("properties", {}).items()
        if name in required or rng.random() < 0.5
    }
    keys = schema.get("propertyNames", {}).get("enum", ())
    extra_schema = schema.get("additionalProperties")
    if isinstance(extra_schema, Mapping):
        min_properties = schema.get("minProperties", 0)
        chosen = rng.sample(list(keys), rng.randint(min(min_properties, len(keys)), len(keys)))
        values |= {key: value_of(extra_schema, definitions, rng) for key in chosen}
    return values
