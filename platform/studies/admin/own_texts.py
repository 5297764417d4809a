"""The fields for a study's own prompts and persona, with the available variables and the default text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.template.loader import render_to_string
from unfold.widgets import UnfoldAdminTextareaWidget

from games.interface import Game
from llm_agents.strategies.prompts import PLAIN, REASONED, VARIABLES, PersonaVariables
from plans.asking import PROMPT

CODE_ATTRIBUTES = {"class": "font-mono", "spellcheck": "false", "autocapitalize": "off"}
TEXT_ROWS = {"system": 8, "question": 8, "correction": 4}


def add_variable_help(fields: Mapping[str, forms.Field], prefix: str, game: Game[Any, Any]) -> None:
    """Enlarge the text fields and list the available variables beside them.

    Args:
        prefix: starts the form names of the settings' fields.
        game: the game whose roles may get different texts.
    """
    roles = [str(game.role_title(role)) for role in game.roles()]
    _add_help(
        fields[f"{prefix}persona"], PersonaVariables.model_fields, roles, rows=3, default="", reasoning_default=""
    )
    for name, variables in VARIABLES.items():
        field, default, with_reasoning = (
            fields[f"{prefix}{PROMPT}{name}"],
            getattr(PLAIN, name),
            getattr(REASONED, name),
        )
        reasoning_default = with_reasoning if with_reasoning != default else ""
        _add_help(
            field,
            variables.model_fields,
            roles,
            rows=TEXT_ROWS[name],
            default=default,
            reasoning_default=reasoning_default,
        )


def _add_help(
    field: forms.Field,
    variables: Mapping[str, Any],
    roles: list[str],
    *,
    rows: int,
    default: str,
    reasoning_default: str,
) -> None:
    descriptions = [(name, variable.description) for name, variable in variables.items()]
    context = {"variables": descriptions, "roles": roles, "default": default, "reasoning_default": reasoning_default}
    html = render_to_string("admin/studies/study/variables.html", {**context, "help_text": field.help_text})
    field.help_text = html
    field.widget = UnfoldAdminTextareaWidget(attrs={"rows": rows, **CODE_ATTRIBUTES})
    if isinstance(field, forms.CharField):
        field.strip = False
