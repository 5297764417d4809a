"""Every operation of the HTTP API, from its own OpenAPI document."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from deploy.docs.reference.markdown import code, line, table, text

PROBLEM = "[Problem](#problem)"
"""The body of every refusal."""


def page() -> str:
    from api.site import api

    document = json.loads(json.dumps(api.get_openapi_schema()))
    sections = [
        "# HTTP API\n\nThe operations with their parameters and answers. [The API](../api.md) shows how to use them. "
        "A server gives the same description to programs at `/api/v1/openapi.json` (OpenAPI "
        f"{document['openapi']}).\n\n## Operations\n\n",
    ]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            sections.append(_operation(path, method, operation))
    sections.append("## Objects\n\n")
    for name, schema in sorted(document["components"]["schemas"].items()):
        sections.append(_object(name, schema))
    return "".join(sections)


def _operation(path: str, method: str, operation: Mapping[str, Any]) -> str:
    scopes = [name for rule in operation.get("security", ()) for name in rule]
    sections = [
        f"### {method.upper()} {line(path)}\n\n",
        f"**{line(operation.get('summary', ''))}.** {text(operation.get('description', ''))}\n\n",
    ]
    if scopes:
        sections.append(f"Authorisation: {', '.join(map(code, scopes))}.\n\n")
    rows = [
        (
            code(parameter["name"]),
            parameter["in"],
            line(parameter.get("description", "")),
            _type_name(parameter["schema"]),
            "yes" if parameter.get("required") else "",
        )
        for parameter in operation.get("parameters", ())
    ]
    sections.append(table(("parameter", "in", "meaning", "type", "required"), rows))
    if body := operation.get("requestBody"):
        sections.append(f"Body: {_content(body)}\n\n")
    refusals = [status for status, answer in operation["responses"].items() if _content(answer) == PROBLEM]
    answers = [
        (code(status), line(answer["description"]), _content(answer))
        for status, answer in operation["responses"].items()
        if status not in refusals
    ]
    sections.append(table(("status", "meaning", "answer"), answers))
    if refusals:
        sections.append(f"Refusals: {', '.join(map(code, refusals))}, each with a {PROBLEM}.\n\n")
    return "".join(sections)


def _object(name: str, schema: Mapping[str, Any]) -> str:
    needed = schema.get("required", ())
    rows = [
        (code(key), line(value.get("description", "")), _type_name(value), "yes" if key in needed else "")
        for key, value in schema.get("properties", {}).items()
    ]
    description = text(schema.get("description", ""))
    values = ", ".join(map(code, schema["enum"])) if "enum" in schema else ""
    body = table(("key", "meaning", "type", "always present"), rows) or (f"One of {values}.\n\n" if values else "")
    return f"### {name}\n\n{description}\n\n{body}"


def _content(body: Mapping[str, Any]) -> str:
    return ", ".join(
        _type_name(kind["schema"]) if "schema" in kind else code(name) for name, kind in body.get("content", {}).items()
    )


def _type_name(schema: Mapping[str, Any]) -> str:
    """Return a description of a schema's type; objects link to their own section."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    if options := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
        return " or ".join(_type_name(option) for option in options)
    if "enum" in schema:
        return ", ".join(map(code, schema["enum"]))
    if "const" in schema:
        return code(json.dumps(schema["const"]))
    if schema.get("type") == "array":
        return f"list of {_type_name(schema.get('items', {}))}"
    if isinstance(values := schema.get("additionalProperties"), Mapping):
        return f"object of {_type_name(values)}"
    kind = schema.get("type", "any")
    type_name: str = {"string": "text", "integer": "whole number", "null": "null"}.get(kind, kind)
    return {"date-time": "time", "binary": "file"}.get(schema.get("format", ""), type_name)
