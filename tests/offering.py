"""Actions of the end-to-end tests of Prolific, which `Stack.call` runs inside a live stack."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.contrib.auth.models import User

from marketplaces.prolific.models import Publication
from participants.models import Enrolment
from payouts import books, deciding
from payouts.models import LedgerRow


def state_of(path: str) -> str:
    return Enrolment.objects.get(token=path.split("/")[2]).state


def codes_of(slug: str) -> dict[str, str]:
    return Publication.objects.get(study__slug=slug).codes


def approve_all(slug: str) -> int:
    """Approve everything due in the study; return the number of rows."""
    due_rows = list(LedgerRow.objects.filter(study=slug, state=LedgerRow.State.DUE).values_list("pk", flat=True))
    deciding.approve(study=slug, rows=due_rows, user=User.objects.filter(is_superuser=True).first())
    return len(due_rows)


def ledger(slug: str) -> dict[str, Any]:
    """Return the study's ledger: rows by state, cents by reason, and the errors in the books."""
    rows = list(LedgerRow.objects.filter(study=slug))
    cents: Counter[str] = Counter()
    for row in rows:
        cents[row.reason] += int(row.amount * 100)
    return {
        "states": dict(Counter(row.state for row in rows)),
        "cents": dict(cents),
        "wrong": [str(error) for error in books.check(slug)],
    }
