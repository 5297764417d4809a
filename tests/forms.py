"""Build the data that a browser would post from an admin page's form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_empty_forms: dict[str, dict[str, Any]] = {}


def form_data(response: Any, **changes: Any) -> dict[str, Any]:
    """Return the data of the form on a page, with some fields changed; None removes a field."""
    return _changed(_values(response.context["adminform"].form), changes)


def _values(form: Iterable[Any]) -> dict[str, Any]:
    """Return the form's values as browsers send them: an unticked checkbox is not sent."""
    values: dict[str, Any] = {}
    for field in form:
        value = field.value()
        composite = isinstance(value, dict)  # a game's own controls, named FIELD:KEY
        values |= (
            {f"{field.html_name}:{key}": entry for key, entry in value.items()}
            if composite
            else {field.html_name: value}
        )
    sent_values = {name: value for name, value in values.items() if value is not None and value is not False}
    return {name: "on" if value is True else value for name, value in sent_values.items()}


def _changed(values: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**values, **changes}.items() if value is not None}
