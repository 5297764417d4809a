"""Endpoint statistics from the recorded calls."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from opponents.circuits import open_circuits
from opponents.models import Call

HOUR = timedelta(hours=1)
MAX_TIMED = 20_000
"""Response times use only this many of the latest calls; all other statistics use every call."""
Outcome = Call.Outcome


@dataclass(frozen=True)
class EndpointHealth:
    """Statistics of one model at one endpoint.

    Attributes:
        calls: attempts, including retries.
        errors: calls without an answer.
        rule_breaks: answers that were not legal moves.
        p50, p95: seconds to the answer, over answered calls; None if there are none.
        spend: US dollars.
        unpriced: answers with unknown cost.
        open_until: when the endpoint's pause ends; None if it is not paused.
    """

    endpoint: str
    model: str
    calls: int
    errors: int
    rule_breaks: int
    p50: float | None
    p95: float | None
    spend: Decimal
    unpriced: int
    open_until: datetime | None = None

    @property
    def rule_break_share(self) -> float:
        """Share of answers that were not legal moves."""
        answers = self.calls - self.errors
        return self.rule_breaks / answers if answers else 0.0

    @property
    def rule_break_percent(self) -> int:
        return round(100 * self.rule_break_share)


def health(since: timedelta = HOUR, *, budget_of: str | None = None) -> list[EndpointHealth]:
    """Return the statistics of every model called, sorted by endpoint and model.

    Args:
        budget_of: only calls with this label, such as "study:trust-1".
    """
    calls = Call.objects.filter(at__gte=timezone.now() - since).exclude(endpoint="").order_by()
    if budget_of is not None:
        calls = calls.filter(budget_of=budget_of)
    times = _times(calls)
    circuits = open_circuits()
    rows = calls.values("endpoint", "model").annotate(
        calls=Count("pk"),
        errors=Count("pk", filter=Q(outcome=Outcome.FAILED)),
        rule_breaks=Count("pk", filter=Q(outcome=Outcome.RULE_BREAK)),
        spend=Sum("cost"),
        unpriced=Count("pk", filter=Q(cost=None) & ~Q(outcome=Outcome.FAILED)),
    )
    return [
        EndpointHealth(
            endpoint=row["endpoint"],
            model=row["model"],
            calls=row["calls"],
            errors=row["errors"],
            rule_breaks=row["rule_breaks"],
            p50=percentile(times[row["endpoint"], row["model"]], 50),
            p95=percentile(times[row["endpoint"], row["model"]], 95),
            spend=row["spend"] or Decimal(0),
            unpriced=row["unpriced"],
            open_until=circuits.get(row["endpoint"]),
        )
        for row in sorted(rows, key=lambda row: (row["endpoint"], row["model"]))
    ]


def percentile(sorted_values: Sequence[float], percent: float) -> float | None:
    """Return the smallest value that at least `percent` percent do not exceed (nearest rank)."""
    if not sorted_values:
        return None
    return sorted_values[max(0, math.ceil(len(sorted_values) * percent / 100) - 1)]


def _times(calls: QuerySet[Call]) -> dict[tuple[str, str], list[float]]:
    answered = calls.exclude(outcome=Outcome.FAILED).filter(latency__isnull=False)
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    for endpoint, model, latency in answered.order_by("-at").values_list("endpoint", "model", "latency")[:MAX_TIMED]:
        times[endpoint, model].append(latency or 0.0)
    for seconds in times.values():
        seconds.sort()
    return times
