"""Form fields for several values of a game's parameters, which form a study's grid."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from unfold.widgets import UnfoldAdminTextInputWidget

from games.interface import Config, Json
from matches.forms import Field, fields_of
from studies.admin.parameters import PREFIX, Parameters

VALUES_PREFIX = "several_"
MAX_LENGTH = 1000
_GROUPED = re.compile(r"\d{1,3}(,\d{3})+\b")


class InvalidValue(ValueError):
    """Raised when a value is not valid for its parameter; the message gives the reason."""


@dataclass(frozen=True)
class GridFields:
    """The fields for several values, one for each single-valued parameter of `model`."""

    model: type[Config]

    def form_fields(self, grid: Mapping[str, Any]) -> dict[str, forms.Field]:
        """Return a form field per parameter, showing its values in `grid`."""
        return {
            VALUES_PREFIX + field.name: forms.CharField(
                label=_("{parameter}: several values").format(parameter=_title(field)),
                required=False,
                max_length=MAX_LENGTH,
                initial=format_values(field, grid[field.name]) if field.name in grid else "",
                widget=UnfoldAdminTextInputWidget(
                    attrs={"autocomplete": "off", "spellcheck": "false", "placeholder": _example(field)}
                    | _all_values(field)
                ),
                help_text=_("Comma-separated. Every combination with the other parameters becomes a cell."),
            )
            for field in self._single_valued()
        }

    def values(self, cleaned: Mapping[str, Any]) -> tuple[dict[str, list[Json]], dict[str, str]]:
        """Return the entered grid and the errors by form field."""
        grid: dict[str, list[Json]] = {}
        errors: dict[str, str] = {}
        for field in self._single_valued():
            text = (cleaned.get(VALUES_PREFIX + field.name) or "").strip()
            if not text:
                continue
            try:
                grid[field.name] = self._read(field, text)
            except InvalidValue as error:
                errors[VALUES_PREFIX + field.name] = str(error)
        return grid, errors

    def _single_valued(self) -> list[Field]:
        return [field for field in fields_of(self.model) if field.kind != "data"]

    def _read(self, field: Field, text: str) -> list[Json]:
        """Return the values in `text`, each checked against the parameter.

        Raises:
            InvalidValue: naming the first invalid one.
        """
        if field.kind in ("number", "integer") and (grouped := _GROUPED.search(text)):
            digits = grouped[0].replace(",", "")
            message = _(
                "A comma separates two values. If “{typed}” is one number, write {plain}; "
                "otherwise add a space after the comma."
            )
            raise InvalidValue(message.format(typed=grouped[0], plain=digits))
        values: list[Json] = []
        for entered_text in (piece.strip() for piece in re.split("[,;]", text)):
            if not entered_text:
                continue
            value = _value(field, entered_text)
            if any(value == other and type(value) is type(other) for other in values):
                raise InvalidValue(_("“{value}” appears twice. Remove one.").format(value=entered_text))
            problem = Parameters(self.model).problems({field.name: value}).get(PREFIX + field.name)
            if problem:
                raise InvalidValue(_("“{value}” is not valid: {reason}").format(value=entered_text, reason=problem))
            values.append(value)
        return values


def format_values(field: Field, values: Any) -> str:
    """Return values as a researcher would type them."""
    return ", ".join(_format_value(field, value) for value in values)


def _format_value(field: Field, value: Json) -> str:
    if value is None:
        return _("none")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return value if isinstance(value, str) else json.dumps(value)


def _value(field: Field, entered_text: str) -> Json:
    """Return one value as typed.

    Raises:
        InvalidValue
    """
    word = entered_text.casefold()
    if field.nullable and word in ("none", _("none").casefold()):
        return None
    if field.kind == "boolean":
        for value, words in ((True, {"yes", "true", _("yes")}), (False, {"no", "false", _("no")})):
            if word in words:
                return value
        raise InvalidValue(_("“{value}” is not valid. Enter yes or no.").format(value=entered_text))
    if field.kind == "choice":
        for choice in field.choices:
            if word in (str(choice).casefold(), str(choice).replace("_", " ").casefold()):
                return choice
        choices = ", ".join(map(str, field.choices))
        raise InvalidValue(
            _("“{value}” is not valid. Choose from {choices}.").format(value=entered_text, choices=choices)
        )
    if field.kind == "text":
        return entered_text
    try:
        return int(entered_text) if re.fullmatch(r"[+-]?\d+", entered_text, re.ASCII) else float(entered_text)
    except ValueError:
        raise InvalidValue(
            _("“{value}” is not a number. Enter a number such as 12 or 0.5.").format(value=entered_text)
        ) from None


def _example(field: Field) -> str:
    if field.kind == "boolean":
        return _("yes, no")
    if field.kind == "choice":
        return ", ".join(str(choice) for choice in field.choices[:2])
    end = _("none") if field.nullable else "…"
    return f"{_format_value(field, field.default)}, {end}" if field.default is not None else end


def _all_values(field: Field) -> dict[str, str]:
    """Return all possible values if there are few, to prefill the field when it is opened."""
    values = [True, False] if field.kind == "boolean" else list(field.choices) if field.kind == "choice" else []
    return {"data-all": format_values(field, values)} if values else {}


def _title(field: Field) -> str:
    return field.label if field.label != field.name else field.name.replace("_", " ").capitalize()
