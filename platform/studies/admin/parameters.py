"""A game's parameters as blanks of a form, made from the game's own description of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from pydantic import ValidationError as BadValues
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
    UnfoldBooleanWidget,
)

from games.interface import Game
from matches.forms import Field, fields_of

PREFIX = "parameter_"
NONE = "_none"


def blanks(game: type[Game[Any, Any]], config: Mapping[str, Any]) -> dict[str, forms.Field]:
    """Form fields for every parameter of `game`, showing `config` or the game's defaults.

    A parameter that may have no value gets a second field, a box to tick for "none".
    """
    made: dict[str, forms.Field] = {}
    for blank in fields_of(game.Config):
        value = config.get(blank.name, blank.default)
        made[PREFIX + blank.name] = _form_field(blank, value)
        if blank.nullable:
            made[PREFIX + blank.name + NONE] = forms.BooleanField(
                label=_("{parameter}: none").format(parameter=_label(blank)),
                required=False,
                initial=value is None and (blank.name in config or not blank.required),
                help_text=_("Tick this for no value: without limit, or not told, as the game's rules say."),
                widget=UnfoldBooleanWidget(),
            )
    return made


def rows(game: type[Game[Any, Any]]) -> list[str | tuple[str, ...]]:
    """The names of those fields as an admin's fieldset shows them: one line per parameter."""
    return [
        (PREFIX + blank.name, PREFIX + blank.name + NONE) if blank.nullable else PREFIX + blank.name
        for blank in fields_of(game.Config)
    ]


def values(game: type[Game[Any, Any]], cleaned: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The configuration that somebody typed in, and what is wrong with it by form field."""
    config: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for blank in fields_of(game.Config):
        name = PREFIX + blank.name
        value = cleaned.get(name)
        if blank.nullable and cleaned.get(name + NONE):
            config[blank.name] = None
        elif value not in (None, ""):
            config[blank.name] = _typed(blank, value)
        elif name not in cleaned:
            continue  # what was typed did not even read as the field's kind: said there already
        elif blank.nullable:
            errors[name] = _("Please fill this in, or tick “none”.")
        elif blank.required or blank.kind in ("number", "integer", "choice"):
            errors[name] = _("Please fill this in.")
    return config, errors or problems(game, config)


def problems(game: type[Game[Any, Any]], config: Mapping[str, Any]) -> dict[str, str]:
    """What the game's own description finds wrong with values, by form field; "" is about them all."""
    try:
        game.Config.model_validate_json(json.dumps(config))
    except BadValues as error:
        found: dict[str, str] = {}
        for problem in error.errors():
            name = PREFIX + str(problem["loc"][0]) if problem["loc"] else ""
            sentence = problem["msg"].removeprefix("Value error, ").replace("Input should", _("This should"), 1)
            found.setdefault(name, sentence if sentence.endswith(".") else f"{sentence}.")
        return found
    return {}


def _label(blank: Field) -> str:
    return blank.label if blank.label != blank.name else blank.name.replace("_", " ").capitalize()


def _typed(blank: Field, value: Any) -> Any:
    if blank.kind == "choice":
        return next((choice for choice in blank.choices if str(choice) == value), value)
    return value


def _help(blank: Field) -> str:
    limits = []
    if blank.minimum is not None and blank.maximum is not None:
        limits.append(_("From {low} to {high}.").format(low=f"{blank.minimum:,g}", high=f"{blank.maximum:,g}"))
    elif blank.minimum is not None:
        limits.append(_("From {low} up.").format(low=f"{blank.minimum:,g}"))
    elif blank.maximum is not None:
        limits.append(_("Up to {high}.").format(high=f"{blank.maximum:,g}"))
    help_text = blank.help if not blank.help or blank.help.endswith((".", "!", "?")) else f"{blank.help}."
    return " ".join([help_text, *limits]).strip()


def _form_field(blank: Field, value: Any) -> forms.Field:
    shared: dict[str, Any] = {
        "label": _label(blank),
        "help_text": _help(blank),
        "initial": value,
        "required": False,
    }
    if blank.kind == "integer":
        return forms.IntegerField(widget=UnfoldAdminIntegerFieldWidget(), **shared)
    if blank.kind == "number":
        return forms.FloatField(widget=UnfoldAdminIntegerFieldWidget(attrs={"step": "any"}), **shared)
    if blank.kind == "boolean":
        return forms.BooleanField(widget=UnfoldBooleanSwitchWidget(), **shared)
    if blank.kind == "choice":
        choices = [(str(choice), str(choice).replace("_", " ")) for choice in blank.choices]
        return forms.ChoiceField(choices=choices, widget=UnfoldAdminSelectWidget(), **shared)
    if blank.kind == "text":
        return forms.CharField(widget=UnfoldAdminTextInputWidget(), **shared)
    shared["help_text"] = f"{shared['help_text']} {_('A list or object in JSON.')}".strip()
    return forms.JSONField(widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}), **shared)
