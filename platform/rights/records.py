"""Which audit records belong to a study or collection."""

from __future__ import annotations

from typing import Any

from django.db.models import CharField, Model, Q, QuerySet
from django.db.models.functions import Cast

from rights.parts import Condition


def recorded_of(whole: type[Model]) -> Condition:
    """Return the condition that a record is about a study (or collection), or about something in it."""

    def condition(wholes: QuerySet[Any]) -> Q:
        keys = whole._base_manager.filter(pk__in=wholes).annotate(as_text=Cast("pk", CharField())).values("as_text")
        return Q(of_kind=whole._meta.label_lower, of_key__in=keys)

    return condition
