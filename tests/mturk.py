"""Actions of the end-to-end tests of Mechanical Turk, which `Stack.call` runs inside a live stack."""

from __future__ import annotations

import time
from collections import Counter
from datetime import timedelta
from typing import Any

from django.utils import timezone

from marketplaces.mturk.models import KEY
from participants.models import Enrolment
from participants.states import State
from payouts import books
from payouts.models import LedgerRow
from recruiters.models import Identity
from studies.models import Study

PATIENCE = 240.0


def study_key(slug: str) -> int:
    """Return the study's primary key."""
    return Study.objects.get(slug=slug).pk


def backdate_activity(worker: str, minutes: int) -> None:
    """Backdate the worker's arrival and last activity by this many minutes."""
    earlier = timezone.now() - timedelta(minutes=minutes)
    Enrolment.objects.filter(identity__worker=worker).update(last_seen_at=earlier, arrived_at=earlier)


def states(slug: str) -> dict[str, int]:
    """Return how many participants of the study are in each state."""
    rows = Identity.objects.filter(study=slug, recruiter=KEY).values_list("enrolment__state", flat=True)
    return dict(Counter(rows))


def await_drop_out(slug: str) -> dict[str, int]:
    """Wait until a participant has dropped out; return the counts by state."""
    deadline = time.monotonic() + PATIENCE
    while not (counts := states(slug)).get(State.RETURNED):
        if time.monotonic() > deadline:
            raise TimeoutError(f"nobody dropped out: {counts}")
        time.sleep(0.5)
    return counts


def ledger(slug: str) -> list[dict[str, Any]]:
    """Return the study's ledger rows: worker, reason, amount, state, problem."""
    rows = LedgerRow.objects.filter(study=slug).select_related("enrolment__identity")
    return [
        {
            "worker": row.enrolment.identity.worker,
            "reason": row.reason,
            "amount": str(row.amount),
            "state": row.state,
            "problem": row.problem,
        }
        for row in rows
    ]


def await_pay(slug: str) -> None:
    """Wait until no ledger row of the study is approved or in transit."""
    deadline = time.monotonic() + PATIENCE
    open_rows = LedgerRow.objects.filter(study=slug, state__in=["approved", "sent"])
    while open_rows.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not paid: {list(open_rows.values('state', 'problem'))}")
        time.sleep(0.2)


def book_errors() -> list[str]:
    """Return the errors in the ledger's books."""
    return [str(error) for error in books.check()]
