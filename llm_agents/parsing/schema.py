"""The JSON schema of a model's answer, as strict as endpoints with structured output require.

Source: OpenAI, "Structured Outputs", supported schemas: the top level is an object without anyOf,
every object lists all its properties as required and allows no others, optional fields are
nullable, and neither defaults nor text lengths can be expressed. The form and the rules check what a
schema cannot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from games.interface import Form
from games.words import gettext as _
from llm_agents.prompting import json_schema

REASONING = "reasoning"
"""The key that holds a model's reasoning, if its answer is to contain it."""
ENTRY_NAME, ENTRY_VALUE = "name", "value"
"""The keys of an entry of an object with free keys, which a strict schema can only express as a list."""

Schema = dict[str, Any]
_COPIED_KEYWORDS = (
    "description", "pattern", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf",
    "minItems", "maxItems",
)  # fmt: skip


def schema_of(forms: Sequence[Form], *, reasoning: bool = False) -> Schema:
    """Return the schema of one filled-in form; with several forms, of an object whose only key holds one of them.

    Args:
        forms: what the role may do now.
        reasoning: a text called `REASONING` comes first.
    """
    filled = [_form(form) for form in forms]
    if len(filled) == 1:
        schema = filled[0]
    else:
        schema = object_of({wrapper_key(forms): {"anyOf": filled}})
    if reasoning and not any(REASONING in form.model.model_fields for form in forms):
        thoughts: Schema = {"type": "string", "description": _("Your reasoning, step by step. Nobody else reads it.")}
        schema = {**object_of({REASONING: thoughts, **schema["properties"]}), **_description(schema)}
    return schema


def wrapper_key(forms: Sequence[Form]) -> str:
    """Return the key that holds the chosen one of several forms; no form has a field of this name."""
    key = "move"
    while any(key in form.model.model_fields for form in forms):
        key += "_"
    return key


def options_of(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the plain schemas, one of which a value must match."""
    if "$ref" in schema:
        return options_of(definitions[schema["$ref"].rsplit("/", 1)[-1]], definitions)
    alternatives = schema.get("anyOf") or schema.get("oneOf")
    if alternatives:
        return [option for alternative in alternatives for option in options_of(alternative, definitions)]
    return [schema]


def _form(form: Form) -> Schema:
    schema = json_schema(form.model)
    strict_schema = _strict(schema, schema.get("$defs", {}))
    return {
        **strict_schema,
        "description": ". ".join(part.strip(". ") for part in (_(form.title), _(form.help)) if part) + ".",
    }


def object_of(properties: Mapping[str, Schema]) -> Schema:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _description(schema: Schema) -> Schema:
    return {"description": schema["description"]} if "description" in schema else {}


def strict(schema: Mapping[str, Any]) -> Schema:
    """Return a plain object schema, as strict as endpoints require."""
    return _strict(schema, schema.get("$defs", {}))


def _strict(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Schema:
    copied = {key: schema[key] for key in _COPIED_KEYWORDS if key in schema}
    options = options_of(schema, definitions)
    if options != [schema]:
        strict_options = [_strict(option, definitions) for option in options]
        return {**copied, "anyOf": strict_options} if len(strict_options) > 1 else {**strict_options[0], **copied}
    if "const" in schema or "enum" in schema:
        values = schema.get("enum", [schema.get("const")])
        return {**({"type": schema["type"]} if "type" in schema else {}), **copied, "enum": list(values)}
    match schema.get("type"):
        case "object" if "properties" in schema or not isinstance(schema.get("additionalProperties"), Mapping):
            return {**_properties(schema, definitions), **copied}
        case "object":
            return {**_free_keys(schema, definitions), **copied}
        case "array":
            return {"type": "array", "items": _items(schema, definitions), **copied}
        case str(kind):
            return {"type": kind, **copied}
    return dict(copied)


def _properties(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Schema:
    required = schema.get("required", ())
    properties: dict[str, Schema] = {}
    for name, field in schema.get("properties", {}).items():
        strict_schema = _titled(_strict(field, definitions), field, name)
        properties[name] = strict_schema if name in required else _nullable(strict_schema)
    return object_of(properties)


def _free_keys(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Schema:
    """Return the schema of a dictionary: an object that requires its known keys, else a list of entries."""
    value = _strict(schema["additionalProperties"], definitions)
    names = schema.get("propertyNames", {}).get("enum", ())
    if names and schema.get("minProperties", 0) >= len(names):
        return object_of(dict.fromkeys(names, value))
    name: Schema = {"type": "string", "enum": list(names)} if names else {"type": "string"}
    return {"type": "array", "items": object_of({ENTRY_NAME: name, ENTRY_VALUE: value})}


def _titled(schema: Schema, field: Mapping[str, Any], name: str) -> Schema:
    """Return the schema with the field's title in its description, if it says more than the name."""
    title = field.get("title", "")
    if not title or title.lower().replace(" ", "_") == name.lower():
        return schema
    return {**schema, "description": f"{title}. {schema['description']}" if "description" in schema else title}


def _nullable(schema: Schema) -> Schema:
    if "anyOf" in schema:
        options = schema["anyOf"]
        return schema if {"type": "null"} in options else {**schema, "anyOf": [*options, {"type": "null"}]}
    bare = {key: value for key, value in schema.items() if key != "description"}
    return {**_description(schema), "anyOf": [bare, {"type": "null"}]}


def _items(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Schema:
    if "prefixItems" in schema:
        item_schemas: list[Schema] = []
        for item in schema["prefixItems"]:
            strict_schema = _strict(item, definitions)
            if strict_schema not in item_schemas:
                item_schemas.append(strict_schema)
        return item_schemas[0] if len(item_schemas) == 1 else {"anyOf": item_schemas}
    return _strict(schema.get("items", {}), definitions)
