"""What a plan may contain, as controls for an editor and as a JSON schema.

Both are made from the pydantic models. A *control* is plain data: `kind`, `label`, `help`, `default`, limits, and the
controls inside it. A model's field says what JSON schema cannot with `json_schema_extra`: `unit`, the `titles` of its
choices, or one of `HINTS`. An optional part that is added begins as the first of its field's `examples`.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from games import grids, registry, strategies
from games.interface import Game, Json
from plans.agents import PlannedAgent
from plans.collection import AgentsGame, CollectionPlan, CollectionReader, PatientAgent
from plans.hypotheses import outcomes_of_game
from plans.pay import CAN_PAY, ENDINGS_PAY
from plans.plan import Plan
from plans.questions import Question
from plans.reading import LITERAL
from plans.stages import Stage, kinds

HINTS = (
    "text", "condition", "game", "agent", "agents", "media", "entry", "moment", "seats", "config", "strategy",
    "endings", "payoffs", "answers", "outcome", "contrast", "languages",
)  # fmt: skip
"""Keys of `json_schema_extra` that choose a control of its own."""
FIXED = frozenset({"stage", "name", "game", "kind"})
"""Fields that no factor may vary: they decide what else there is."""
LONG = 300
"""Number of characters above which a text gets several lines."""
_LIMITS = {
    "minimum": "min",
    "exclusiveMinimum": "above",
    "maximum": "max",
    "exclusiveMaximum": "below",
    "multipleOf": "step",
    "minLength": "shortest",
    "maxLength": "longest",
    "minItems": "least",
    "maxItems": "most",
    "pattern": "pattern",
}
Control = dict[str, Json]


# ---- controls ----------------------------------------------------------------------------------------------------


def control_of(model: type[BaseModel]) -> Control:
    """Return the control of a model: a group of its fields' controls."""
    schema = model.model_json_schema()
    return _control(schema, schema.get("$defs", {}))


@lru_cache(maxsize=1)
def plan_controls() -> dict[str, Any]:
    """Return the controls of a study's plan: `sections`, `stages` by kind, `agent` and `games`."""
    sections = control_of(Plan)["fields"]
    return {
        "sections": {field["name"]: field for field in sections if field["name"] not in ("journey", "agents")},
        "stages": {
            name: {**_stage_control(kind), "label": kind.label, "named": kind.needs_name}
            for name, kind in kinds().items()
        },
        "agent": control_of(PlannedAgent),
        "games": {key: game_controls(registry.get(key)) for key in registry.keys()},
        "literal": list(LITERAL),
    }


def _stage_control(kind: type[Stage]) -> Control:
    control = control_of(kind)
    return {**control, "fields": [field for field in control["fields"] if field["name"] not in kind.lacks]}


@lru_cache(maxsize=1)
def collection_controls() -> dict[str, Any]:
    """Return the controls of a collection's plan, like those of a study's."""
    sections = control_of(CollectionPlan)["fields"]
    return {
        **plan_controls(),
        "sections": {field["name"]: field for field in sections if field["name"] not in ("journey", "agents")},
        "stages": {"game": {**control_of(AgentsGame), "label": AgentsGame.label, "named": False}},
        "agent": control_of(PatientAgent),
        "literal": sorted(CollectionReader.literal),
    }


def game_controls(game: type[Game[Any, Any]]) -> dict[str, Any]:
    """Return what an editor offers for a game: parameters, seats, scripts, outcomes, strategies and published rows.

    `lacks` names the fields of a game's stage that this game has no use for.
    """
    default = game(game.Config())
    return {
        "title": str(game.title),
        "summary": str(game.summary),
        "config": control_of(game.Config),
        "seats": seats_of(default),
        "lacks": [] if any(map(default.quiz, default.people())) else ["quiz"],
        "default_script": game.default_script,
        "scripts": [name for name in sorted(game.scripts) if name not in game.oracles],
        "outcomes": [name for name, each in outcomes_of_game(game.key).items() if each.kind != "other"],
        "strategies": [[name, str(strategy.title)] for name, strategy in strategies.of(game).items()],
        "tables": sorted(getattr(grids.published(game.key), "TABLES", ())),
        "selections": sorted(getattr(grids.published(game.key), "SELECTIONS", ())),
    }


