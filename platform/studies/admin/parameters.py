"""A game's parameters as blanks of a form, made from the game's own description of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from django import forms
from django.utils.translation import gettext as _
from pydantic import ValidationError as BadValues
from pydantic.fields import FieldInfo
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
        made[PREFIX + blank.name] = _form_field(game, blank, value)
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
    return config, {**problems(game, config), **errors}


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


def _help(game: type[Game[Any, Any]], blank: Field) -> str:
    help_text = blank.help if not blank.help or blank.help.endswith((".", "!", "?")) else f"{blank.help}."
    return f"{help_text} {_limits(game, blank)}".strip()


def _limits(game: type[Game[Any, Any]], blank: Field) -> str:
    """The least and the largest value in a sentence; empty without limits."""
    says = {
        "Ge": _("at least {limit}"),
        "Gt": _("more than {limit}"),
        "Le": _("at most {limit}"),
        "Lt": _("less than {limit}"),
    }
    found = [
        says[type(limit).__name__].format(limit=f"{getattr(limit, type(limit).__name__.lower()):,g}")
        for limit in _metadata(game.Config.model_fields[blank.name])
        if type(limit).__name__ in says
    ]
    sentence = _(" and ").join(found)
    return f"{sentence[:1].upper()}{sentence[1:]}." if found else ""


def _metadata(field: FieldInfo) -> Iterator[Any]:
    """The limits of a parameter, those inside "or none" too."""
    yield from field.metadata
    for option in get_args(field.annotation):
        for note in getattr(option, "__metadata__", ()):
            yield from note.metadata if isinstance(note, FieldInfo) else [note]


def _form_field(game: type[Game[Any, Any]], blank: Field, value: Any) -> forms.Field:
    shared: dict[str, Any] = {
        "label": _label(blank),
        "help_text": _help(game, blank),
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
