"""Form fields for parameters that have controls of the game's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from games.entries import Entry


class EntryValues(dict[str, str]):
    """The current values of an entry's controls."""


class EntryWidget(forms.Widget):
    """An entry's controls; `prefix` starts the form names of the parameters' fields."""

    use_fieldset = True

    def __init__(self, entry: Entry, prefix: str):
        super().__init__()
        self.entry = entry
        self.prefix_of_parameters = prefix

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> EntryValues:
        controls = {key.removeprefix(f"{name}:"): data[key] for key in data if key.startswith(f"{name}:")}
        related = {key: data.get(self.prefix_of_parameters + key, "") for key in self.entry.related}
        return EntryValues({**controls, **related})

    def value_omitted_from_data(self, data: Mapping[str, Any], files: Any, name: str) -> bool:
        return not any(key.startswith(f"{name}:") for key in data)

    def id_for_label(self, id_: str) -> str:
        return ""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        context = {**self.entry.context(value or {}), "name": name}
        return render_to_string(self.entry.template, context)


class EntryField(forms.Field):
    """The controls of an entry. `Parameters.values` reads the input because it knows the other parameters.

    Args:
        config: the current parameters, shown initially.
    """

    def __init__(self, entry: Entry, prefix: str, parameter: str, config: Mapping[str, Any], **kwargs: Any):
        related = {key: _text(config.get(key)) for key in entry.related}
        initial = EntryValues({**related, **entry.initial(config.get(parameter))})
        super().__init__(widget=EntryWidget(entry, prefix), **{**kwargs, "initial": initial})

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(initial != data)


def _text(value: Any) -> str:
    return "\n".join(value) if isinstance(value, list | tuple) else "" if value is None else str(value)


def entries_html(form: forms.BaseForm) -> dict[str, str]:
    """Return the HTML of a form's entry controls by field name, for updating the page while someone types."""
    return {name: str(form[name]) for name, field in form.fields.items() if isinstance(field, EntryField)}
