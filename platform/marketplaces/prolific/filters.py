"""Who may take part: Prolific's filters, as Prolific lists them, with fields for each.

Source: docs.prolific.com, "Filters": a filter selects from choices, from typed identifiers, or a range.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from itertools import groupby
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

_SIDES = {"lower": gettext_lazy("from"), "upper": gettext_lazy("to")}
_RANGES: Mapping[str, type[forms.Field]] = {
    "integer": forms.IntegerField, "float": forms.FloatField, "date": forms.DateField,
}  # fmt: skip
_MAX_TYPED = 10_000
"""Characters of identifiers, for one filter."""


class FiltersForm(forms.Form):
    """The fields of each filter, to be folded by category; `selected` is what was chosen.

    Kinds of filters that Prolific may add later are left out.

    Args:
        rows: the filters, as Prolific lists them: {filter_id, title, question, category, type, data_type, …}.
    """

    prefix = "filters"

    def __init__(self, data: Any = None, *, rows: Iterable[Mapping[str, Any]] = ()):
        super().__init__(data)
        self._rows = sorted(rows, key=lambda row: (str(row.get("category") or ""), str(row.get("title") or "")))
        for row in self._rows:
            self.fields.update(_fields_of(row))

    @property
    def categories(self) -> list[tuple[str, list[tuple[Any, list[forms.BoundField], bool]], bool]]:
        """Each category with its filters (row, fields, whether something was entered), and whether anything was."""
        shown = []
        for category, rows in groupby(self._rows, lambda row: str(row.get("category") or "")):
            named = [(row, [self[name] for name in _fields_of(row)]) for row in rows]
            filters = [(row, own, any(one.errors or one.value() for one in own)) for row, own in named if own]
            shown.append((category, filters, any(entered for _row, _own, entered in filters)))
        return shown

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        for row in self._rows:
            lower, upper = (cleaned.get(f"{row.get('filter_id')}-{side}") for side in _SIDES)
            if lower is not None and upper is not None and lower > upper:
                self.add_error(f"{row['filter_id']}-lower", _("“from” is above “to”."))
        return cleaned

    def selected(self) -> list[dict[str, Any]]:
        """Return the filters that were chosen, as Prolific takes them."""
        found: list[dict[str, Any]] = []
        for key in (str(row.get("filter_id")) for row in self._rows):
            limits = {side: self.cleaned_data.get(f"{key}-{side}") for side in _SIDES}
            limits = {side: v.isoformat() if isinstance(v, date) else v for side, v in limits.items() if v is not None}
            chosen = self.cleaned_data.get(key)
            if isinstance(chosen, str):
                chosen = chosen.replace(",", " ").split()
            if limits:
                found.append({"filter_id": key, "selected_range": limits})
            if chosen:
                found.append({"filter_id": key, "selected_values": chosen})
        return found


def _fields_of(row: Mapping[str, Any]) -> dict[str, forms.Field]:
    key, values, choices = str(row.get("filter_id") or ""), str(row.get("data_type") or ""), row.get("choices") or {}
    if row.get("type") == "range" and values in _RANGES:
        kind = "date" if values == "date" else "number"
        limits = {name: row[name] for name in ("min", "max") if row.get(name) is not None}
        if kind == "number":
            limits["step"] = "any" if values == "float" else "1"
        return {
            f"{key}-{side}": _RANGES[values](
                required=False, label=label, widget=forms.NumberInput({**limits, "type": kind})
            )
            for side, label in _SIDES.items()
        }
    if row.get("type") != "select" or not key or (values == "ChoiceID" and not choices):
        return {}
    if values == "ChoiceID":
        widget = forms.CheckboxSelectMultiple()
        named = [(str(choice), str(label)) for choice, label in choices.items()]
        return {key: forms.MultipleChoiceField(required=False, choices=named, widget=widget)}
    area = forms.Textarea({"rows": 3, "cols": 30, "spellcheck": "false"})
    label = gettext_lazy("Identifiers, one per line")
    return {key: forms.CharField(required=False, max_length=_MAX_TYPED, label=label, widget=area)}
