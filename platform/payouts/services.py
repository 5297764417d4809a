"""Record the amounts owed, and count the payments that wait for a researcher."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Count, Min, Q

from participants.models import Enrolment
from payouts.models import LedgerRow
from payouts.payers import method_of
from payouts.posting import open_books
from plans import pay as rules
from recruiters.models import Identity


@transaction.atomic
def record_due(
    enrolment: Enrolment,
    rule: rules.PayRule,
    *,
    study: str,
    payoff: float | None,
    share: float | None,
    waited: float = 0,
    played: float = 0,
    own_bonus: Decimal | None = None,
    games: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Decimal]:
    """Add the ledger rows of an enrolment that has ended, and return the amounts owed; a second call adds nothing.

    Args:
        study: its short name.
        waited: seconds spent waiting for a group that never formed.
        played: how much of their matches the participant has played, from 0 to 1.
        own_bonus: the mean bonus of the matches that count, if games pay by rules of their own.
        games: with several matches, each one's number, payoff, share and whether it counts; stored in the workings.
    """
    results: dict[str, Any] = {"ending": enrolment.state, "payoff": payoff, "share": share}
    owed = rules.due(rule, waited=waited, played=played, own_bonus=own_bonus, **results)
    own = {} if own_bonus is None else {"own_bonus": str(own_bonus)}
    numbers = {"waited": waited, "played": played, "games": list(games), **own}
    further: dict[str, Any] = {name: number for name, number in numbers.items() if number}
    workings = rules.workings(rule, **results, **further)
    recruiter = Identity.objects.filter(enrolment=enrolment).values_list("recruiter", flat=True).first() or ""
    method = method_of(recruiter)
    states = LedgerRow.State
    for reason, amount in owed.items():
        elsewhere = method is not None and method.elsewhere is not None and method.elsewhere(study, reason)
        _add_row(
            enrolment, reason, study=study, recruiter=recruiter, amount=amount, currency=rule.currency,
            state=states.ELSEWHERE if elsewhere else states.DUE, workings=workings,
        )  # fmt: skip
    return owed


def keep_paid_elsewhere(
    enrolment: Enrolment, *, study: str, recruiter: str, reason: str, amount: Decimal, currency: str
) -> None:
    """Record a payment made automatically by the recruiter; a second call adds nothing. Call this in a transaction."""
    _add_row(
        enrolment, reason, study=study, recruiter=recruiter, amount=amount, currency=currency,
        state=LedgerRow.State.ELSEWHERE, workings={"ending": enrolment.state},
    )  # fmt: skip


def _add_row(enrolment: Enrolment, reason: str, **columns: Any) -> None:
    row, is_new = LedgerRow.objects.get_or_create(enrolment=enrolment, reason=reason, defaults=columns)
    if is_new:
        open_books(row)


@dataclass(frozen=True)
class Waiting:
    """One study's payments to approve, since when the oldest waits, its unclear payments, and the people rejected."""

    due: int = 0
    oldest: datetime | None = None
    unclear: int = 0
    rejected: int = 0


def waiting(studies: Collection[str]) -> dict[str, Waiting]:
    """Return the payments that wait for a researcher, by short name; studies without any are omitted."""
    due, unclear = Q(state=LedgerRow.State.DUE), Q(state=LedgerRow.State.UNCLEAR)
    rejected = Q(rejected=True)
    by_study = LedgerRow.objects.filter(due | unclear | rejected, study__in=studies).order_by().values("study")
    study_counts = by_study.annotate(
        due=Count("pk", filter=due),
        oldest=Min("created_at", filter=due),
        unclear=Count("pk", filter=unclear),
        rejected=Count("enrolment", filter=rejected, distinct=True),
    )
    fields = ("due", "oldest", "unclear", "rejected")
    return {
        counts["study"]: Waiting(*(counts[name] for name in fields)) for counts in study_counts.values("study", *fields)
    }
