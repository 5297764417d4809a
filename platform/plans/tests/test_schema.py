"""The controls of an editor and the JSON schema, both made from the models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from plans import library
from plans.schema import json_schema, plan_controls
from plans.tests.examples import changed

KINDS = {
    *("string", "long", "text", "condition", "number", "integer", "amount", "limit", "boolean", "choice", "lines"),
    *("list", "map", "grid", "group", "own", "fixed"),
    *("agent", "agents", "answers", "config", "contrast", "endings", "entry", "game", "media", "moment"),
    *("languages", "outcome", "payoffs", "seats", "strategy"),
}
"""What static/parley/plan/controls.js can draw."""


def controls(node: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every control with its path."""
    if isinstance(node, dict):
        if "kind" in node and "label" in node:
            yield path, node
        for name, child in node.items():
            yield from controls(child, f"{path}/{name}")
    elif isinstance(node, list):
        for child in node:
            yield from controls(child, f"{path}/{child.get('name', '')}" if isinstance(child, dict) else path)


def test_everything_in_a_plan_has_a_control_of_its_own():
    unknown = {path: control["kind"] for path, control in controls(plan_controls()) if control["kind"] not in KINDS}
    assert not unknown


def test_controls_say_what_the_models_know():
    forms = plan_controls()
    timing = next(field for field in forms["stages"]["game"]["fields"] if field["name"] == "timing")
    turn = next(field for field in timing["fields"] if field["name"] == "turn")
    assert (turn["label"], turn["unit"], turn["default"], turn["min"]) == ("Time per turn", "seconds", 180, 5)
    items = next(field for field in forms["stages"]["questions"]["fields"] if field["name"] == "items")
    only = {field["name"]: field.get("only") for field in items["item"]["fields"]}
    assert only["points"] == ["scale"] and only["text"] is None
    rounds = next(field for field in forms["games"]["bargaining"]["config"]["fields"] if field["name"] == "rounds")
    assert rounds["optional"] and rounds["kind"] == "integer"
    with_quiz = {key for key, game in forms["games"].items() if "quiz" not in game["lacks"]}
    assert with_quiz == {"bargaining", "negotiation", "persuasion"}


@pytest.mark.parametrize("name", sorted(library.ready_made("studies")))
def test_schema_admits_every_ready_made_study(name):
    jsonschema.Draft202012Validator(json_schema()).validate(library.ready_made("studies")[name].document)


@pytest.mark.parametrize(
    "path, value",
    [
        ("title", "As it is"),
        ("journey.3.of.0.seats.bob", ["model", {"by": "opponent"}]),
        ("journey.2.items.0.min", {"by": "wording", "values": {"give": 1, "take": 2}}),
        ("journey.2.items", [{"by": "wording", "values": {}}]),
        ("agents.model", {"by": "wording", "values": {}}),
        ("pay.endings", {"screened_out": {"by": "wording", "values": {}}}),
        ("cells", {"listed": [{"wording": "give"}], "unit": "group"}),
    ],
)
@pytest.mark.every_case
def test_schema_admits_whatever_may_vary(path, value):
    jsonschema.Draft202012Validator(json_schema()).validate(changed(path, value))


@pytest.mark.parametrize("change", [{"titel": "x"}, {"pay": {"base": []}}, {"journey": [{"stage": "dance"}]}])
def test_schema_refuses_what_no_plan_may_be(change):
    document = library.ready_made("studies")["glee-human-bargaining"].document | change
    assert not jsonschema.Draft202012Validator(json_schema()).is_valid(document)
