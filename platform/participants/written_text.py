"""A registry of the fields that hold participants' own words, so that they can be erased."""

from __future__ import annotations

from typing import Any

from django.db.models import Model

_fields: dict[type[Model], tuple[str, ...]] = {}


def register_written_fields(model: type[Model], *fields: str) -> None:
    """Register fields of `model`, which has a foreign key `enrolment`, that hold what the participant wrote.

    Text fields are erased as a whole; in JSON fields, every text value. What a step keeps under `typed` needs no
    registration.
    """
    _fields[model] = fields


def written_fields() -> dict[type[Model], tuple[str, ...]]:
    """Return the registered fields by model."""
    return dict(_fields)


def with_texts_replaced(data: Any, marker: str) -> Any:
    """Return a copy of plain data with every non-empty text replaced by `marker`."""
    if isinstance(data, str):
        return marker if data else data
    if isinstance(data, dict):
        return {name: with_texts_replaced(value, marker) for name, value in data.items()}
    if isinstance(data, list):
        return [with_texts_replaced(value, marker) for value in data]
    return data
