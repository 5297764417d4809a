"""The data that a browser would post from an admin page's form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.test import Client

_empty: dict[str, dict[str, Any]] = {}


def filled_in(response: Any, **changes: Any) -> dict[str, Any]:
    """Return the data of the form on a page, with some fields changed; None removes a field."""
    return _typed(_values(response.context["adminform"].form), changes)


def made_from(client: Client, address: str, **changes: Any) -> dict[str, Any]:
    """Return the data of the form for a new object at `address`, with some fields changed.

    The page is fetched once for all tests, as an empty form is the same for every user.
    """
    if address not in _empty:
        _empty[address] = _values(client.get(address).context["adminform"].form)
    return _typed(_empty[address], changes)


def _values(form: Iterable[Any]) -> dict[str, Any]:
    """Return the form's values as browsers send them: an unticked box is not sent."""
    shown: dict[str, Any] = {}
    for bound in form:
        value = bound.value()
        own = isinstance(value, dict)  # a game's own controls, each named after the field
        shown |= {f"{bound.html_name}:{key}": one for key, one in value.items()} if own else {bound.html_name: value}
    sent = {name: value for name, value in shown.items() if value is not None and value is not False}
    return {name: "on" if value is True else value for name, value in sent.items()}


def _typed(values: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**values, **changes}.items() if value is not None}
