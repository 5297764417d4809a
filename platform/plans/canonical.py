"""The canonical form of a plan, its hash, and the hashes of its parts.

In canonical form every default is written out, amounts are texts with two decimals, and whole numbers have no
fraction, so that two ways of writing the same plan give the same JSON.
"""

from __future__ import annotations

import hashlib
import json
import types
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from games.interface import Json
from plans.collection import model_of
from plans.plan import Document, Plan
from plans.reading import has_varied
from plans.stages import Block, Stage, kinds
from plans.varying import is_varied

OUTSIDE_HASH = ("title", "entry", "analysis")
"""Parts of a plan whose changes make no new version; quotas and weights of cells are left out, too."""


def canonical(document: Document) -> dict[str, Json]:
    """Return a plan in canonical form; parts that cannot be read stay as they are."""
    return {name: _whole(value) for name, value in _model(document, model_of(document)).items()}


def canonical_json(content: Json) -> str:
    """Return plain data as JSON text, independent of the order of keys."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sha256_of(content: Json) -> str:
    """Return the hash of plain data."""
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()


def version_hash(document: Document) -> str:
    """Return the hash that identifies a version."""
    return sha256_of(inside_hash(canonical(document)))


def inside_hash(document: Document) -> dict[str, Json]:
    """Return the parts of a canonical plan that a version's hash covers: all that participants or data depend on."""
    kept = {name: part for name, part in document.items() if name not in OUTSIDE_HASH}
    if isinstance(cells := kept.get("cells"), Mapping):
        cells = {name: value for name, value in cells.items() if name != "quota"}
        if isinstance(cells.get("listed"), list):
            cells["listed"] = [
                {key: level for key, level in cell.items() if key not in ("quota", "weight")}
                for cell in cells["listed"]
                if isinstance(cell, Mapping)
            ]
        kept["cells"] = cells
    return kept


def part_hashes(document: Document) -> dict[str, str]:
    """Return the hash of each part of a canonical plan by name."""
    return {name: sha256_of(part) for name, part in document.items()}


def plan_hash(plan: Plan, known: dict[int, str] | None = None) -> str:
    """Return the hash of a cell's concrete plan, passes included: equal where participants meet the same.

    Args:
        known: the hashes of parts by their ids, for several plans of one reader, which share parts.
    """
    known = {} if known is None else known
    names = [name for name in type(plan).model_fields if name not in {*OUTSIDE_HASH, "factors", "cells", "journey"}]
    parts = {name: _part_hash(getattr(plan, name), known) for name in names}
    return sha256_of({**parts, "journey": [_part_hash(stage, known) for stage in plan.journey]})


def _part_hash(part: Any, known: dict[int, str]) -> str:
    if id(part) not in known:
        if isinstance(part, Block):
            passes = [[_part_hash(inner, known) for inner in each.stages] for each in part.each_pass]
            data: Json = {**part.model_dump(mode="json", exclude={"of"}), "passes_of": passes}
        else:
            data = _dumped(part)
        known[id(part)] = sha256_of(_whole(data))
    return known[id(part)]


def _dumped(part: Any) -> Json:
    if isinstance(part, Mapping):
        return {name: _dumped(each) for name, each in part.items()}
    return part.model_dump(mode="json") if isinstance(part, BaseModel) else part


def _node(node: Json, annotation: Any) -> Json:
    """Return a node in canonical form, given the type that its value has."""
    if is_varied(node):
        values = node.get("values")
        if not isinstance(values, Mapping):
            return dict(node)
        return {"by": node["by"], "values": {str(key): _node(value, annotation) for key, value in values.items()}}
    if not has_varied(node):
        found = _validated(node, annotation)
        if found is not _UNREADABLE:
            return found
    for alternative in _alternatives(annotation):
        if isinstance(node, Mapping) and _is_model(alternative):
            kind = kinds().get(str(node.get("stage"))) if alternative is Stage else alternative
            return dict(node) if kind is None else _model(node, kind)
        origin, arguments = get_origin(alternative), get_args(alternative)
        if isinstance(node, list) and origin in (list, tuple) and arguments:
            return [_node(child, arguments[0]) for child in node]
        if isinstance(node, Mapping) and len(arguments) == 2 and origin in (dict, Mapping, _ABC_MAPPING):
            return {str(key): _node(child, arguments[1]) for key, child in node.items()}
    return node


_ABC_MAPPING = get_origin(Mapping[str, str])
_UNREADABLE = object()


def _model(node: Mapping[str, Json], model: type[BaseModel]) -> dict[str, Json]:
    """Return a model's data with defaults, field by field, since some of them may depend on factors."""
    written = {}
    lacks = model.lacks if issubclass(model, Stage) else ()
    for name, info in model.model_fields.items():
        if name in lacks:
            continue
        annotation: Any = info.annotation
        if issubclass(model, Stage):
            annotation = model.annotation(name, node)
        if info.metadata:
            annotation = Annotated[annotation, *info.metadata]
        if name in node:
            written[name] = _node(node[name], annotation)
        elif not info.is_required():
            default = info.get_default(call_default_factory=True)
            declared: Any = info.annotation
            written[name] = _adapter(declared).dump_python(default, mode="json", warnings=False)
            if name == "config" and _is_model(annotation):
                written[name] = _node({}, annotation)
    return {**written, **{str(name): value for name, value in node.items() if name not in written}}


def _validated(node: Json, annotation: Any) -> Any:
    """Return a value without varied parts as its type writes it; `_UNREADABLE` if it does not have the type."""
    if _holds_stages(annotation):
        return _UNREADABLE  # read one by one, each with its own kind
    try:
        adapter = _adapter(annotation)
        return adapter.dump_python(adapter.validate_json(json.dumps(node)), mode="json", warnings=False)
    except (ValidationError, ValueError, TypeError):
        return _UNREADABLE


@lru_cache(maxsize=512)
def _cached_adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation)


def _adapter(annotation: Any) -> TypeAdapter[Any]:
    try:
        return _cached_adapter(annotation)
    except TypeError:  # some metadata cannot be hashed
        return TypeAdapter(annotation)


def _holds_stages(annotation: Any) -> bool:
    if _is_model(annotation):
        return issubclass(annotation, Stage)
    return any(_holds_stages(argument) for argument in get_args(annotation))


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    """Return the types that a value may have."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _alternatives(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return tuple(each for argument in get_args(annotation) for each in _alternatives(argument))
    return (annotation,)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _whole(value: Json) -> Json:
    """Return plain data with whole numbers without a fraction."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {str(key): _whole(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(child) for child in value]
    return value
