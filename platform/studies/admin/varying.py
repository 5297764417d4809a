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

SEVERAL = "several_"
LONGEST = 1000
_GROUPED = re.compile(r"\d{1,3}(,\d{3})+\b")


class NoValue(ValueError):
    """A value is not valid for its parameter; the message says why."""


@dataclass(frozen=True)
class Varied:
    """The fields for several values, one for each single-valued parameter of `model`."""

    model: type[Config]

    def form_fields(self, grid: Mapping[str, Any]) -> dict[str, forms.Field]:
        """Return a form field per parameter, showing its values in `grid`."""
        return {
            SEVERAL + field.name: forms.CharField(
                label=_("{parameter}: several values").format(parameter=_title(field)),
                required=False,
                max_length=LONGEST,
                initial=written(field, grid[field.name]) if field.name in grid else "",
                widget=UnfoldAdminTextInputWidget(
                    attrs={"autocomplete": "off", "spellcheck": "false", "placeholder": _example(field)} | _all(field)
                ),
                help_text=_("Comma-separated. Every combination with the other parameters becomes a cell."),
            )
            for field in self._single()
        }

    def values(self, cleaned: Mapping[str, Any]) -> tuple[dict[str, list[Json]], dict[str, str]]:
        """Return the entered grid and the errors by form field."""
        grid: dict[str, list[Json]] = {}
        errors: dict[str, str] = {}
        for field in self._single():
            text = (cleaned.get(SEVERAL + field.name) or "").strip()
            if not text:
                continue
            try:
                grid[field.name] = self._read(field, text)
            except NoValue as error:
                errors[SEVERAL + field.name] = str(error)
        return grid, errors

    def _single(self) -> list[Field]:
        return [field for field in fields_of(self.model) if field.kind != "data"]

    def _read(self, field: Field, text: str) -> list[Json]:
        """Return the values in `text`, each checked against the parameter.

        Raises:
            NoValue: naming the first invalid one.
        """
        if field.kind in ("number", "integer") and (grouped := _GROUPED.search(text)):
            plain = grouped[0].replace(",", "")
            says = _(
                "A comma separates two values. If “{typed}” is one number, write {plain}; "
                "otherwise add a space after the comma."
            )
            raise NoValue(says.format(typed=grouped[0], plain=plain))
        values: list[Json] = []
        for piece in (part.strip() for part in re.split("[,;]", text)):
            if not piece:
                continue
            value = _value(field, piece)
            if any(value == other and type(value) is type(other) for other in values):
                raise NoValue(_("“{value}” appears twice. Remove one.").format(value=piece))
            problem = Parameters(self.model).problems({field.name: value}).get(PREFIX + field.name)
            if problem:
                raise NoValue(_("“{value}” is not valid: {reason}").format(value=piece, reason=problem))
            values.append(value)
        return values


def written(field: Field, values: Any) -> str:
    """Return values as a researcher would type them."""
    return ", ".join(_written(field, value) for value in values)


def _written(field: Field, value: Json) -> str:
    if value is None:
        return _("none")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return value if isinstance(value, str) else json.dumps(value)


def _value(field: Field, piece: str) -> Json:
    """Return one value as typed.

    Raises:
        NoValue
    """
    word = piece.casefold()
    if field.nullable and word in ("none", _("none").casefold()):
        return None
    if field.kind == "boolean":
        for value, words in ((True, {"yes", "true", _("yes")}), (False, {"no", "false", _("no")})):
            if word in words:
                return value
        raise NoValue(_("“{value}” is not valid. Enter yes or no.").format(value=piece))
    if field.kind == "choice":
        for choice in field.choices:
            if word in (str(choice).casefold(), str(choice).replace("_", " ").casefold()):
                return choice
        listed = ", ".join(map(str, field.choices))
        raise NoValue(_("“{value}” is not valid. Choose from {choices}.").format(value=piece, choices=listed))
    if field.kind == "text":
        return piece
    try:
        return int(piece) if re.fullmatch(r"[+-]?\d+", piece, re.ASCII) else float(piece)
    except ValueError:
        raise NoValue(_("“{value}” is not a number. Enter a number such as 12 or 0.5.").format(value=piece)) from None


def _example(field: Field) -> str:
    if field.kind == "boolean":
        return _("yes, no")
    if field.kind == "choice":
        return ", ".join(str(choice) for choice in field.choices[:2])
    end = _("none") if field.nullable else "…"
    return f"{_written(field, field.default)}, {end}" if field.default is not None else end


def _all(field: Field) -> dict[str, str]:
    """Return all possible values if there are few, to prefill the field when it is opened."""
    values = [True, False] if field.kind == "boolean" else list(field.choices) if field.kind == "choice" else []
    return {"data-all": written(field, values)} if values else {}


def _title(field: Field) -> str:
    return field.label if field.label != field.name else field.name.replace("_", " ").capitalize()
