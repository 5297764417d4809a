"""The parts of a plan: a table per model, and the JSON schema for editors and programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from deploy.docs.reference.markdown import code, line, table
from plans.schema import json_schema, plan_controls

SCHEMA = "plan.schema.json"


def schema() -> str:
    """Return the JSON schema of a plan as text."""
    return json.dumps(json_schema(), indent=1, ensure_ascii=False)


def page() -> str:
    """Return the page in Markdown."""
    forms = plan_controls()
    parts = [
        "# The plan\n",
        f"A study is one file. This page lists every setting; programs can read the same as a {{download}}`JSON schema <{SCHEMA}>`.",
        "Any value may depend on a factor: `{by: FACTOR, values: {LEVEL: …}}`, or `{by: FACTOR}` where the level is the value.\n",
    ]
    for name, control in forms["sections"].items():
        if control.get("fields"):
            parts += [f"## {control['label']} (`{name}`)\n", _table(control)]
    for name, control in forms["stages"].items():
        parts += [f"## Stage: {control['label']} (`{name}`)\n", control["about"] + "\n", _table(control)]
    parts += ["## Agents (`agents`)\n", _table(forms["agent"])]
    return "\n".join(parts) + "\n"


def _table(control: dict[str, Any]) -> str:
    return table(["Setting", "Meaning", "Default"], list(_rows(control, "")))


def _rows(control: dict[str, Any], before: str) -> Iterator[list[str]]:
    for field in control["fields"]:
        name = f"{before}{field['name']}"
        unit = f" In {field['unit']}." if "unit" in field else ""
        default = (
            "" if field.get("fields") or "default" not in field else json.dumps(field["default"], ensure_ascii=False)
        )
        yield [code(name), line(f"{field['label']}. {field['help']}{unit}"), code(default)]
        if field.get("fields"):
            yield from _rows(field, f"{name}.")
