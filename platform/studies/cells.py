"""Readable titles for the cells of a version."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.utils.translation import gettext as _

from games import registry
from games.errors import UnknownGame
from matches.forms import fields_of
from studies.models import Cell, Version


@lru_cache(maxsize=200)
def cell_titles(version: int, sha256: str) -> dict[int, str]:
    """Return each cell's title by its number: the values that set it apart. Cached, since versions never change."""
    content = Version.objects.values_list("content", flat=True).get(pk=version)
    configurations = content["configurations"]
    varied = [
        name
        for name in dict.fromkeys(name for configuration in configurations for name in configuration)
        if len({repr(configuration.get(name)) for configuration in configurations}) > 1
    ]
    labels = _labels(content["game"])
    titles = {}
    cells = Cell.objects.filter(version=version).only("number", "configuration", "lineup", "seats", "role")
    for cell in cells:
        values = configurations[cell.configuration]
        values_text = [f"{labels.get(name, name)} {_readable(values.get(name))}" for name in varied]
        participants = cell.role or _("{number} participants").format(number=len(cell.people))
        titles[cell.number] = " · ".join([participants, *([cell.lineup] if cell.lineup else []), *values_text])
    return titles


def _labels(game: str) -> dict[str, str]:
    try:
        return {field.name: field.label for field in fields_of(registry.get(game).Config)}
    except UnknownGame:
        return {}


def _readable(value: Any) -> str:
    if isinstance(value, bool):
        return "✓" if value else "✗"
    if isinstance(value, int | float):
        return f"{value:,.10g}"
    return _("none") if value is None else str(value)
