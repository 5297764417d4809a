"""Which fields hold participants' own words, so that they can be erased."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.db.models import Model


def written_fields() -> dict[type[Model], tuple[str, ...]]:
    """Return the fields that a model's `words_of_people` names, by model, which has a foreign key `enrolment`.

    Text fields are erased as a whole; in JSON fields, every text value. What a step keeps under `typed` is not named.
    """
    return {model: fields for model in apps.get_models() if (fields := getattr(model, "words_of_people", ()))}


def with_texts_replaced(data: Any, marker: str) -> Any:
    """Return a copy of plain data with every non-empty text replaced by `marker`."""
    if isinstance(data, str):
        return marker if data else data
    if isinstance(data, dict):
        return {name: with_texts_replaced(value, marker) for name, value in data.items()}
    if isinstance(data, list):
        return [with_texts_replaced(value, marker) for value in data]
    return data
