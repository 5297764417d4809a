"""Who may take part: Prolific's filters, as Prolific lists them, with a control for each.

Source: docs.prolific.com, "Filters": a filter selects from choices, from typed identifiers, or a range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Any

from django import forms
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from marketplaces.prolific.client import Client

_INPUTS = {"integer": ("number", "1"), "float": ("number", "any"), "date": ("date", "")}
_MAX_TYPED = 10_000
"""Characters of identifiers, for one filter."""


@dataclass(frozen=True)
class Filter:
    """One filter of Prolific.

    Attributes:
        choices: label by identifier; empty if identifiers are typed, or for a range.
        values: of a range: "integer", "float" or "date"; otherwise empty.
        least, most: the limits of a range, as Prolific gives them.
    """

    key: str
    title: str
    question: str = ""
    category: str = ""
    choices: Mapping[str, str] | None = None
    values: str = ""
    least: Any = None
    most: Any = None

    @property
    def input(self) -> tuple[str, str]:
        """The type and step of a range's inputs."""
        return _INPUTS[self.values]

    def selected(self, raw: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return what a form selected, as Prolific takes it; None if nothing.

        Raises:
            ValueError: with the reason.
        """
        if self.values:
            limits = {side: self._limit(raw[side]) for side in ("lower", "upper") if raw.get(side)}
            if len(limits) == 2 and limits["lower"] > limits["upper"]:
                raise ValueError(_("{filter}: “from” is above “to”.").format(filter=self.title))
            return {"filter_id": self.key, "selected_range": limits} if limits else None
        chosen = list(raw.get("values") or ())
        if self.choices is None:
            chosen = " ".join(chosen)[:_MAX_TYPED].replace(",", " ").split()
        elif unknown := set(chosen) - set(self.choices):
            raise ValueError(
                _("{filter}: there is no choice “{choice}”.").format(filter=self.title, choice=unknown.pop())
            )
        return {"filter_id": self.key, "selected_values": chosen} if chosen else None

    def _limit(self, text: str) -> Any:
        try:
            if self.values == "date":
                return date.fromisoformat(text).isoformat()
            return int(text) if self.values == "integer" else float(text)
        except ValueError:
            raise ValueError(_("{filter}: “{text}” can't be read.").format(filter=self.title, text=text)) from None


def filters_of(client: Client) -> list[Filter]:
    """Return the filters that Prolific offers, by category; kinds that Prolific may add later are left out.

    Raises:
        MarketplaceError
    """
    found = [made for row in client.rows("/filters/") if (made := _filter(row))]
    return sorted(found, key=lambda entry: (entry.category, entry.title))


def _filter(row: Mapping[str, Any]) -> Filter | None:
    texts = {name: str(row.get(name) or "") for name in ("filter_id", "title", "question", "category")}
    common: dict[str, Any] = {
        "key": texts["filter_id"],
        **{name: texts[name] for name in ("title", "question", "category")},
    }
    values, choices = str(row.get("data_type") or ""), row.get("choices")
    if row.get("type") == "range" and values in _INPUTS:
        return Filter(**common, values=values, least=row.get("min"), most=row.get("max"))
    if row.get("type") != "select" or not common["key"]:
        return None
    if values == "ChoiceID":
        return Filter(**common, choices={str(k): str(v) for k, v in choices.items()}) if choices else None
    return Filter(**common)


class FiltersWidget(forms.Widget):
    """A folded control for each filter, by category."""

    template_name = "admin/prolific/publication/filters.html"
    filters: Sequence[Filter] = ()

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        raw = value if isinstance(value, Mapping) else {}
        context["widget"]["categories"] = [
            (
                category,
                pairs := [(entry, raw.get(entry.key, {})) for entry in entries],
                any(chosen for _entry, chosen in pairs),
            )
            for category, entries in groupby(self.filters, lambda entry: entry.category)
        ]
        return context

    def _render(self, template_name: str, context: dict[str, Any], renderer: Any = None) -> str:
        """Render with the project's own templates, which widgets do not use by default."""
        return render_to_string(template_name, context)

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> dict[str, dict[str, Any]]:
        getlist = data.getlist if hasattr(data, "getlist") else lambda key: [data[key]] if key in data else []
        found = {}
        for entry in self.filters:
            values = [text for text in getlist(f"{name}-{entry.key}") if text.strip()]
            sides = {side: "".join(getlist(f"{name}-{entry.key}-{side}")).strip() for side in ("lower", "upper")}
            if values or any(sides.values()):
                found[entry.key] = {"values": values, **sides}
        return found

    def value_omitted_from_data(self, data: Mapping[str, Any], files: Any, name: str) -> bool:
        return False


class FiltersField(forms.Field):
    """The value is the list of filters in Prolific's format; `offer` sets those that may be chosen."""

    widget = FiltersWidget

    def offer(self, filters: Sequence[Filter]) -> None:
        self.widget.filters = filters

    def clean(self, value: Any) -> list[dict[str, Any]]:
        selected, problems = [], []
        for entry in self.widget.filters:
            try:
                selected.append(entry.selected((value or {}).get(entry.key, {})))
            except ValueError as problem:
                problems.append(str(problem))
        if problems:
            raise forms.ValidationError(problems)
        return [entry for entry in selected if entry]
