"""A page for each game with its rules, roles, parameters, moves, scripts, results and columns."""

from __future__ import annotations

import json
import sys
from inspect import getdoc
from typing import Any

from deploy.docs.reference import columns
from deploy.docs.reference.markdown import code, docstring, line, quotation, table, text
from games import grids, play, registry
from games.interface import Game, Move
from matches.forms import Field, fields_of
from plans.library import ready_made
from plans.starting import first_of_each_kind

LONGEST_DEFAULT = 60
"""Longest default that a table shows, in characters."""


def pages() -> dict[str, str]:
    """Return the list of games and a page for each, by path."""
    games = {key: play.configure(registry.get(key), {}) for key in registry.keys()}
    rows = [(f"[{line(game.title)}]({key}.md)", code(key), line(game.summary)) for key, game in games.items()]
    names = "\n".join(games)
    index = (
        "# Games\n\nThe rules, parameters and formulas of each game. "
        "[Your first game](../../tutorials/first-game.md) adds one."
        f"\n\n{table(('game', 'key', 'what it is'), rows)}"
        f"```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )
    return {"games/index.md": index, **{f"games/{key}.md": page(key, game) for key, game in games.items()}}


def page(key: str, game: Game[Any, Any]) -> str:
    rules = sys.modules[type(game).__module__]
    roles = [
        (code(role), line(game.role_label(role)), "yes" if role in game.people() else "no") for role in game.roles()
    ]
    sections = [
        f"# {line(game.title)}\n\n{text(game.summary)}\n\n",
        f"Key `{key}`, rules version {game.rules_version}.\n\n",
        f"## Rules and formulas\n\n{docstring(rules.__doc__)}\n\n",
        _formulas(game),
        "## Roles\n\nWith the default parameters.\n\n" + table(("role", "title", "for people"), roles),
        "## Parameters\n\n",
        table(("parameter", "meaning", "values", "default"), [_parameter(field) for field in fields_of(game.Config)]),
        "## Moves\n\n",
        *map(_move, game.move_types),
        "## Scripted players\n\n",
        table(("script", "what it does", "benchmark"), [_script(game, name) for name in sorted(game.scripts)]),
        "A benchmark may know what is hidden from its role.\n\n" if game.oracles else "",
        _published(key),
        _columns(key),
        _instructions(game),
    ]
    return "".join(sections)


def _formulas(game: Game[Any, Any]) -> str:
    """Return what the docstrings of payoffs and pay add to the module's."""
    titles = {"payoffs": "Payoffs", "bonus_share": "Share of the bonus"}
    formulas = []
    for name, title in titles.items():
        method = getattr(type(game), name)
        if method.__doc__ and method.__doc__ != getattr(Game, name).__doc__:
            formula = docstring(method.__doc__).removeprefix("Return ")
            formulas.append(f"**{title}.** {formula[:1].upper()}{formula[1:]}\n\n")
    return "".join(formulas)


def _parameter(field: Field) -> tuple[str, str, str, str]:
    meaning = f"{line(field.label)}. {line(field.help)}" if field.help else f"{line(field.label)}."
    return code(field.name), meaning, _values(field), _default(field)


def _values(field: Field) -> str:
    if field.choices:
        return ", ".join(code(choice) for choice in field.choices if choice is not None)
    return line(field.limits) or {"data": "JSON", "boolean": "yes or no"}.get(field.kind, field.kind)


def _default(field: Field) -> str:
    if field.required:
        return "required"
    if field.default is None:
        return "empty"
    if isinstance(field.default, bool):
        return "yes" if field.default else "no"
    if isinstance(field.default, list | tuple | dict):
        default_text = json.dumps(field.default)
        return code(default_text) if len(default_text) <= LONGEST_DEFAULT else f"{len(field.default)} entries"
    return code(field.default)


def _move(model: type[Move]) -> str:
    rows = [(code(field.name), line(field.label), _values(field)) for field in fields_of(model)]
    about = f"{docstring(model.__doc__)}\n\n" if model.__doc__ else ""
    return f"### {model.__name__}\n\n{about}" + table(("field", "meaning", "values"), rows)


def _script(game: Game[Any, Any], name: str) -> tuple[str, str, str]:
    documentation = getdoc(game.scripts[name]) or ""
    own_documentation = documentation if not documentation.startswith("partial(") else ""
    return code(name), docstring(own_documentation).replace("\n", " "), "yes" if name in game.oracles else ""


def _published(key: str) -> str:
    module = grids.published(key)
    tables = [(code(name), str(len(grids.table(key, name)))) for name in getattr(module, "TABLES", {})]
    presets = [
        (code(name), line(preset.title), line(preset.summary), line(preset.source), kind)
        for kind, folder in (("collection", "collections"), ("study with people", "studies"))
        for name, preset in ready_made(folder).items()
        if preset.game == key
    ]
    if not tables and not presets:
        return ""
    return (
        "## Published configurations\n\n"
        + table(("table", "configurations"), tables)
        + table(("preset", "title", "what it is", "source", "kind"), presets)
    )


def _columns(key: str) -> str:
    sections = [f"### {file}\n\n{columns.grid(own_columns)}" for file, own_columns in columns.of_game(key).items()]
    intro = "In addition to the [columns of every dataset](../columns.md), with the default parameters."
    return f"## Columns in datasets\n\n{intro}\n\n{''.join(sections)}"


def _instructions(game: Game[Any, Any]) -> str:
    instructions = [
        f"### As {line(game.role_title(role))}\n\n{quotation(game.instructions(role))}"
        for role in first_of_each_kind(game)
    ]
    return "## Instructions\n\nWhat people and models read, with the default parameters.\n\n" + "".join(instructions)
