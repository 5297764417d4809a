"""Fields of the tables that hold plans."""

from __future__ import annotations

import json
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

_AS_WRITTEN = "~"
"""The key of an object in PostgreSQL under which the object stands as text."""


class OrderedJSONField(models.JSONField):
    """JSON whose objects keep the order of their keys, also in PostgreSQL, which sorts them.

    The order of a plan's factors and levels says how its cells are numbered, and in which order passes follow.
    """

    def deconstruct(self) -> tuple[str, str, list[Any], dict[str, Any]]:
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.JSONField", list(args), kwargs

    def get_db_prep_value(self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False) -> Any:
        if connection.vendor == "postgresql" and isinstance(value, dict):
            value = {**value, _AS_WRITTEN: json.dumps(value)}
        return super().get_db_prep_value(value, connection, prepared)

    def from_db_value(self, value: Any, expression: Any, connection: BaseDatabaseWrapper) -> Any:
        found = super().from_db_value(value, expression, connection)
        return json.loads(found[_AS_WRITTEN]) if isinstance(found, dict) and _AS_WRITTEN in found else found
