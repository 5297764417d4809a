"""Adds finished work to running sums, a little at a time, so that no page has to count it again.

Participants' transactions write no sums: what has ended stays in its placement until a sweep adds it to
the tallies and marks the placement, in one transaction. Readers add up both, in one statement.
"""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import models, transaction
from django.db.models import Count, Q, Sum
from django.db.models.functions import Coalesce, TruncDate
from django.utils import timezone

from monitoring.finished import outcome_sums
from monitoring.models import CellTally, OutcomeTally, SpendTally, TimeTally, Watermark
from opponents.models import Call
from participants.states import State
from studies.models import Placement

TALLY_PERIOD = timedelta(minutes=5)
"""The period that one row of `TimeTally` covers."""
STORAGE_DELAY = timedelta(minutes=2)
"""Calls are stored within this time after their own timestamp."""
BATCH_SIZE = 5_000
CALLS = "calls"
PLACEMENTS = "placements"


def period_start(moment: datetime) -> datetime:
    """Return the start of the period that contains `moment`."""
    seconds = TALLY_PERIOD.total_seconds()
    return datetime.fromtimestamp(moment.timestamp() // seconds * seconds, tz=moment.tzinfo)


def tally_everything() -> None:
    """Tally everything that has ended since the last time."""
    while tally_placements() == BATCH_SIZE:
        pass
    tally_calls()


@transaction.atomic
def tally_placements() -> int:
    """Add ended participants and their matches to the sums of their cell and study; return how many participants."""
    _locked_watermark(PLACEMENTS)
    ended = Placement.objects.filter(tallied=False, enrolment__ended_at__isnull=False).order_by("pk")
    rows = list(
        ended.values_list(
            "pk",
            "version",
            Coalesce("cell__number", 0),
            "version__study",
            "enrolment__state",
            "enrolment__arrived_at",
            "enrolment__ended_at",
            "released_at",
        )[:BATCH_SIZE]
    )
    states: Counter[tuple[Any, ...]] = Counter()
    released: Counter[tuple[Any, ...]] = Counter()
    arrived: Counter[tuple[Any, ...]] = Counter()
    completed: Counter[tuple[Any, ...]] = Counter()
    for _pk, version, cell, study, state, arrived_at, ended_at, released_at in rows:
        states[version, cell, state] += 1
        released[version, cell, state] += released_at is not None
        arrived[study, period_start(arrived_at)] += 1
        completed[study, period_start(ended_at)] += state == State.COMPLETED
    _add_to_rows(CellTally, ("version_id", "cell_number", "state"), {"number": states, "released": +released})
    _add_to_rows(TimeTally, ("study_id", "at"), {"arrived": arrived, "completed": +completed})
    Placement.objects.filter(pk__in=[row[0] for row in rows]).update(tallied=True)
    # A match counts when its last participant ends.
    _add_to_rows(OutcomeTally, ("cell_id", "outcome"), outcome_sums([row[0] for row in rows]))
    return len(rows)


@transaction.atomic
def tally_calls() -> int:
    """Add model calls up to a moment ago to the sums of their budgets; return how many."""
    mark = _locked_watermark(CALLS)
    until = timezone.now() - STORAGE_DELAY
    calls = Call.objects.filter(at__lt=until).order_by()
    if mark.until is not None:
        calls = calls.filter(at__gte=mark.until)
    grouped = calls.values_list("budget_of", TruncDate("at")).annotate(
        calls=Count("pk"), unpriced=Count("pk", filter=Q(cost=None) & ~Q(outcome=Call.Outcome.FAILED)), cost=Sum("cost")
    )
    number: dict[tuple[str, date], int] = {}
    unpriced: dict[tuple[str, date], int] = {}
    cost: dict[tuple[str, date], Decimal] = {}
    for budget, day, call_count, without_price, spent in grouped:
        number[budget, day], unpriced[budget, day], cost[budget, day] = call_count, without_price, spent or Decimal(0)
    _add_to_rows(SpendTally, ("budget_of", "day"), {"calls": number, "unpriced": unpriced, "cost": cost})
    mark.until = until
    mark.save(update_fields=["until"])
    return sum(number.values())


def _locked_watermark(name: str) -> Watermark:
    """Return the watermark `name` under its row lock, so that only one process tallies at a time."""
    Watermark.objects.get_or_create(name=name)
    return Watermark.objects.select_for_update().get(name=name)


def _add_to_rows(model: type[models.Model], key: tuple[str, ...], sums: dict[str, Any]) -> None:
    """Add numbers to the rows' columns, by key; call it while holding the lock."""
    keys = {pair for numbers in sums.values() for pair in numbers}
    if not keys:
        return
    manager = model._default_manager
    wanted = {f"{name}__in": set(values) for name, values in zip(key, zip(*keys, strict=True), strict=True)}
    rows = manager.filter(**wanted).values_list(*key, *sums)
    existing = {tuple(row[: len(key)]): row[len(key) :] for row in rows}
    manager.bulk_create(
        [
            model(
                **dict(zip(key, pair, strict=True)),
                **{
                    name: (existing[pair][index] if pair in existing else 0) + numbers.get(pair, 0)
                    for index, (name, numbers) in enumerate(sums.items())
                },
            )
            for pair in keys
        ],
        update_conflicts=True,
        unique_fields=list(key),
        update_fields=list(sums),
    )
