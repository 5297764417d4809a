"""Parameters with controls of the game's own, as fields of a form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from games.entries import Entry


class Filled(dict[str, str]):
    """What stands in the controls of an entry."""


class EntryWidget(forms.Widget):
    """An entry's controls; `prefix` begins the names of the parameters' fields in the form."""

    use_fieldset = True

    def __init__(self, entry: Entry, prefix: str):
        super().__init__()
        self.entry = entry
        self.prefix_of_parameters = prefix

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> Filled:
        own = {key.removeprefix(f"{name}:"): data[key] for key in data if key.startswith(f"{name}:")}
        beside = {key: data.get(self.prefix_of_parameters + key, "") for key in self.entry.beside}
        return Filled({**own, **beside})

    def value_omitted_from_data(self, data: Mapping[str, Any], files: Any, name: str) -> bool:
        return not any(key.startswith(f"{name}:") for key in data)

    def id_for_label(self, id_: str) -> str:
        return ""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        shown = {**self.entry.shows(value or {}), "name": name}
        return render_to_string(self.entry.template, shown)


class EntryField(forms.Field):
    """The controls of an entry. What is typed is read by `Parameters.values`, which knows the other parameters.

    Args:
        config: the parameters as they are, which the controls show at first.
    """

    def __init__(self, entry: Entry, prefix: str, parameter: str, config: Mapping[str, Any], **kwargs: Any):
        beside = {key: _text(config.get(key)) for key in entry.beside}
        initial = Filled({**beside, **entry.filled(config.get(parameter))})
        super().__init__(widget=EntryWidget(entry, prefix), **{**kwargs, "initial": initial})

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(initial != data)


def _text(value: Any) -> str:
    return "\n".join(value) if isinstance(value, list | tuple) else "" if value is None else str(value)


def entries_shown(form: forms.BaseForm) -> dict[str, str]:
    """The controls of a form's entries as they stand now, by field: what a page renews while one types."""
    return {name: str(form[name]) for name, field in form.fields.items() if isinstance(field, EntryField)}
