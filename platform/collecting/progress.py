"""A collection's progress: counts, rate, cost, time left."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, Sum
from django.utils import timezone

from collecting.models import Collection, Item

WINDOW = timedelta(seconds=60)
"""The period over which the current rate is measured."""


@dataclass(frozen=True)
class Progress:
    """Counts of matches by status, with cost and time.

    Attributes:
        matches_per_minute, decisions_per_second: over the last minute, or since the start if shorter.
        seconds_left: at this rate; None if nothing has ended recently.
        cost: US dollars so far; cost_left: the same mean cost for each remaining match; None if none has ended.
    """

    status: str
    planned: int
    finished: int
    failed: int
    playing: int
    waiting: int
    decisions: int
    cost: Decimal
    budget: Decimal | None
    matches_per_minute: float
    decisions_per_second: float
    seconds_left: float | None
    cost_left: Decimal | None

    @property
    def share(self) -> float:
        """Share of the planned matches that have ended, from 0 to 1."""
        return (self.finished + self.failed) / self.planned if self.planned else 1.0

    def as_dict(self) -> dict[str, Any]:
        fields = asdict(self)
        return {key: float(value) if isinstance(value, Decimal) else value for key, value in fields.items()}

    def as_line(self) -> str:
        """Return one line for a terminal."""
        line = f"{self.status}: {self.finished + self.failed:,} of {self.planned:,} matches ({self.share:.0%})"
        if self.failed:
            line += f", {self.failed:,} failed"
        line += f"; {self.decisions:,} decisions, {self.decisions_per_second:,.0f}/s; ${self.cost:,.2f}"
        if self.budget is not None:
            line += f" of ${self.budget:,.2f}"
        if self.seconds_left is not None and self.status == Collection.Status.RUNNING:
            line += f"; about {duration(self.seconds_left)} left"
        return line


def progress(collection: Collection) -> Progress:
    """Return the collection's current progress, in three queries."""
    items = Item.objects.filter(collection=collection)
    counts = dict(items.order_by().values_list("status").annotate(Count("id")))
    sums = items.aggregate(decisions=Sum("decisions"), cost=Sum("cost"))
    now = timezone.now()
    since = max(now - WINDOW, collection.started_at or now)
    recent = items.filter(ended_at__gt=since).aggregate(matches=Count("id"), decisions=Sum("decisions"))
    until = min(collection.ended_at or now, now)
    seconds = max((until - since).total_seconds(), 0.5)
    ended = counts.get("finished", 0) + counts.get("failed", 0)
    matches_left = collection.planned - ended
    per_second = recent["matches"] / seconds
    cost = sums["cost"] or Decimal(0)
    return Progress(
        status=collection.status,
        planned=collection.planned,
        finished=counts.get("finished", 0),
        failed=counts.get("failed", 0),
        playing=counts.get("playing", 0),
        waiting=counts.get("waiting", 0) + collection.planned - sum(counts.values()),
        decisions=sums["decisions"] or 0,
        cost=cost,
        budget=collection.budget,
        matches_per_minute=60 * per_second,
        decisions_per_second=(recent["decisions"] or 0) / seconds,
        seconds_left=0.0 if not matches_left else matches_left / per_second if per_second else None,
        cost_left=cost / ended * matches_left if ended else None,
    )


def failures(collection: Collection, limit: int = 20) -> list[tuple[str, int]]:
    """Return why matches failed, the most frequent reason first."""
    failed = Item.objects.filter(collection=collection, status=Item.Status.FAILED)
    reasons = failed.order_by().values_list("problem").annotate(count=Count("id")).order_by("-count", "problem")
    return list(reasons[:limit])


def duration(seconds: float) -> str:
    """Return a duration in readable form: "40 s", "12 min", "3 h 20 min"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
