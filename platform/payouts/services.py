"""Writing down what is owed."""

from __future__ import annotations

from decimal import Decimal

from participants.models import Enrolment
from payouts import rules
from payouts.models import LedgerRow


def record_due(
    enrolment: Enrolment, rule: rules.PayRule, *, payoff: float | None, share: float | None
) -> dict[str, Decimal]:
    """Ledger rows for a participant whose way has ended; a second call adds nothing. Returns what is owed."""
    owed = rules.due(rule, ending=enrolment.state, payoff=payoff, share=share)
    workings = rules.workings(rule, ending=enrolment.state, payoff=payoff, share=share)
    LedgerRow.objects.bulk_create(
        (
            LedgerRow(enrolment=enrolment, reason=reason, amount=amount, currency=rule.currency, workings=workings)
            for reason, amount in owed.items()
        ),
        ignore_conflicts=True,
    )
    return owed
