"""Where the words of participants are kept, said by each app that keeps some, so that they can be erased."""

from __future__ import annotations

from typing import Any

from django.db.models import Model

_kept: dict[type[Model], tuple[str, ...]] = {}


def keeps_words(model: type[Model], *fields: str) -> None:
    """Rows of `model`, which has a foreign key `enrolment`, hold what that person wrote in these fields.

    Texts are erased as a whole; of JSON, every text in it that is a value.
    """
    _kept[model] = fields


def kept_words() -> dict[type[Model], tuple[str, ...]]:
    """The fields by model."""
    return dict(_kept)


def replaced(data: Any, marker: str) -> Any:
    """Plain data with the marker instead of every text that says something; the rest stays."""
    if isinstance(data, str):
        return marker if data else data
    if isinstance(data, dict):
        return {name: replaced(value, marker) for name, value in data.items()}
    if isinstance(data, list):
        return [replaced(value, marker) for value in data]
    return data
