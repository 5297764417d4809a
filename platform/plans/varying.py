"""Values that depend on a factor: nodes `{by: FACTOR, values: {LEVEL: …}}` or `{by: FACTOR}` in a plan's plain data.

A node may stand wherever a value stands, and nodes nest. `by: FACTOR.part` reads a part of a level that is an object.
They are resolved before validation, so the models of a plan never see them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from games.interface import Json

Path = tuple[str | int, ...]
Levels = Mapping[str, str]
"""A level's key by factor."""
LevelValues = Mapping[str, Mapping[str, Json]]
"""Per factor, the value of each level by its key."""


def is_varied(node: Json) -> TypeGuard[Mapping[str, Any]]:
    """Return whether a node stands for a value that depends on a factor."""
    return isinstance(node, Mapping) and "by" in node and set(node) <= {"by", "values"}


def has_varied(node: Json) -> bool:
    """Return whether anything in a node depends on a factor."""
    if is_varied(node):
        return True
    children = node.values() if isinstance(node, Mapping) else node if isinstance(node, list) else ()
    return any(has_varied(child) for child in children)


def level_key(level: Json) -> str:
    """Return the key of a level: a word itself; a number or truth value as JSON text, so that 100 and 100.0 agree."""
    if isinstance(level, str):
        return level
    if isinstance(level, float) and level.is_integer():
        level = int(level)
    return json.dumps(level)


def factor_of(node: Mapping[str, Json]) -> tuple[str, tuple[str, ...]]:
    """Return the factor that a varied node reads, and the path to the part of its level."""
    name, *part = str(node["by"]).split(".")
    return name, tuple(part)


def at_path(node: Json, path: Path) -> Json:
    """Return what stands at a path of plain data."""
    for part in path:
        node = node[part]
    return node


def part_of(value: Json, part: Sequence[str]) -> Json:
    """Return the part of a level's value.

    Raises:
        KeyError: there is no such part.
    """
    for name in part:
        if not isinstance(value, Mapping) or name not in value:
            raise KeyError(name)
        value = value[name]
    return value


def branch_of(level: str, whole: Json, part: Sequence[str]) -> str:
    """Return under which key of its `values` a node finds a level: its name, or what the part that it reads holds.

    Args:
        level: its key.
        whole: its value.

    Raises:
        KeyError: there is no such part.
    """
    return level_key(part_of(whole, part)) if part else level


class Resolver:
    """Fills in the levels of factors, each subtree once per combination of the factors in it.

    Args:
        values: the values of every factor's levels.
    """

    def __init__(self, values: LevelValues):
        self._values = values
        self._factors: dict[int, tuple[str, ...]] = {}
        self._resolved: dict[tuple[Any, ...], Json] = {}
        self._kept: list[Json] = []

    def factors_in(self, node: Json) -> tuple[str, ...]:
        """Return the names of the factors that a node depends on, each once."""
        if not isinstance(node, Mapping | list | tuple):
            return ()
        if (known := self._factors.get(id(node))) is not None:
            return known
        names: dict[str, None] = {}
        if is_varied(node):
            names[factor_of(node)[0]] = None
        children = node.values() if isinstance(node, Mapping) else node
        for child in children:
            names.update(dict.fromkeys(self.factors_in(child)))
        self._factors[id(node)] = tuple(names)
        self._kept.append(node)  # an id is only unique while its object lives
        return tuple(names)

    def key(self, node: Json, levels: Levels) -> tuple[Any, ...]:
        """Return what determines the resolved node: itself and the levels of its factors."""
        return (id(node), *(levels.get(name) for name in self.factors_in(node)))

    def resolve(self, node: Json, levels: Levels) -> Json:
        """Return the node with the levels filled in.

        Raises:
            KeyError: a factor, level, part or value is missing.
        """
        if not isinstance(node, Mapping | list | tuple) or not self.factors_in(node):
            return node
        key = self.key(node, levels)
        if key not in self._resolved:
            self._resolved[key] = self._resolve(node, levels)
        return self._resolved[key]

    def _resolve(self, node: Json, levels: Levels) -> Json:
        if not is_varied(node):
            if isinstance(node, Mapping):
                return {key: self.resolve(child, levels) for key, child in node.items()}
            return [self.resolve(child, levels) for child in node]
        name, part = factor_of(node)
        whole = self._values[name][levels[name]]
        if "values" not in node:
            return part_of(whole, part)
        return self.resolve(node["values"][branch_of(levels[name], whole, part)], levels)


def factors_at(node: Json, path: Path, levels: Levels, values: LevelValues) -> dict[str, str]:
    """Return the levels that decide what stands at a path of the resolved plan.

    Args:
        node: the plan as written.
        path: in the resolved plan.
    """
    found: dict[str, str] = {}
    rest = list(path)
    while True:
        while is_varied(node):
            name, part = factor_of(node)
            if name not in levels:
                return found
            found[name] = levels[name]
            if "values" not in node:
                return found
            try:
                node = node["values"][branch_of(levels[name], values[name][levels[name]], part)]
            except (KeyError, TypeError):
                return found
        if not rest:
            return found
        try:
            node = node[rest.pop(0)]
        except (KeyError, IndexError, TypeError):
            return found
