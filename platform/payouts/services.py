"""Writing down what is owed."""

from __future__ import annotations

from decimal import Decimal

from django.db import transaction

from participants.models import Enrolment
from payouts import rules
from payouts.models import LedgerRow
from payouts.payers import way_of
from payouts.posting import open_books
from recruiters.models import Identity


@transaction.atomic
def record_due(
    enrolment: Enrolment, rule: rules.PayRule, *, study: str, payoff: float | None, share: float | None
) -> dict[str, Decimal]:
    """Ledger rows for a participant whose way has ended; a second call adds nothing. Returns what is owed.

    Args:
        study: its short name.
    """
    owed = rules.due(rule, ending=enrolment.state, payoff=payoff, share=share)
    workings = rules.workings(rule, ending=enrolment.state, payoff=payoff, share=share)
    recruiter = Identity.objects.filter(enrolment=enrolment).values_list("recruiter", flat=True).first() or ""
    way = way_of(recruiter)
    elsewhere = way is not None and way.elsewhere
    for reason, amount in owed.items():
        row, is_new = LedgerRow.objects.get_or_create(
            enrolment=enrolment,
            reason=reason,
            defaults={
                "study": study,
                "recruiter": recruiter,
                "amount": amount,
                "currency": rule.currency,
                "state": LedgerRow.State.ELSEWHERE if elsewhere else LedgerRow.State.DUE,
                "workings": workings,
            },
        )
        if is_new:
            open_books([row])
    return owed
