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

    def blanks(self, grid: Mapping[str, Any]) -> dict[str, forms.Field]:
        """Return a form field per parameter, showing its values in `grid`."""
        return {
            SEVERAL + blank.name: forms.CharField(
                label=_("{parameter}: several values").format(parameter=_title(blank)),
                required=False,
                max_length=LONGEST,
                initial=written(blank, grid[blank.name]) if blank.name in grid else "",
                widget=UnfoldAdminTextInputWidget(
                    attrs={"autocomplete": "off", "spellcheck": "false", "placeholder": _example(blank)} | _all(blank)
                ),
                help_text=_("Comma-separated. Every combination with the other parameters becomes a cell."),
            )
            for blank in self._single()
        }

    def values(self, cleaned: Mapping[str, Any]) -> tuple[dict[str, list[Json]], dict[str, str]]:
        """Return the entered grid and the errors by form field."""
        grid: dict[str, list[Json]] = {}
        errors: dict[str, str] = {}
        for blank in self._single():
            text = (cleaned.get(SEVERAL + blank.name) or "").strip()
            if not text:
                continue
            try:
                grid[blank.name] = self._read(blank, text)
            except NoValue as error:
                errors[SEVERAL + blank.name] = str(error)
        return grid, errors

    def _single(self) -> list[Field]:
        return [blank for blank in fields_of(self.model) if blank.kind != "data"]

    def _read(self, blank: Field, text: str) -> list[Json]:
        """Return the values in `text`, each checked against the parameter.

        Raises:
            NoValue: naming the first invalid one.
        """
        if blank.kind in ("number", "integer") and (grouped := _GROUPED.search(text)):
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
            value = _value(blank, piece)
            if any(value == other and type(value) is type(other) for other in values):
                raise NoValue(_("“{value}” appears twice. Remove one.").format(value=piece))
            problem = Parameters(self.model).problems({blank.name: value}).get(PREFIX + blank.name)
            if problem:
                raise NoValue(_("“{value}” is not valid: {reason}").format(value=piece, reason=problem))
            values.append(value)
        return values


def written(blank: Field, values: Any) -> str:
    """Return values as one would type them."""
    return ", ".join(_written(blank, value) for value in values)


def _written(blank: Field, value: Json) -> str:
    if value is None:
        return _("none")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return value if isinstance(value, str) else json.dumps(value)


def _value(blank: Field, piece: str) -> Json:
    """Return one value as typed.

    Raises:
        NoValue
    """
    word = piece.casefold()
    if blank.nullable and word in ("none", _("none").casefold()):
        return None
    if blank.kind == "boolean":
        for value, words in ((True, {"yes", "true", _("yes")}), (False, {"no", "false", _("no")})):
            if word in words:
                return value
        raise NoValue(_("“{value}” is not valid. Enter yes or no.").format(value=piece))
    if blank.kind == "choice":
        for choice in blank.choices:
            if word in (str(choice).casefold(), str(choice).replace("_", " ").casefold()):
                return choice
        listed = ", ".join(map(str, blank.choices))
        raise NoValue(_("“{value}” is not valid. Choose from {choices}.").format(value=piece, choices=listed))
    if blank.kind == "text":
        return piece
    try:
        return int(piece) if re.fullmatch(r"[+-]?\d+", piece, re.ASCII) else float(piece)
    except ValueError:
        raise NoValue(_("“{value}” is not a number. Enter a number such as 12 or 0.5.").format(value=piece)) from None


def _example(blank: Field) -> str:
    if blank.kind == "boolean":
        return _("yes, no")
    if blank.kind == "choice":
        return ", ".join(str(choice) for choice in blank.choices[:2])
    end = _("none") if blank.nullable else "…"
    return f"{_written(blank, blank.default)}, {end}" if blank.default is not None else end


def _all(blank: Field) -> dict[str, str]:
    """Return all possible values if there are few, to prefill the field when it is opened."""
    values = [True, False] if blank.kind == "boolean" else list(blank.choices) if blank.kind == "choice" else []
    return {"data-all": written(blank, values)} if values else {}


def _title(blank: Field) -> str:
    return blank.label if blank.label != blank.name else blank.name.replace("_", " ").capitalize()
