"""Form fields generated from a pydantic model: a game's parameters or an agent's settings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from pydantic import BaseModel
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

from games.entries import BadEntry, Entry
from matches.forms import Field, fields_of
from studies.admin.entry_fields import EntryField

PREFIX = "parameter_"
NONE_SUFFIX = "_none"
LONG_TEXT = 300
"""Number of characters above which a text gets a multi-line field."""
MAX_REPORTED = 3
"""Maximum number of problems reported for one entry."""


class LinesField(forms.CharField):
    """A list of words or numbers, one per line."""

    def __init__(self, *, numbers: bool = False, **kwargs: Any):
        super().__init__(**kwargs)
        self._numbers = numbers

    def to_python(self, value: Any) -> list[Any]:
        if isinstance(value, list | tuple):
            return list(value)
        lines = [line.strip() for line in str(value or "").splitlines() if line.strip()]
        return [_number(line) for line in lines] if self._numbers else lines

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(str, value)) if isinstance(value, list | tuple) else value

    def has_changed(self, initial: Any, data: Any) -> bool:
        return self.to_python(initial) != self.to_python(data)


def _number(text: str) -> float:
    """Return the number in `text`.

    Raises:
        ValidationError: it is not a number.
    """
    try:
        return int(text) if text.lstrip("+-").isdecimal() else float(text)
    except ValueError:
        raise ValidationError(
            _("“{value}” is not a number. Enter a number such as 12 or 0.5.").format(value=text)
        ) from None


@dataclass(frozen=True)
class Parameters:
    """The form fields of one model; `prefix` starts their names in the form.

    Attributes:
        excluded: fields of the model that the form leaves out.
        entries: fields with controls of the game's own.
    """

    model: type[BaseModel]
    prefix: str = PREFIX
    excluded: frozenset[str] = frozenset()
    entries: Mapping[str, Entry] = field(default_factory=dict)

    def fields(self) -> list[Field]:
        """Return the model's fields that the form shows, in order."""
        return [field for field in fields_of(self.model) if field.name not in self.excluded]

    def form_fields(self, config: Mapping[str, Any]) -> dict[str, forms.Field]:
        """Return form fields for every parameter, showing `config` or the model's defaults.

        A parameter that may be None gets a second field, a "none" checkbox. Parameters entered as lines or in
        controls of their own are None when left empty.
        """
        fields: dict[str, forms.Field] = {}
        for parameter in self.fields():
            value = config.get(parameter.name, parameter.default)
            if parameter.name in self.entries:
                fields[self.prefix + parameter.name] = self._entry(parameter, config)
                continue
            fields[self.prefix + parameter.name] = _form_field(self.model, parameter, value)
            if self._has_none_checkbox(parameter):
                fields[self.prefix + parameter.name + NONE_SUFFIX] = forms.BooleanField(
                    label=_("{parameter}: none").format(parameter=_label(parameter)),
                    required=False,
                    initial=value is None and (parameter.name in config or not parameter.required),
                    help_text=_("Tick to set no value. Depending on the rules, this means no limit or not disclosed."),
                    widget=UnfoldBooleanWidget(),
                )
        return fields

    def entry_fields(self, config: Mapping[str, Any]) -> dict[str, forms.Field]:
        """Return the form fields of the entries alone, showing `config`."""
        return {
            self.prefix + field.name: self._entry(field, config)
            for field in self.fields()
            if field.name in self.entries
        }

    def _entry(self, field: Field, config: Mapping[str, Any]) -> EntryField:
        shared: dict[str, Any] = {"label": _label(field), "help_text": _help(self.model, field), "required": False}
        return EntryField(self.entries[field.name], self.prefix, field.name, config, **shared)

    def _has_none_checkbox(self, field: Field) -> bool:
        """Return whether the field has a "none" checkbox."""
        return field.nullable and field.name not in self.entries and not is_single_value_list(field)

    def rows(self) -> list[str | tuple[str, ...]]:
        """Return the field names as rows for an admin fieldset: one row per parameter."""
        names = [(self.prefix + field.name, self._has_none_checkbox(field)) for field in self.fields()]
        return [(name, name + NONE_SUFFIX) if nullable else name for name, nullable in names]

    def values(self, cleaned: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the entered configuration and the errors by form field."""
        config: dict[str, Any] = {}
        errors: dict[str, str] = {}
        for parameter in self.fields():
            name = self.prefix + parameter.name
            value = cleaned.get(name)
            if parameter.name in self.entries:
                continue
            if parameter.nullable and (
                cleaned.get(name + NONE_SUFFIX) or (is_single_value_list(parameter) and not value)
            ):
                config[parameter.name] = None
            elif value not in (None, ""):
                config[parameter.name] = _typed(parameter, value)
            elif name not in cleaned:
                continue  # The field itself could not be parsed and already has an error.
            elif parameter.nullable:
                errors[name] = _("Enter a value, or tick “none”.")
            elif parameter.required or parameter.kind in ("number", "integer", "choice"):
                errors[name] = _("Enter a value.")
        entered, entry_errors = self.entered_values(config, cleaned)
        config |= entered
        problems = {name: reason for name, reason in self.problems(config).items() if name or not entry_errors}
        return config, {**problems, **errors, **entry_errors}

    def entered_values(
        self, config: Mapping[str, Any], cleaned: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the values of the entries that apply given the other parameters, and the errors by form field."""
        values: dict[str, Any] = {}
        errors: dict[str, str] = {}
        for key, entry in self.entries.items():
            defaults = {name: model_field.default for name, model_field in self.model.model_fields.items()}
            if not entry.applies({**defaults, **config}):
                continue
            try:
                values[key] = entry.read(cleaned.get(self.prefix + key) or {})
                if values[key] is None and entry.condition:
                    errors[self.prefix + key] = _("Enter a value.")
            except BadEntry as error:
                reasons = list(error.problems.values())
                more_reasons = _("And {number} more.").format(number=len(reasons) - MAX_REPORTED)
                errors[self.prefix + key] = " ".join(
                    [*reasons[:MAX_REPORTED], *([more_reasons] if reasons[MAX_REPORTED:] else [])]
                )
        return {key: value for key, value in values.items() if value is not None}, errors

    def problems(self, config: Mapping[str, Any]) -> dict[str, str]:
        """Return the model's validation errors by form field; "" holds errors that concern several fields."""
        try:
            self.model.model_validate_json(json.dumps(config))
        except BadValues as error:
            errors: dict[str, str] = {}
            for problem in error.errors():
                name = self.prefix + str(problem["loc"][0]) if problem["loc"] else ""
                sentence = problem["msg"].removeprefix("Value error, ").replace("Input should", _("This should"), 1)
                errors.setdefault(name, sentence if sentence.endswith(".") else f"{sentence}.")
            return errors
        return {}


def is_single_value_list(field: Field) -> bool:
    """Return whether the field is a list of single values."""
    return field.shape in ("lines", "slots") and all(part.kind not in ("data", "boolean") for part in field.parts)


def is_number_list(field: Field) -> bool:
    """Return whether the lines are numbers."""
    return is_single_value_list(field) and all(part.kind in ("number", "integer") for part in field.parts)


def _label(field: Field) -> str:
    return field.label if field.label != field.name else field.name.replace("_", " ").capitalize()


def _typed(field: Field, value: Any) -> Any:
    if field.kind == "choice":
        return next((choice for choice in field.choices if str(choice) == value), value)
    return value


def _help(model: type[BaseModel], field: Field) -> str:
    help_text = field.help if not field.help or field.help.endswith((".", "!", "?")) else f"{field.help}."
    return f"{help_text} {_limits(model, field)}".strip()


def _limits(model: type[BaseModel], field: Field) -> str:
    """Return a sentence with the minimum and maximum; empty if there are no limits."""
    phrases = {
        "Ge": _("at least {limit}"),
        "Gt": _("more than {limit}"),
        "Le": _("at most {limit}"),
        "Lt": _("less than {limit}"),
    }
    limits = [
        phrases[type(limit).__name__].format(limit=f"{getattr(limit, type(limit).__name__.lower()):,g}")
        for limit in _metadata(model.model_fields[field.name])
        if type(limit).__name__ in phrases
    ]
    sentence = _(" and ").join(limits)
    return f"{sentence[:1].upper()}{sentence[1:]}." if limits else ""


def _metadata(field: FieldInfo) -> Iterator[Any]:
    """Return the parameter's limits, including those inside an optional type."""
    yield from field.metadata
    for option in get_args(field.annotation):
        for item in getattr(option, "__metadata__", ()):
            yield from item.metadata if isinstance(item, FieldInfo) else [item]


def _form_field(model: type[BaseModel], field: Field, value: Any) -> forms.Field:
    shared: dict[str, Any] = {
        "label": _label(field),
        "help_text": _help(model, field),
        "initial": value,
        "required": False,
    }
    if field.kind == "integer":
        return forms.IntegerField(widget=UnfoldAdminIntegerFieldWidget(), **shared)
    if field.kind == "number":
        return forms.FloatField(widget=UnfoldAdminIntegerFieldWidget(attrs={"step": "any"}), **shared)
    if field.kind == "boolean":
        return forms.BooleanField(widget=UnfoldBooleanSwitchWidget(), **shared)
    if field.kind == "choice":
        choices = [(str(choice), str(choice).replace("_", " ")) for choice in field.choices]
        return forms.ChoiceField(choices=choices, widget=UnfoldAdminSelectWidget(), **shared)
    if field.kind == "text":
        is_long = (field.max_length or 0) > LONG_TEXT
        widget = UnfoldAdminTextareaWidget(attrs={"rows": 3}) if is_long else UnfoldAdminTextInputWidget()
        return forms.CharField(widget=widget, max_length=field.max_length, **shared)
    if is_single_value_list(field):
        shared["help_text"] = f"{shared['help_text']} {_('One per line.')}".strip()
        widget = UnfoldAdminTextareaWidget(attrs={"rows": 3, "spellcheck": "false"})
        return LinesField(numbers=is_number_list(field), widget=widget, **shared)
    shared["help_text"] = _("A JSON list or object.")
    return forms.JSONField(widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}), **shared)
