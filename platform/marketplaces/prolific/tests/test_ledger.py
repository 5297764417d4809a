"""The ledger pays through Prolific: whatever step fails, everyone is paid exactly once."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from marketplaces.tests import doing
from payouts import books, deciding, paying
from payouts.models import LedgerRow, Transfer

pytestmark = pytest.mark.django_db

STEPS = {
    "assignment_status": r"GET /api/v1/submissions/\w+/",
    "approving": r"POST /api/v1/submissions/\w+/transition/",
    "preparing": "POST /api/v1/submissions/bonus-payments/",
    "paying": "POST /api/v1/bulk-bonus-payments/",
}
KINDS = ("cut", "lost", "refused", "refused-late", "garbage", "rate")
UNCLEAR_FAILURES = {("paying", "cut"), ("paying", "refused"), ("paying", "garbage")}
"""Cases in which the order was not accepted and the response does not say so: a person must check."""


def pay_all(desk) -> dict[str, LedgerRow]:
    return doing.pay_all(desk.study)


def paid(desk) -> Counter[str]:
    """Return how often each kind of payment was made."""
    return Counter(kind for _submission, kind, _cents in desk.standin.market.paid)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", STEPS)
def test_single_failure_only_delays_payment(desk, step, kind):
    desk.publish()
    worker = desk.worker()
    worker.finish()
    worker.submit()
    desk.standin.misbehave(kind, STEPS[step])
    rows = pay_all(desk)
    if (step, kind) in UNCLEAR_FAILURES:
        assert (rows["base"].state, rows["bonus"].state) == ("confirmed", "unclear")
        assert paid(desk) == {"reward": 1}
        deciding.resolve(
            study=desk.study.slug, row=rows["bonus"].pk, paid=False, user=None, note="Checked on Prolific."
        )
        rows = pay_all(desk)
    while any(row.state == "failed" for row in rows.values()):
        rows = pay_all(desk)
    assert {row.state for row in rows.values()} == {"confirmed"}
    assert paid(desk) == {"reward": 1, "bonus": 1}
    assert not list(books.check(desk.study.slug))
    for row in rows.values():
        assert worker.participant not in row.problem and worker.submission.id not in row.problem


@pytest.mark.parametrize(
    ("action", "expected_text"),
    [
        (lambda market, submission: market.give_back(submission.id), "returned the assignment"),
        (lambda market, submission: setattr(submission, "participant", "f" * 24), "belongs to someone else"),
        (lambda market, submission: market.submissions.pop(submission.id), "has no such assignment"),
        (lambda market, submission: setattr(submission, "status", "REJECTED"), "was rejected"),
    ],
)
def test_invalid_submission_is_not_paid_and_explained(desk, action, expected_text):
    desk.publish()
    worker = desk.worker()
    worker.finish()
    worker.submit()
    action(desk.standin.market, worker.submission)
    rows = pay_all(desk)
    assert {row.state for row in rows.values()} == {"failed"}
    assert all(expected_text in row.problem for row in rows.values())
    assert not desk.standin.market.paid and not list(books.check(desk.study.slug))


def test_participant_is_paid_once_they_submit(desk):
    desk.publish()
    worker = desk.worker()
    worker.finish()
    assert {row.state for row in pay_all(desk).values()} == {"approved"}
    worker.submit()
    long_ago = timezone.now() - timedelta(hours=1)
    for _round in range(6):
        Transfer.objects.update(next_at=long_ago, until=long_ago)
        paying.pay_due()
    assert set(LedgerRow.objects.values_list("state", flat=True)) == {"confirmed"}
    assert paid(desk) == {"reward": 1, "bonus": 1}
