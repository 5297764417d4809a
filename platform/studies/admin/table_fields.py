"""The form fields for agents and line-ups.

They hold JSON in a text field, which the page's scripts (`agents.js`, `lineups.js`) show as forms, so that
nobody reads or writes JSON. The scripts keep keys they don't know.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from unfold.widgets import UnfoldAdminTextareaWidget

import games.play
from games import registry, strategies
from games.errors import GameError
from games.interface import Game
from llm_agents.endpoints import endpoint
from matches.forms import Field
from opponents.agents import MAX_LABEL_LENGTH, PERSON
from opponents.listing import priced_models, usable_endpoints
from plans.asking import DEFAULT, AgentSettings
from studies.admin.own_texts import add_variable_help
from studies.admin.parameters import LONG_TEXT, Parameters, is_number_list, is_single_value_list
from studies.models import Study

AGENT_SETTINGS = Parameters(AgentSettings, prefix="")


class TableWidget(UnfoldAdminTextareaWidget):
    """A text field with the data its script needs; `of` names that data, such as "agents" or "lineups"."""

    def __init__(self, of: str, data: Mapping[str, Any] | None = None):
        super().__init__({"rows": 3, "spellcheck": "false"})
        self.of = of
        self.data = data or {}

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        data = {**self.data, "words": {**_labels(), **self.data.get("words", {})}}
        attrs = {**(attrs or {}), f"data-{self.of}": json.dumps(data)}
        context: dict[str, Any] = super().get_context(name, value, attrs)
        return context


def agents_data(
    game: type[Game[Any, Any]],
    *,
    scripts: Sequence[str] | None = None,
    settings: Parameters = AGENT_SETTINGS,
    defaults: AgentSettings = DEFAULT,
) -> dict[str, Any]:
    """Return what the script offers for agents: scripts, endpoints with their known models, and the settings.

    Args:
        scripts: the scripted players; by default those that may play against participants.
        settings: the settings that can be changed.
        defaults: the default settings of an agent.
    """
    script_names = scripts_for_participants(game) if scripts is None else scripts
    return {
        "default_script": game.default_script,
        "scripts": list(script_names),
        "endpoints": [
            {"name": name, "title": title, "models": priced_models(name), "tools": endpoint(name).tools}
            for name, title in usable_endpoints()
        ],
        "by_tools": [name for name, strategy in strategies.of(game).items() if strategy.layout == "tools"],
        "settings": _settings(game, settings, defaults, script_names),
        "longest": MAX_LABEL_LENGTH,
    }


def scripts_for_participants(game: type[Game[Any, Any]]) -> list[str]:
    """Return the scripted players that may play against participants: those that use only what their role knows."""
    return [name for name in sorted(game.scripts) if name not in game.oracles]


def seats_data(study: Study) -> dict[str, Any]:
    """Return the seats that line-ups fill: those of the study's first configuration."""
    return {"person": PERSON, "others": OTHERS, "seats": seats_of(study)}


def seats_of(study: Study) -> list[dict[str, Any]]:
    """Return each seat's role, title and kind, and whether participants may take it.

    If configurations have different numbers of seats, the largest counts. A study that cannot be played gets the
    game's default seats.
    """
    try:
        configs = {
            json.dumps(cell.config, sort_keys=True): cell.config for cell in plan_cells(_configurations_only(study))
        }
    except (GameError, ValueError, AttributeError, TypeError):
        configs = {}
    return largest_seats(registry.get(study.game), list(configs.values()))


