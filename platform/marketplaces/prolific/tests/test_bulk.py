"""Many approvals and bonuses in one request: few calls, and whatever fails, everyone is paid exactly once."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from marketplaces.prolific.client import MAX_BULK, Client
from marketplaces.prolific.models import BonusOrder
from marketplaces.prolific.paying import ProlificPayer, payer_of
from marketplaces.prolific.tests.test_ledger import KINDS, UNCLEAR_FAILURES, pay_all
from payouts import books, deciding, paying
from payouts.models import LedgerRow, Transfer

pytestmark = pytest.mark.django_db

STEPS = {
    "reading": r"GET /api/v1/submissions/$",
    "approving": "POST /api/v1/submissions/bulk-approve/",
    "preparing": "POST /api/v1/submissions/bonus-payments/",
    "paying": "POST /api/v1/bulk-bonus-payments/",
}


@pytest.fixture
def workers(desk, monkeypatch):
    """Three participants who finished and submitted; here, three are enough to be paid in one request."""
    monkeypatch.setattr(paying, "BULK_FROM", 3)
    desk.publish()
    workers = [desk.worker() for _each in range(3)]
    for worker in workers:
        worker.finish()
        worker.submit()
    return workers


def payments(desk) -> Counter[tuple[str, str]]:
    """Return how often each submission received each kind of payment."""
    return Counter((submission, kind) for submission, kind, _cents in desk.standin.market.paid)


def once_each(workers) -> Counter[tuple[str, str]]:
    return Counter((worker.submission.id, kind) for worker in workers for kind in ("reward", "bonus"))


def states(desk) -> Counter[str]:
    return Counter(LedgerRow.objects.filter(study=desk.study.slug).values_list("state", flat=True))


def approve_due(desk) -> None:
    rows = LedgerRow.objects.filter(study=desk.study.slug, state__in=("due", "failed"))
    deciding.approve(study=desk.study.slug, rows=list(rows.values_list("pk", flat=True)), user=None)


def sweep(*, hours: float = 1) -> None:
    long_ago = timezone.now() - timedelta(hours=hours)
    Transfer.objects.update(next_at=long_ago, until=long_ago, asked_at=long_ago)
    paying.pay_due()


def test_group_is_paid_in_one_request_of_each_kind(desk, workers):
    desk.standin.calls.clear()
    pay_all(desk)
    assert payments(desk) == once_each(workers) and set(states(desk)) == {"confirmed"}
    orders = Counter(call.path.rstrip("/").rpartition("/")[2] for call in desk.standin.calls if call.method == "POST")
    assert orders == {"bulk-approve": 1, "bonus-payments": 1, "pay": 1}
    (bonuses,) = [call.body["csv_bonuses"] for call in desk.standin.calls if call.path.endswith("bonus-payments/")]
    assert sorted(line.partition(",")[0] for line in bonuses.split("\n")) == sorted(
        worker.submission.id for worker in workers
    )
    assert not [call for call in desk.standin.calls if call.method == "GET" and len(call.path.split("/")) > 5]
    assert books.check() == []


def test_groups_do_not_exceed_the_request_limit():
    rows = [
        LedgerRow(pk=n, study="s", recruiter="prolific", reason="base" if n % 2 else "bonus", state="approved")
        for n in range(2 * MAX_BULK + 20)
    ]
    mturk_rows = [
        LedgerRow(pk=1000 + n, study="s", recruiter="mturk", reason="base", state="approved") for n in range(9)
    ]
    other_study_rows = [
        LedgerRow(pk=2000 + n, study="t", recruiter="prolific", reason="base", state="sent") for n in range(4)
    ]
    sizes = [len(group) for group in paying._groups([*rows, *mturk_rows, *other_study_rows])]
    assert MAX_BULK <= 200 and sizes == [MAX_BULK, MAX_BULK, 10, 10] + [1] * 13


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("kind", KINDS)
def test_lost_answer_pays_nobody_twice(desk, workers, step, kind):
    desk.standin.misbehave(kind, STEPS[step])
    pay_all(desk)
    market = desk.standin.market
    assert max(payments(desk).values()) == 1 and books.check() == []
    if (step, kind) in UNCLEAR_FAILURES:
        assert states(desk) == {"confirmed": 3, "unclear": 3} and {reason for _w, reason, _c in market.paid} == {
            "reward"
        }
    else:
        assert payments(desk) == once_each(workers) and set(states(desk)) == {"confirmed"}


class Killed(BaseException):
    """The process has been killed."""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("method", ["approve_all", "set_up_bonuses", "pay_bonus"])
def test_killed_process_pays_nobody_twice(desk, workers, monkeypatch, method, when):
    real_method = getattr(Client, method)

    def killed_pay(self, *args, **keywords):
        monkeypatch.setattr(Client, method, real_method)
        if when == "after":
            real_method(self, *args, **keywords)
        raise Killed

    monkeypatch.setattr(Client, method, killed_pay)
    approve_due(desk)
    for _round in range(14):
        try:
            sweep()
        except Killed:
            assert books.check() == []
    is_unclear = (method, when) == ("pay_bonus", "before")
    assert max(payments(desk).values()) == 1
    assert states(desk) == ({"confirmed": 3, "unclear": 3} if is_unclear else {"confirmed": 6})
    assert is_unclear or payments(desk) == once_each(workers)


def test_slow_approvals_are_looked_up(desk, workers):
    desk.standin.market.pays_late = True
    approve_due(desk)
    sweep()
    assert states(desk)["sent"] == 3 and not desk.standin.market.paid
    desk.standin.market.pay_outstanding()
    desk.standin.market.pays_late = False
    for _round in range(6):
        sweep()
    assert payments(desk) == once_each(workers) and set(states(desk)) == {"confirmed"}


def test_one_bonus_that_prolific_refuses_does_not_stop_the_others(desk, workers):
    approve_due(desk)
    LedgerRow.objects.filter(reason="bonus").update(state="due")  # approved below, after base pay
    for _round in range(3):
        sweep()
    workers[0].submission.status = "RETURNED"
    LedgerRow.objects.filter(reason="bonus").update(state="approved")
    for _round in range(6):
        sweep()
    bonuses = LedgerRow.objects.filter(reason="bonus")
    assert Counter(bonuses.values_list("state", flat=True)) == {"confirmed": 2, "failed": 1}
    assert max(payments(desk).values()) == 1


def test_money_for_one_bonus_pays_only_that_one(desk, workers):
    approve_due(desk)
    LedgerRow.objects.filter(reason="bonus").update(state="due")
    for _round in range(3):
        sweep()
    from marketplaces.prolific.standin.market import with_fees

    LedgerRow.objects.filter(reason="bonus").update(state="approved")
    bonus = LedgerRow.objects.filter(reason="bonus").first()
    desk.standin.market.balance = with_fees(int(bonus.amount * 100))
    for _round in range(6):
        sweep()
    bonuses = LedgerRow.objects.filter(reason="bonus")
    assert Counter(bonuses.values_list("state", flat=True)) == {"confirmed": 1, "failed": 2}
    assert all("balance" in row.problem for row in bonuses.filter(state="failed"))
    assert [kind for _submission, kind, _cents in desk.standin.market.paid].count("bonus") == 1


def test_bonus_prepared_by_another_process_is_not_paid(desk, workers):
    payer = payer_of(desk.study.slug)
    orders = [worker.order("bonus") for worker in workers]
    payer.read(orders)
    references = payer.prepare_all(orders)
    assert len(set(references.values())) == 1
    other_payer = ProlificPayer(desk.publication)
    assert other_payer.pay(orders[0]).outcome == "sent"  # paid alone, under its own reference
    assert payer.pay_all(orders) == {}
    assert [payer.pay(order).outcome for order in orders] == ["confirmed", "sent", "sent"]
    assert [kind for _submission, kind, _cents in desk.standin.market.paid] == ["bonus"] * 3
    assert max(payments(desk).values()) == 1


def test_group_is_never_paid_twice(desk, workers):
    payer = payer_of(desk.study.slug)
    orders = [worker.order("bonus") for worker in workers]
    payer.prepare_all(orders)
    assert set(payer.pay_all(orders)) == {order.uid for order in orders}
    assert payer.pay_all(orders) == {} and payer.prepare_all(orders) == {}
    assert [payer.pay(order).outcome for order in orders] == ["confirmed"] * 3
    assert max(payments(desk).values()) == 1
    assert set(BonusOrder.objects.values_list("shared_by", flat=True)) == {3}