def seats_of(game: Game[Any, Any]) -> list[dict[str, Any]]:
    """Return each seat of a configured game: its role, its title, and whether a participant may take it."""
    people = game.people()
    return [{"role": role, "title": str(game.role_title(role)), "person": role in people} for role in game.roles()]


def _control(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Control:
    """Return the control of a JSON schema, without the name of the field that it belongs to."""
    nested = (option.get("anyOf", [option]) for option in schema.get("anyOf", ()))
    options = [option for alternatives in nested for option in alternatives if option.get("type") != "null"]
    inner = options[-1] if options else schema
    if "$ref" in inner:
        inner = definitions[inner["$ref"].rpartition("/")[2]]
    found: Control = {
        "kind": _kind(schema, options, inner),
        "label": schema.get("title", inner.get("title", "")),
        "help": schema.get("description", ""),
        **{name: inner[key] for key, name in _LIMITS.items() if key in inner},
    }
    if any(option.get("type") == "null" for option in schema.get("anyOf", ())):
        found["optional"] = True
    if "default" in schema:
        found["default"] = schema["default"]
    if "examples" in schema:
        found["example"] = schema["examples"][0]
    if schema.get("more"):
        found["more"] = True
    if "unit" in schema and isinstance(schema["unit"], str):
        found["unit"] = schema["unit"]
    if "media" in schema:
        found["media"] = schema["media"]
    return {**found, **_parts(found, schema, inner, definitions)}


def _kind(schema: Mapping[str, Any], options: list[Any], inner: Mapping[str, Any]) -> str:
    if hint := next((name for name in HINTS if schema.get(name)), None):
        return hint
    types = {option.get("type") for option in options}
    if types == {"integer", "number"}:
        return "number"
    if types >= {"number", "string"}:
        return "amount" if {"integer"}.isdisjoint(types) else "limit"
    if len(options) > 1 and "const" in options[0]:
        return "own"
    if "enum" in inner:
        return "choice"
    if "const" in inner:
        return "fixed"
    kind = inner.get("type", "")
    if kind == "object":
        return "group" if "properties" in inner else "map"
    if kind == "array":
        return _kind_of_list(inner)
    return "long" if kind == "string" and inner.get("maxLength", 0) > LONG else str(kind)


def _kind_of_list(inner: Mapping[str, Any]) -> str:
    """Return "lines" for numbers and words, "grid" for lists of those, else "list"."""
    item = inner.get("items", {})
    if item.get("type") in ("number", "integer", "string") and "enum" not in item:
        return "lines"
    below = item.get("items", {}) if item.get("type") == "array" else {}
    return "grid" if below.get("type") in ("number", "integer", "string") else "list"


def _parts(
    found: Control, schema: Mapping[str, Any], inner: Mapping[str, Any], definitions: Mapping[str, Any]
) -> Control:
    """Return what a kind of control has besides its label and limits: choices, fields, or the control of its items."""
    kind = found["kind"]
    if kind == "choice":
        titles = schema.get("titles", {})
        return {"choices": [[value, titles.get(value, str(value).replace("_", " "))] for value in inner["enum"]]}
    if kind == "endings":
        return {"endings": {ending: [list(pays), ENDINGS_PAY[ending]] for ending, pays in CAN_PAY.items()}}
    if kind == "map":
        item = inner.get("additionalProperties")
        return {"item": _control(item if isinstance(item, Mapping) else {"type": "string"}, definitions)}
    if kind in ("list", "own"):
        return {"item": _control(inner["items"], definitions)}
    if kind in ("lines", "grid"):
        item = inner["items"] if kind == "lines" else inner["items"]["items"]
        return {"item": _control(item, definitions)}
    if "properties" not in inner:
        return {}
    required = inner.get("required", ())
    fields = [
        {"name": name, **_control(field, definitions), **({"required": True} if name in required else {})}
        for name, field in inner["properties"].items()
    ]
    only: dict[str, list[str]] = {}
    if inner.get("title") == Question.__name__:
        for kind_of_answer, names in Question.FIELDS.items():
            for name in names:
                only.setdefault(name, []).append(kind_of_answer)
    return {
        "about": inner.get("description", "").partition("\n")[0],
        "fields": [{**field, **({"only": only[field["name"]]} if field["name"] in only else {})} for field in fields],
    }


_NEVER_VARY = frozenset(
    {"varied", "Factor", "Rows", "Cells", "ListedCell", "Entry", "Listing"}
    | {"Analysis", "Hypothesis", "Contrast", "Sample"}
)
"""Definitions of the JSON schema in which nothing depends on a factor."""


# ---- the JSON schema ---------------------------------------------------------------------------------------------


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a plan as written: any value may depend on a factor."""
    schema = Plan.model_json_schema()
    definitions = schema["$defs"]
    for name, kind in kinds().items():
        own = kind.model_json_schema(ref_template="#/$defs/{model}")
        definitions |= own.pop("$defs", {})
        own["properties"] = {key: field for key, field in own["properties"].items() if key not in kind.lacks}
        definitions[f"stage_{name}"] = own
    journey: dict[str, Any] = {"type": "array", "items": {"oneOf": [{"$ref": f"#/$defs/stage_{n}"} for n in kinds()]}}
    definitions["stage_game"]["allOf"] = [_if_game(key, definitions) for key in registry.keys()]
    definitions.pop(Stage.__name__, None)
    definitions["varied"] = {
        "type": "object",
        "description": "A value that depends on a factor: by its level, or the level itself.",
        "properties": {"by": {"type": "string"}, "values": {"type": "object"}},
        "required": ["by"],
        "additionalProperties": False,
    }
    for name, definition in definitions.items():
        if name not in _NEVER_VARY:
            _let_vary(definition, skip=FIXED)
    schema["properties"]["journey"] = definitions["stage_block"]["properties"]["of"] = journey
    _let_vary(schema, skip={*LITERAL, "journey"})
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A study of Parley", **schema}


def _if_game(key: str, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the condition that a game's parameters are its own, and add them to the definitions."""
    template = f"#/$defs/{key}_{{model}}"
    config = registry.get(key).Config.model_json_schema(ref_template=template)
    definitions |= {f"{key}_{name}": definition for name, definition in config.pop("$defs", {}).items()}
    definitions[key] = config
    return {
        "if": {"properties": {"game": {"const": key}}},
        "then": {"properties": {"config": {"anyOf": [{"$ref": f"#/$defs/{key}"}, {"$ref": "#/$defs/varied"}]}}},
    }


def _let_vary(schema: dict[str, Any], *, skip: Set[str]) -> None:
    """Allow a node that depends on a factor for every property of an object's schema, and for what is in them."""
    for name, field in schema.get("properties", {}).items():
        if name not in skip:
            schema["properties"][name] = _varying(field)


def _varying(field: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a value that may depend on a factor, as may its items."""
    described = {key: field[key] for key in ("title", "description", "default") if key in field}
    plain = {key: value for key, value in field.items() if key not in described}
    return {**described, "anyOf": [_with_varying_items(plain), {"$ref": "#/$defs/varied"}]}


def _with_varying_items(schema: Mapping[str, Any]) -> dict[str, Any]:
    if "anyOf" in schema:
        return {**schema, "anyOf": [_with_varying_items(option) for option in schema["anyOf"]]}
    inner = {key: schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), Mapping)}
    return {**schema, **{key: _varying(value) for key, value in inner.items()}}
