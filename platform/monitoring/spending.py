"""A study's spending on models against its caps: tallied days plus the calls since."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from monitoring.clocks import budget_of
from monitoring.models import SpendTally, Watermark
from monitoring.tallies import CALLS
from opponents.models import Call
from opponents.spending import cap_per_day
from plans.asking import DEFAULT
from studies.models import Study


@dataclass(frozen=True)
class Money:
    """An amount spent, in US dollars, and its cap; None for no cap."""

    spent: Decimal
    cap: Decimal | None

    @property
    def percent(self) -> int:
        if not self.cap:
            return 0 if self.cap is None else 100
        return min(100, int(100 * self.spent / self.cap))


@dataclass(frozen=True)
class Spending:
    """The cost of a study's calls.

    Attributes:
        today: all calls of today, across studies and collections, if the installation caps them.
        per_match: the cap per match.
        unpriced: the number of calls without a known price, which are not counted.
    """

    study: Money
    today: Money | None
    per_match: Decimal | None
    calls: int
    unpriced: int


def spending_of(study: Study) -> Spending:
    """Return the study's spending so far."""
    version = study.latest_version()
    agents = version.agents().values() if version else ()
    caps = next((agent.settings for agent in agents if agent.is_model), DEFAULT).caps()
    cost, calls, unpriced = _sums(
        SpendTally.objects.filter(budget_of=budget_of(study)), Call.objects.filter(budget_of=budget_of(study))
    )
    today = None
    if (daily := cap_per_day()) is not None:
        midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
        spent = _sums(SpendTally.objects.filter(day=midnight.date()), Call.objects.filter(at__gte=midnight))[0]
        today = Money(spent, daily)
    return Spending(
        study=Money(cost, caps.per_study),
        today=today,
        per_match=caps.per_match,
        calls=calls,
        unpriced=unpriced,
    )


def _sums(tallied: QuerySet[SpendTally], calls: QuerySet[Call]) -> tuple[Decimal, int, int]:
    """Return cost, number of calls and number of calls without a price: tallied, plus those since the watermark.

    The watermark is read first, because the database can plan well only for a known time; if a sweep has
    moved it in the meantime, the sums are taken again.
    """
    until = _watermark()
    while True:
        sums = _sums_with(tallied, calls if until is None else calls.filter(at__gte=until))
        before, until = until, _watermark()
        if before == until:
            return sums


def _watermark() -> datetime | None:
    return Watermark.objects.filter(name=CALLS).values_list("until", flat=True).first()


def _sums_with(tallied: QuerySet[SpendTally], recent: QuerySet[Call]) -> tuple[Decimal, int, int]:
    unpriced = Q(cost=None) & ~Q(outcome=Call.Outcome.FAILED)
    tallied_sums = tallied.aggregate(spent=Sum("cost"), made=Sum("calls"), unknown=Sum("unpriced"))
    recent_sums = recent.order_by().aggregate(spent=Sum("cost"), made=Count("pk"), unknown=Count("pk", filter=unpriced))
    cost, number, unpriced_calls = (
        (tallied_sums[name] or 0) + (recent_sums[name] or 0) for name in ("spent", "made", "unknown")
    )
    return Decimal(cost), number, unpriced_calls
