"""Data for a study's pay page: the sums, the rows and the accounts' balances."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.core.cache import cache
from django.db.models import Count, QuerySet, Sum
from django.urls import reverse
from django.utils import timezone

from paydesk import words
from payouts import books, deciding
from payouts.models import LedgerRow
from payouts.payers import Unreachable, method_of
from plans.pay import cents
from recruiters import arrivals
from studies.models import Study
from studies.recomputing import stored_differences

State = LedgerRow.State
ROWS_SHOWN = 100
_ZERO = Decimal("0.00")
_CACHE_SECONDS = 24 * 60 * 60


@dataclass
class StateTotals:
    """The rows in one state and currency."""

    state: str
    label: str
    colour: str
    rows: int = 0
    amounts: dict[str, Decimal] = field(default_factory=dict)

    @property
    def total(self) -> Decimal:
        return sum(self.amounts.values(), start=_ZERO)

    @property
    def base(self) -> Decimal:
        return self.amounts.get("base", _ZERO)

    @property
    def bonus(self) -> Decimal:
        return self.amounts.get("bonus", _ZERO)


@dataclass
class CurrencyTotals:
    """One currency of a study: the amounts by state, and the limit.

    Attributes:
        committed: the total approved or paid, fees included.
    """

    currency: str
    states: list[StateTotals]
    committed: Decimal
    limit: Decimal | None

    @property
    def total(self) -> Decimal:
        return sum((state_totals.total for state_totals in self.states), start=_ZERO)

    @property
    def percent(self) -> int:
        return min(100, round(100 * self.committed / self.limit)) if self.limit else 0


@dataclass(frozen=True)
class Balance:
    """An account's balance when last asked; `problem` explains why it is unknown."""

    title: str
    amount: Decimal | None = None
    currency: str = ""
    at: datetime | None = None
    problem: str = ""


@dataclass(frozen=True)
class ShownRow:
    """One row of the list on the pay page."""

    row: LedgerRow
    reason: str
    workings: str
    colour: str
    next: str
    recruiter: str

    @property
    def may_reject(self) -> bool:
        """Whether this is the payment at which the page offers to reject the person's work."""
        return self.row.reason != "bonus" and deciding.may_be_written_off(self.row)


def rows_of(study: Study) -> QuerySet[LedgerRow]:
    return LedgerRow.objects.filter(study=study.slug)


def totals_of(study: Study) -> list[CurrencyTotals]:
    """Return the study's sums by currency; the study's own currency if nothing is owed yet."""
    sums = rows_of(study).order_by().values_list("currency", "state", "reason").annotate(Count("pk"), Sum("amount"))
    totals: dict[str, dict[str, StateTotals]] = {}
    for currency, state, reason, number, amount in sums:
        label = str(State(state).label)
        state_totals = totals.setdefault(currency, {}).setdefault(
            state, StateTotals(state, label, words.COLOURS[State(state)])
        )
        state_totals.rows += number
        state_totals.amounts[reason] = cents(amount)
    return [
        CurrencyTotals(
            currency=currency,
            states=[totals[currency][state] for state in State.values if state in totals.get(currency, {})],
            committed=deciding.committed(study.slug, currency),
            limit=deciding.limit_of(study.slug, currency),
        )
        for currency in sorted(totals) or [_currency_of(study)]
    ]


def _currency_of(study: Study) -> str:
    """Return the currency in which the study pays, or would pay once it is launched."""
    version = study.latest_version()
    return str(study.draft.get("pay", {}).get("currency", "USD")) if version is None else version.plan.pay.currency


def counts_of(study: Study) -> dict[str, int]:
    """Return the number of rows in each state."""
    return dict(rows_of(study).order_by().values_list("state").annotate(Count("pk")))


def book_errors(study: Study) -> list[str]:
    """Return the errors in the books, and what the last nightly check of everybody's pay found."""
    errors = [discrepancy.message for discrepancy in books.check(study.slug, journals=False)]
    return errors + stored_differences(study.slug)


def shown_rows(rows: Iterable[LedgerRow]) -> list[ShownRow]:
    """Return the rows as the list shows them."""
    row_list = list(rows)
    in_progress = (State.APPROVED, State.SENT, State.UNCLEAR)
    people = {row.enrolment_id for row in row_list}
    base = LedgerRow.objects.filter(enrolment__in=people, reason="base", state__in=in_progress)
    waiting_for = set(base.values_list("enrolment_id", flat=True))
    return [
        ShownRow(
            row=row,
            reason=words.reason_in_words(row.reason),
            workings=words.workings_in_words(row),
            colour=words.COLOURS[State(row.state)],
            next=words.what_next(row, base_in_progress=row.enrolment_id in waiting_for),
            recruiter=recruiter_title(row.recruiter),
        )
        for row in row_list
    ]


def recruiter_title(kind: str) -> str:
    """Return the title of a kind of recruiter."""
    method, arrival = method_of(kind), arrivals.KINDS.get(kind)
    return str(method.title) if method is not None else str(arrival.title) if arrival is not None else kind


def methods_of(study: Study) -> list[tuple[str, str]]:
    """Return each kind of recruiter in the study with "recruiter", "list", "hand" or "elsewhere", which says who
    pays.
    """
    methods = []
    for kind in rows_of(study).order_by().values_list("recruiter", flat=True).distinct():
        method = method_of(kind)
        if method is None:
            paid_by = "hand"
        elif method.lists:
            paid_by = "list"
        else:
            paid_by = "recruiter" if method.payer else "elsewhere" if method.elsewhere else "hand"
        methods.append((kind, paid_by))
    return sorted(methods)


def lists_of(study: Study) -> str:
    """Return the URL of the study's payment lists; "" if participants are paid otherwise."""
    methods = (method_of(kind) for kind, paid_by in methods_of(study) if paid_by == "list")
    return next((reverse(method.lists, args=[study.pk]) for method in methods if method is not None), "")


def ask_balances(study: Study, rows: Iterable[LedgerRow]) -> list[Balance]:
    """Ask the recruiters for the balances of the accounts that pay these rows, and cache the answers."""
    balances = []
    for kind in sorted({row.recruiter for row in rows}):
        method = method_of(kind)
        if method is None or method.payer is None:
            continue
        try:
            answer = method.payer(study.slug).balance()
        except Unreachable as error:
            balances.append(Balance(str(method.title), problem=str(error)))
            continue
        if answer is not None:
            balance = Balance(str(method.title), amount=answer[0], currency=answer[1], at=timezone.now())
            cache.set(_key(study, kind), (str(answer[0]), answer[1], balance.at), _CACHE_SECONDS)
            balances.append(balance)
    return balances


def last_balances(study: Study) -> list[Balance]:
    """Return the cached balances, without asking the recruiters."""
    balances = []
    for kind, paid_by in methods_of(study):
        cached: Any = cache.get(_key(study, kind)) if paid_by == "recruiter" else None
        if cached is not None:
            balances.append(Balance(recruiter_title(kind), amount=Decimal(cached[0]), currency=cached[1], at=cached[2]))
    return balances


def _key(study: Study, kind: str) -> str:
    return f"paydesk-balance-{study.pk}-{kind}"
