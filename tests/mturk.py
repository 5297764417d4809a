"""What the journeys through Mechanical Turk's stand-in do to a live stack's data; run inside it by `Stack.call`."""

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
    """The study's key."""
    return Study.objects.get(slug=slug).pk


def fall_silent(worker: str, minutes: int) -> None:
    """The worker's page has said nothing for so long; they came before that."""
    then = timezone.now() - timedelta(minutes=minutes)
    Enrolment.objects.filter(identity__worker=worker).update(last_seen_at=then, arrived_at=then)


def states(slug: str) -> dict[str, int]:
    """How many people of the study are in each state."""
    found = Identity.objects.filter(study=slug, recruiter=KEY).values_list("enrolment__state", flat=True)
    return dict(Counter(found))


def await_gone(slug: str) -> dict[str, int]:
    """How many are in each state, once somebody has been found to be gone."""
    until = time.monotonic() + PATIENCE
    while not (found := states(slug)).get(State.RETURNED):
        if time.monotonic() > until:
            raise TimeoutError(f"nobody is gone: {found}")
        time.sleep(0.5)
    return found


def ledger(slug: str) -> list[dict[str, Any]]:
    """The study's rows: who (worker), reason, amount, state."""
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
    """Until no row of the study is on its way any more."""
    until = time.monotonic() + PATIENCE
    open_rows = LedgerRow.objects.filter(study=slug, state__in=["approved", "sent"])
    while open_rows.exists():
        if time.monotonic() > until:
            raise TimeoutError(f"not paid: {list(open_rows.values('state', 'problem'))}")
        time.sleep(0.2)


def books_agree() -> list[str]:
    """What is wrong with the books; nothing."""
    return [str(one) for one in books.check()]