def largest_seats(game_class: type[Game[Any, Any]], configs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the seats of the configuration with the most seats, in the form that `seats_of` returns."""
    configured = [games.play.configure(game_class, config) for config in configs[:200]]
    game = max(configured, key=lambda candidate: len(candidate.roles()), default=None) or game_class(
        game_class.Config()
    )
    return [
        {
            "role": role,
            "title": str(game.role_title(role)),
            "kind": game.kind(role),
            "people": role in game.people(),
        }
        for role in game.roles()
    ]


def _configurations_only(study: Study) -> Study:
    """Return a study with the same configurations but without agents and line-ups."""
    return Study(game=study.game, config=study.config, design=study.design)


def _settings(
    game: type[Game[Any, Any]], settings: Parameters, defaults: AgentSettings, scripts: Sequence[str]
) -> list[dict[str, Any]]:
    form_fields = settings.form_fields({})
    add_variable_help(form_fields, settings.prefix, game(game.Config()))
    choices = {
        "script": [("", _("none")), *((name, name) for name in scripts)],
        "strategy": [(name, str(strategy.title)) for name, strategy in strategies.of(game).items()],
    }
    return controls_of(settings, form_fields, defaults.model_dump(mode="json"), choices)


def controls_of(
    parameters: Parameters,
    form_fields: Mapping[str, forms.Field],
    defaults: Mapping[str, Any],
    choices: Mapping[str, Sequence[tuple[str, str]]],
) -> list[dict[str, Any]]:
    """Return what the script needs to draw a control for each parameter.

    Args:
        form_fields: the form fields, which provide labels and help texts.
        defaults: each parameter's default value.
        choices: (value, title) for parameters chosen from a list that their model does not know.
    """
    return [
        {
            "name": field.name,
            "label": str(form_fields[parameters.prefix + field.name].label),
            "help": str(form_fields[parameters.prefix + field.name].help_text),
            "kind": "choice" if field.name in choices else _kind(field),
            "choices": choices.get(field.name, [(choice, str(choice).replace("_", " ")) for choice in field.choices]),
            "nullable": field.nullable,
            "numbers": is_number_list(field),
            "usual": defaults[field.name],
            "long": (field.max_length or 0) > LONG_TEXT,
        }
        for field in parameters.fields()
    ]


def _kind(field: Field) -> str:
    """Return the type of control for a parameter: "lines" or "data" if it is not a single value."""
    if field.kind != "data":
        return field.kind
    return "lines" if is_single_value_list(field) else "data"


def read_data(value: Any, kind: type, message: str) -> Any:
    """Return the parsed JSON if it is of type `kind`.

    Raises:
        ValidationError
    """
    if value in (None, ""):
        return kind()
    if not isinstance(value, kind):
        raise ValidationError(message)
    return value


def _labels() -> dict[str, str]:
    return {
        "add_agent": _("Add an agent"),
        "no_agents": _("No agents: participants play with each other or alone."),
        "name": _("Name"),
        "name_help": _("Shown in line-ups and datasets. Choose any name."),
        "who": _("Played by"),
        "scripts": _("Scripted players: free, no key needed"),
        "endpoints": _("Language models at"),
        "script": _("script: {name}"),
        "unknown": _("{name} (not in the list)"),
        "model": _("Model"),
        "model_help": _("Choose from the list, or enter the name exactly as the endpoint uses it."),
        "all_so": _("Use these settings for all other models"),
        "no_data": _("This is not valid JSON."),
        "no_tools": _("“{name}” doesn't support tools, so this model cannot use these settings."),
        "plain_tools": _("Write the calls as plain JSON"),
        "delay": _("Delay before answering, in seconds"),
        "asked": _("Model settings and fallbacks"),
        "changed": _("{number} changed"),
        "usual": _("default"),
        "yes": _("yes"),
        "no": _("no"),
        "none": _("none"),
        "one_per_line": _("One per line."),
        "copy": _("Copy"),
        "remove": _("Remove"),
        "add_lineup": _("Add a line-up"),
        "no_lineups": _(
            "A participant plays each role ticked above against each agent. Most studies need nothing more."
        ),
        "lineup": _("Line-up {number}"),
        "lineup_name": _("Name"),
        "weight": _("Weight"),
        "weight_help": _("A line-up with weight 2 gets twice as many matches as one with weight 1."),
        "person": _("a participant"),
        "people": _("participants"),
        "one_of": _("one of several agents, drawn at random"),
        "others": _("All other seats"),
        "as_others": _("same as all other seats"),
        "nobody": _("nobody: all seats are filled above"),
        "add_row": _("Add players"),
        "seats_of": _("{title} ({number} seats)"),
        "filled": _("{filled} of {all} seats filled; “all other seats” applies to the rest."),
        "full": _("All {all} seats are filled."),
        "too_many": _("{filled} players for {all} seats."),
        "count": _("How many"),
        "alone": _("This game has one seat: each participant plays alone."),
    }
