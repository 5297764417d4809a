"""Participants with payments due, created directly in the database."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from participants.models import Enrolment
from payouts.models import LedgerRow
from payouts.services import record_due
from plans.pay import PayRule
from recruiters.models import Identity

STUDY = "paid-study"
RULE = PayRule(currency="USD", base="1.00", rule="share", announced_average="2.00", cap="10.00")


def finished(worker: str, *, recruiter: str = "standin", study: str = STUDY, rule: PayRule = RULE) -> list[LedgerRow]:
    """Create a participant who completed and is due 1.00 base pay and 2.00 bonus; return the rows, base first."""
    person = Enrolment.objects.create(state="completed", expires_at=timezone.now() + timedelta(hours=1))
    Identity.objects.create(
        study=study, recruiter=recruiter, worker=worker, proof=f"proof-{worker}", enrolment=person,
        details={"assignmentId": f"assignment-of-{worker}"},
    )  # fmt: skip
    record_due(person, rule, study=study, payoff=100.0, share=0.5)
    return list(person.ledger.order_by("reason"))
