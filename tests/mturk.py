"""Actions of the tests of Mechanical Turk's stand-in on a live stack's data; run inside it by `Stack.call`."""

from __future__ import annotations

import time
from collections import Counter
from datetime import timedelta
from typing import Any

from django.utils import timezone

from marketplaces.mturk.arriving import KEY
from participants.models import Enrolment
from participants.states import State
from payouts import books
from payouts.models import LedgerRow
from recruiters.models import Identity
from studies.models import Study

PATIENCE = 240.0


def key_of(slug: str) -> int:
    """Return the study's key."""
    return Study.objects.get(slug=slug).pk


def backdate_activity(worker: str, minutes: int) -> None:
    """Backdate the worker's last activity by this long, and their arrival to before it."""
    then = timezone.now() - timedelta(minutes=minutes)
    Enrolment.objects.filter(identity__worker=worker).update(last_seen_at=then, arrived_at=then)


def states(slug: str) -> dict[str, int]:
    """Return how many participants of the study are in each state."""
    found = Identity.objects.filter(study=slug, recruiter=KEY).values_list("enrolment__state", flat=True)
    return dict(Counter(found))


def await_drop_out(slug: str) -> dict[str, int]:
    """Wait until a participant has dropped out; return the counts by state."""
    until = time.monotonic() + PATIENCE
    while not (found := states(slug)).get(State.RETURNED):
        if time.monotonic() > until:
            raise TimeoutError(f"nobody dropped out: {found}")
        time.sleep(0.5)
    return found


def ledger(slug: str) -> list[dict[str, Any]]:
    """Return the study's ledger rows: worker, reason, amount, state."""
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
    """Wait until no row of the study is in transit."""
    until = time.monotonic() + PATIENCE
    open_rows = LedgerRow.objects.filter(study=slug, state__in=["approved", "sent"])
    while open_rows.exists():
        if time.monotonic() > until:
            raise TimeoutError(f"not paid: {list(open_rows.values('state', 'problem'))}")
        time.sleep(0.2)


def books_agree() -> list[str]:
    """Return the errors in the books; none are expected."""
    return [str(one) for one in books.check()]
