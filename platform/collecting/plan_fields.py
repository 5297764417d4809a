"""The plan form's fields that a script (`plan.js`) draws: agents, line-ups, configurations.

They hold JSON in a text field, which researchers never see. The script keeps keys it doesn't know.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from pydantic import ValidationError as BadValues

from collecting.formats import PATIENT
from games import entries, grids
from games.interface import Game
from games.lineups import Lineups
from matches.forms import fields_of
from opponents.agents import Agent, agents_from_specs, parse_agents, problems_in
from plans.asking import AgentSettings
from studies.admin.parameters import Parameters
from studies.admin.table_fields import TableWidget, agents_data, controls_of, largest_seats

DEFAULT_SETTINGS = Parameters(AgentSettings, prefix="", excluded=frozenset({"appears", "cap_study"}))
"""Default settings: nobody waits for these models, and the collection has a budget."""


def show(fields: Mapping[str, forms.Field], game: type[Game[Any, Any]]) -> None:
    """Give the fields what the script needs; a new plan starts with the default scripted player."""
    scripts = sorted(game.scripts)
    agents = agents_data(game, scripts=scripts, settings=DEFAULT_SETTINGS, defaults=PATIENT)
    widget_data: dict[str, dict[str, Any]] = {
        "agents": {**agents, "words": {"no_agents": _("No agents yet.")}},
        "fixed": {"seats": largest_seats(game, ()), "words": _texts()},
        "pool": {},
        "by_hand": {},
        "listed": {"parameters": _parameters(game)},
    }
    for name, data in widget_data.items():
        fields[name].widget = TableWidget(name.replace("_", "-"), data)
    fields["agents"].initial = agents_from_specs(f"script:{game.default_script}")


def _parameters(game: type[Game[Any, Any]]) -> list[dict[str, Any]]:
    parameters = Parameters(game.Config)
    defaults = {field.name: field.default for field in fields_of(game.Config)}
    own_controls = entries.of(game.key)
    controls = controls_of(parameters, parameters.form_fields({}), defaults, {})
    return [{**control, "of_grid": control["name"] in own_controls} for control in controls]


# ---- reading -------------------------------------------------------------------------------------


def read_agents(game: type[Game[Any, Any]], entered: Any) -> dict[str, Agent]:
    """Return the agents by label.

    Raises:
        ValidationError: naming each invalid agent.
    """
    if not isinstance(entered, dict):
        raise ValidationError(_("Enter the agents as a JSON object that maps each name to its settings."))
    try:
        agents = parse_agents(entered, default=PATIENT)
    except ValueError as error:
        raise ValidationError(str(error)) from None
    if not agents:
        raise ValidationError(_("Add at least one agent."))
    if problems := problems_in(agents, game(game.Config())):
        raise ValidationError(problems)
    return agents


def read_lineups(cleaned: Mapping[str, Any]) -> Lineups:
    """Return the entered line-up rule.

    Raises:
        ValidationError: by form field.
    """
    agents: Mapping[str, Agent] = cleaned["agents"]
    shared: dict[str, Any] = {"rule": cleaned["rule"], "rotate": cleaned["rotate"], "sample": cleaned.get("sample")}
    if cleaned["rule"] == "listed":
        rule = _parse_rule({**shared, "listed": cleaned["by_hand"] or []}, "by_hand")
    else:
        fixed, pool = cleaned["fixed"] or {}, cleaned["pool"]
        if not isinstance(pool, list):
            fixed_labels = list(fixed.values()) if isinstance(fixed, dict) else []
            pool = [label for label in agents if label not in fixed_labels]
        rule = _parse_rule({**shared, "fixed": fixed, "agents": pool, "same": cleaned["same"]}, "fixed")
    for number, lineup in enumerate(rule.listed, start=1):
        if unknown := [label for label in lineup.values() if label not in agents]:
            message = _("Line-up {number}: there is no agent “{label}”. Choose one of the collection's agents.")
            raise ValidationError({"by_hand": message.format(number=number, label=unknown[0])})
    for name, labels in {"fixed": rule.fixed.values(), "pool": rule.agents}.items():
        if unknown := [label for label in labels if label not in agents]:
            raise ValidationError(
                {
                    name: _("There is no agent “{label}”. Choose one of the collection's agents.").format(
                        label=unknown[0]
                    )
                }
            )
    return rule


def _parse_rule(entered: Mapping[str, Any], field: str) -> Lineups:
    """Return the parsed rule; raise ValidationError at this field if it is invalid."""
    try:
        return Lineups.model_validate(entered)
    except BadValues as error:
        problem = error.errors()[0]
        key = ".".join(str(part) for part in problem["loc"])
        raise ValidationError({field: f"{key}: {problem['msg']}"}) from None


def read_configurations(game: type[Game[Any, Any]], entered: Any) -> list[grids.Configuration]:
    """Return the listed configurations with all defaults.

    Raises:
        ValidationError, GameError: naming the configuration by its number.
    """
    if not isinstance(entered, list) or not entered or not all(isinstance(entry, dict) for entry in entered):
        raise ValidationError(_("Add at least one configuration."))
    if len(entered) > grids.MAX_CONFIGURATIONS:
        raise ValidationError(_("Add at most {most} configurations.").format(most=f"{grids.MAX_CONFIGURATIONS:,}"))
    return grids.listed(game, entered)


def _texts() -> dict[str, str]:
    return {
        "free": _("free: filled by the rule above"),
        "in_pool": _("Agents for the free seats:"),
        "lineup": _("Line-up {number}"),
        "add_lineup": _("Add a line-up"),
        "no_lineups": _("No line-ups yet."),
        "configuration": _("Configuration {number}"),
        "add_configuration": _("Add a configuration"),
        "from_grid": _("Add all combinations of the grid"),
        "of_grid": _(
            "“{name}” has controls of its own. Choose “a grid”, enter it there, and add its combinations here."
        ),
        "too_large": _("This grid is too large for a list. Choose “a grid” above."),
        "no_configurations": _("No configurations yet."),
        "as_game": _("the game's defaults"),
        "seat_unknown": _("{name} (no such seat)"),
    }
