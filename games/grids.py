"""Sets of configurations: a grid over a game's parameters, a published table, or a list written by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from types import ModuleType
from typing import Any

from games import registry
from games.errors import BadConfig
from games.interface import Game, Json
from games.play import configure
from games.words import gettext as _

Grid = Mapping[str, Sequence[Json]]
"""Values by parameter; parameters that are not named keep their default."""
Rows = Callable[[int], Sequence[Mapping[str, Json]]]
"""Seed → configurations that are drawn; parameters that are not named keep their default."""
Configuration = dict[str, Json]
"""Every parameter of a game with its value."""

MAX_CONFIGURATIONS = 100_000
"""Maximum number of configurations in one set."""


def expand(game: type[Game[Any, Any]], grid: Grid, fixed: Mapping[str, Json] | None = None) -> list[Configuration]:
    """Return every combination of the grid's values, the last parameter varying fastest.

    Args:
        fixed: parameters with the same value throughout.

    Raises:
        BadConfig: naming an unknown parameter, an invalid value, or an invalid combination.
    """
    values = {**{key: [value] for key, value in (fixed or {}).items()}, **grid}
    _refuse_unreadable(game, values)
    size = math.prod(len(options) for options in values.values())
    if size > MAX_CONFIGURATIONS:
        raise BadConfig(
            _("The grid of {game} has {size} configurations; the maximum is {most}.").format(
                game=game.key, size=size, most=MAX_CONFIGURATIONS
            )
        )
    return [
        _configuration(game, dict(zip(values, combination, strict=True))) for combination in product(*values.values())
    ]


def listed(game: type[Game[Any, Any]], configurations: Sequence[Mapping[str, Json]]) -> list[Configuration]:
    """Return handwritten configurations, each with its defaults filled in.

    Raises:
        BadConfig: naming the configuration's number, from 1, and the problem.
    """
    complete = []
    for number, configuration in enumerate(configurations, start=1):
        try:
            complete.append(configure(game, configuration).config.model_dump(mode="json"))
        except BadConfig as error:
            raise BadConfig(_("Configuration {number}: {reason}").format(number=number, reason=error)) from None
    return complete


def _refuse_unreadable(game: type[Game[Any, Any]], values: Mapping[str, Any]) -> None:
    parameters = game.Config.model_fields
    for key, options in values.items():
        if key not in parameters:
            raise BadConfig(
                _("{game} has no parameter “{key}”; it has {names}.").format(
                    game=game.key, key=key, names=", ".join(parameters)
                )
            )
        if not isinstance(options, Sequence) or isinstance(options, str) or not options:
            raise BadConfig(_("The grid needs a list of at least one value for “{key}”.").format(key=key))
        json_texts = [json.dumps(option, sort_keys=True) for option in options]
        if len(set(json_texts)) < len(json_texts):
            raise BadConfig(_("The grid contains a value of “{key}” twice.").format(key=key))


def _configuration(game: type[Game[Any, Any]], values: Configuration) -> Configuration:
    """Return one combination with all parameters.

    Raises:
        BadConfig: naming the invalid value, or the combination if each value alone is valid.
    """
    try:
        complete: Configuration = configure(game, values).config.model_dump(mode="json")
    except BadConfig as error:
        reason = str(error)
    else:
        return complete
    for key, value in values.items():
        try:
            configure(game, {key: value})
        except BadConfig as error:
            if str(error) == reason:
                json_text = json.dumps(value)
                raise BadConfig(
                    _("“{key}” cannot be {value}. {reason}").format(key=key, value=json_text, reason=reason)
                ) from None
    json_text = json.dumps(values)
    raise BadConfig(_("This combination cannot be played: {values}. {reason}").format(values=json_text, reason=reason))


# ---- published modules --------------------------------------------------------------------------


def published(key: str) -> ModuleType | None:
    """Return a game's `published.py`, None without one.

    It has TABLES (grids or drawn rows, by name) and SELECTIONS (for people, by name).
    """
    if find_spec(f"games.{key}.published") is None:
        return None
    return import_module(f"games.{key}.published")


def analyses(key: str) -> ModuleType | None:
    """Return a game's `analyses.py`, whose `results(game, matches)` summarises a collection; None without one."""
    if find_spec(f"games.{key}.analyses") is None:
        return None
    module = import_module(f"games.{key}.analyses")
    return module if hasattr(module, "results") else None


def has_module(key: str, name: str) -> bool:
    """Return whether a game's folder has a module of this name."""
    return find_spec(f"games.{key}.{name}") is not None


def table(key: str, name: str, seed: int = 1) -> list[Configuration]:
    """Return the configurations of a published table of this game.

    Args:
        seed: of tables that are drawn.

    Raises:
        BadConfig: the game has no such table.
    """
    module = published(key)
    tables: Mapping[str, Grid | Rows] = getattr(module, "TABLES", {})
    if name not in tables:
        names = ", ".join(tables) or _("none")
        raise BadConfig(_("{game} has no table “{name}”; it has: {names}.").format(game=key, name=name, names=names))
    game, rows = registry.get(key), tables[name]
    return listed(game, rows(seed)) if callable(rows) else expand(game, rows)
