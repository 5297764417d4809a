"""What the conditions of a participant's path may name: earlier answers, results, and whatever other apps add."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from participants.models import Enrolment

Provider = Callable[[Enrolment], Mapping[str, Any]]
_providers: list[Provider] = []


def register_values(provider: Provider) -> Provider:
    """Decorator: add a function that returns values by name; dotted names are nested mappings."""
    _providers.append(provider)
    return provider


def values_of(enrolment: Enrolment) -> dict[str, Any]:
    """Return everything that is known about the participant now; values registered later replace earlier ones."""
    values: dict[str, Any] = {}
    for provider in _providers:
        merge(values, provider(enrolment))
    return values


def values_at(step: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values as a step of a pass through a block sees them: with its levels, and its own results nearest.

    Args:
        step: may have `given`, the levels of its pass by factor, and `passes`, their keys in results' names.
    """
    seen = {**values, **step.get("given", {})}
    for name, value in values.items():
        for level in step.get("passes", ()):
            value = value.get(level) if isinstance(value, Mapping) else None
        if isinstance(value, Mapping) and step.get("passes"):
            seen[name] = {**seen[name], **value}
    return seen


def merge(values: dict[str, Any], added: Mapping[str, Any]) -> None:
    """Add values to nested mappings."""
    for name, value in added.items():
        if isinstance(value, Mapping):
            inside = values[name] if isinstance(values.get(name), dict) else {}
            values[name] = inside
            merge(inside, value)
        else:
            values[name] = value
