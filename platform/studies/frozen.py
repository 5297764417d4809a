"""Keep launched versions immutable: their rows are written once.

The model refuses changes in Python, and a trigger refuses them in the database (`audit.guard`).
"""

from __future__ import annotations

from typing import Any, NoReturn

from django.db import models


class Frozen(TypeError):
    """An attempt to change or delete a launched version."""

    def __init__(self) -> None:
        super().__init__("A launched version cannot be changed or deleted. Edit the study and launch it again.")


def refuse(*_args: Any, **_kwargs: Any) -> NoReturn:
    """Raise Frozen."""
    raise Frozen


class FrozenRows(models.QuerySet):
    """A queryset that allows adding and reading rows only."""

    update = refuse
    bulk_update = refuse
    delete = refuse
    update_or_create = refuse
