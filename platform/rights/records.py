"""Which audit records belong to a study or collection."""

from __future__ import annotations

from typing import Any

from django.db.models import CharField, Model, Q, QuerySet
from django.db.models.functions import Cast

from rights.parts import Condition


def recorded_of(model: type[Model]) -> Condition:
    """Return the condition that a record is about a study (or collection), or about something in it."""

    def condition(parents: QuerySet[Any]) -> Q:
        keys = model._base_manager.filter(pk__in=parents).annotate(as_text=Cast("pk", CharField())).values("as_text")
        return Q(of_kind=model._meta.label_lower, of_key__in=keys)

    return condition
