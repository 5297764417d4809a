"""Actions of the end-to-end tests of marketplaces, which `Stack.call` runs inside a live stack."""

from __future__ import annotations

import time
from collections import Counter
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from participants.models import Enrolment
from participants.states import State
from payouts import books, deciding
from payouts.models import LedgerRow
from recruiters.models import Identity
from studies.models import Study

PATIENCE = 240.0


def study_key(slug: str) -> int:
    """Return the study's primary key."""
    return Study.objects.get(slug=slug).pk


def state_of(path: str) -> str:
    return Enrolment.objects.get(token=path.split("/")[2]).state


def backdate_activity(worker: str, minutes: int) -> None:
    """Backdate the worker's arrival and last activity by this many minutes."""
    earlier = timezone.now() - timedelta(minutes=minutes)
    Enrolment.objects.filter(identity__worker=worker).update(last_seen_at=earlier, arrived_at=earlier)


def states(slug: str) -> dict[str, int]:
    """Return how many participants of the study are in each state."""
    return dict(Counter(Identity.objects.filter(study=slug).values_list("enrolment__state", flat=True)))


def await_drop_out(slug: str) -> dict[str, int]:
    """Wait until a participant has dropped out; return the counts by state."""
    deadline = time.monotonic() + PATIENCE
    while not (counts := states(slug)).get(State.RETURNED):
        if time.monotonic() > deadline:
            raise TimeoutError(f"nobody dropped out: {counts}")
        time.sleep(0.5)
    return counts


def approve_all(slug: str) -> None:
    """Approve everything due in the study."""
    due_rows = list(LedgerRow.objects.filter(study=slug, state=LedgerRow.State.DUE).values_list("pk", flat=True))
    deciding.approve(study=slug, rows=due_rows, user=User.objects.filter(is_superuser=True).first())


def await_pay(slug: str) -> list[dict[str, Any]]:
    """Wait until no ledger row of the study is approved or in transit, and the books are right; return the rows."""
    deadline = time.monotonic() + PATIENCE
    open_rows = LedgerRow.objects.filter(study=slug, state__in=["approved", "sent"])
    while open_rows.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not paid: {list(open_rows.values('state', 'problem'))}")
        time.sleep(0.2)
    if errors := books.check(slug):
        raise AssertionError([str(error) for error in errors])
    rows = LedgerRow.objects.filter(study=slug).select_related("enrolment__identity")
    return [
        {"worker": row.enrolment.identity.worker, "reason": row.reason, "amount": str(row.amount), "state": row.state}
        for row in rows
    ]
