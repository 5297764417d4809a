"""The fields for a study's own prompts and persona, with the available variables and the default text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.template.loader import render_to_string
from unfold.widgets import UnfoldAdminTextareaWidget

from games.interface import Game
from llm_agents.strategies.prompts import PLAIN, REASONED, VARIABLES, PersonaVariables
from opponents.agent_settings import PROMPT

CODE = {"class": "font-mono", "spellcheck": "false", "autocapitalize": "off"}
ROWS = {"system": 8, "question": 8, "correction": 4}


def explain(fields: Mapping[str, forms.Field], prefix: str, game: Game[Any, Any]) -> None:
    """Enlarge the text fields and list the available variables beside them.

    Args:
        prefix: starts the form names of the settings' fields.
        game: the game whose roles may get different texts.
    """
    roles = [str(game.role_title(role)) for role in game.roles()]
    _explain(fields[f"{prefix}persona"], PersonaVariables.model_fields, roles, rows=3, usual="", reasoned="")
    for name, variables in VARIABLES.items():
        field, usual, other = fields[f"{prefix}{PROMPT}{name}"], getattr(PLAIN, name), getattr(REASONED, name)
        reasoned = other if other != usual else ""
        _explain(field, variables.model_fields, roles, rows=ROWS[name], usual=usual, reasoned=reasoned)


def _explain(
    field: forms.Field, variables: Mapping[str, Any], roles: list[str], *, rows: int, usual: str, reasoned: str
) -> None:
    described = [(name, variable.description) for name, variable in variables.items()]
    context = {"variables": described, "roles": roles, "usual": usual, "reasoned": reasoned}
    words = render_to_string("admin/studies/study/variables.html", {**context, "help_text": field.help_text})
    field.help_text = words
    field.widget = UnfoldAdminTextareaWidget(attrs={"rows": rows, **CODE})
    if isinstance(field, forms.CharField):
        field.strip = False
