"""Language models used for a dataset, from the log of calls."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Count, Max, Min, Q, QuerySet, Sum

from exports.alike import mask
from exports.csvsafe import compact_json
from exports.sources import Source, StudySource
from opponents.models import Call

_MAX_VALUES = 20
"""Largest number of distinct values listed."""


@dataclass(frozen=True)
class ModelUse:
    """How one model at one endpoint was used, up to the dataset's cut-off.

    Attributes:
        answered_by: the model names that its provider returned, unchanged.
        first, last: the dates of the first and the last call.
        cost_usd: None if no price is known.
        parameters: the distinct sets of parameters sent, as JSON.
        structured: how a schema was enforced on answers.
    """

    endpoint: str
    model: str
    answered_by: tuple[str, ...]
    protocols: tuple[str, ...]
    calls: int
    failed: int
    rule_breaks: int
    first: str
    last: str
    cost_usd: Decimal | None
    purposes: tuple[str, ...]
    parameters: tuple[str, ...]
    structured: tuple[str, ...]


def models_used(source: Source, cutoff: datetime) -> list[ModelUse]:
    """Return every model called for the source's matches, in the dataset or not, by endpoint and name."""
    if not source.asks_models:
        return []
    kind = "study" if isinstance(source, StudySource) else "collection"
    calls = Call.objects.filter(budget_of=f"{kind}:{source.slug}", at__lte=cutoff).order_by()
    is_failed, is_rule_break = (Q(outcome=outcome) for outcome in (Call.Outcome.FAILED, Call.Outcome.RULE_BREAK))
    sums = calls.values("endpoint", "model").annotate(
        calls=Count("pk"),
        failed=Count("pk", filter=is_failed),
        rule_breaks=Count("pk", filter=is_rule_break),
        first=Min("at"),
        last=Max("at"),
        cost=Sum("cost"),
    )
    return [_use(calls, dict(row)) for row in sums.order_by("endpoint", "model")]


def _use(calls: QuerySet[Call], row: dict[str, Any]) -> ModelUse:
    of_model = calls.filter(endpoint=row["endpoint"], model=row["model"])

    def distinct_texts(name: str) -> tuple[str, ...]:
        values = of_model.values_list(name, flat=True).distinct()[:_MAX_VALUES]
        distinct_values = {
            mask(value if isinstance(value, str) else compact_json(value)) for value in values if value is not None
        }
        return tuple(sorted(distinct_values))

    return ModelUse(
        endpoint=mask(row["endpoint"]),
        model=mask(row["model"]),
        answered_by=distinct_texts("record__answered_by"),
        protocols=distinct_texts("record__provider"),
        **{name: row[name] for name in ("calls", "failed", "rule_breaks")},
        **{name: row[name].date().isoformat() for name in ("first", "last")},
        cost_usd=row["cost"],
        purposes=distinct_texts("purpose"),
        parameters=distinct_texts("record__parameters"),
        structured=distinct_texts("record__structured"),
    )
