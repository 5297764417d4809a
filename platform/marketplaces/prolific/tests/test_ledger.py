"""The ledger pays through Prolific, one by one or in one request: whatever fails, everyone is paid exactly once."""

from __future__ import annotations

from collections import Counter

import pytest

from marketplaces.prolific.client import MAX_BULK, Client
from marketplaces.prolific.models import BonusOrder
from marketplaces.prolific.paying import ProlificPayer, payer_of
from marketplaces.prolific.standin.market import with_fees
from payouts import books, deciding, paying
from payouts.models import LedgerRow

pytestmark = pytest.mark.django_db

BONUSES = {"preparing": "POST /api/v1/submissions/bonus-payments/", "paying": "POST /api/v1/bulk-bonus-payments/"}
STEPS = {
    "assignment_status": r"GET /api/v1/submissions/\w+/",
    "approving": r"POST /api/v1/submissions/\w+/transition/",
    **BONUSES,
}
GROUP_STEPS = {
    "reading": r"GET /api/v1/submissions/$",
    "approving": "POST /api/v1/submissions/bulk-approve/",
    **BONUSES,
}
KINDS = ("cut", "lost", "refused", "refused-late", "garbage", "rate")
UNCLEAR_FAILURES = {("paying", "cut"), ("paying", "refused"), ("paying", "garbage")}
"""Cases in which the order was not accepted and the response does not say so: a person must check."""


@pytest.fixture
def workers(desk, monkeypatch):
    """Three participants who finished and submitted; here, three are enough to be paid in one request."""
    monkeypatch.setattr(paying, "BULK_FROM", 3)
    return [desk.worker().work() for _each in range(3)]


def payments(desk) -> Counter[tuple[str, str]]:
    """Return how often each submission received each kind of payment."""
    return Counter((submission, kind) for submission, kind, _cents in desk.market.paid)


def once_each(workers) -> Counter[tuple[str, str]]:
    return Counter((worker.key, kind) for worker in workers for kind in ("reward", "bonus"))


def states(desk, **only) -> Counter[str]:
    rows = LedgerRow.objects.filter(study=desk.study.slug, **only)
    return Counter(rows.values_list("state", flat=True))


def assert_paid_once(desk, workers) -> None:
    assert payments(desk) == once_each(workers) and set(states(desk)) == {"confirmed"} and not books.check()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", STEPS)
def test_single_failure_only_delays_payment(desk, step, kind):
    worker = desk.worker().work()
    desk.standin.misbehave(kind, STEPS[step])
    rows = desk.pay_all()
    if (step, kind) in UNCLEAR_FAILURES:
        assert (rows["base"].state, rows["bonus"].state) == ("confirmed", "unclear")
        assert payments(desk) == {(worker.key, "reward"): 1}
        row = rows["bonus"].pk
        deciding.resolve(study=desk.study.slug, row=row, paid=False, user=None, note="Checked on Prolific.")
        rows = desk.pay_all()
    while any(row.state == "failed" for row in rows.values()):
        rows = desk.pay_all()
    assert_paid_once(desk, [worker])
    for row in rows.values():
        assert worker.participant not in row.problem and worker.key not in row.problem


@pytest.mark.parametrize("step", GROUP_STEPS)
@pytest.mark.parametrize("kind", KINDS)
def test_failure_of_a_group_pays_nobody_twice(desk, workers, step, kind):
    desk.standin.misbehave(kind, GROUP_STEPS[step])
    desk.pay_all()
    if (step, kind) in UNCLEAR_FAILURES:
        assert states(desk) == {"confirmed": 3, "unclear": 3} and books.check() == []
        assert {kind for _submission, kind in payments(desk)} == {"reward"} and max(payments(desk).values()) == 1
    else:
        assert_paid_once(desk, workers)


@pytest.mark.parametrize(
    ("action", "expected_text"),
    [
        (lambda worker: worker.leave(), "returned the assignment"),
        (lambda worker: setattr(worker.there, "participant", "f" * 24), "belongs to someone else"),
        (lambda worker: worker.stage.market.submissions.pop(worker.key), "has no such assignment"),
        (lambda worker: worker.decide("REJECTED"), "was rejected"),
    ],
)
def test_invalid_submission_is_not_paid_and_explained(desk, action, expected_text):
    action(desk.worker().work())
    rows = desk.pay_all()
    assert {row.state for row in rows.values()} == {"failed"}
    assert all(expected_text in row.problem for row in rows.values())
    assert not desk.market.paid and not books.check()


def test_group_is_paid_in_one_request_of_each_kind(desk, workers):
    desk.standin.calls.clear()
    desk.pay_all()
    assert_paid_once(desk, workers)
    orders = Counter(call.path.rstrip("/").rpartition("/")[2] for call in desk.standin.calls if call.method == "POST")
    assert orders == {"bulk-approve": 1, "bonus-payments": 1, "pay": 1}
    (bonuses,) = [call.body["csv_bonuses"] for call in desk.standin.calls if call.path.endswith("bonus-payments/")]
    assert {line.partition(",")[0] for line in bonuses.split("\n")} == {worker.key for worker in workers}
    assert not [call for call in desk.standin.calls if call.method == "GET" and len(call.path.split("/")) > 5]


def test_groups_do_not_exceed_the_request_limit():
    def rows(number: int, study: str, recruiter: str, state: str = "approved"):
        common = {"study": study, "recruiter": recruiter, "state": state}
        return [LedgerRow(pk=n, reason="base" if n % 2 else "bonus", **common) for n in range(number)]

    many, task = rows(2 * MAX_BULK + 20, "s", "prolific"), rows(9, "s", "mturk")
    sizes = [len(group) for group in paying._groups([*many, *task, *rows(4, "t", "prolific", "sent")])]
    assert MAX_BULK <= 200 and sorted(sizes) == [1] * 13 + [10, 10, MAX_BULK, MAX_BULK]


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
    desk.approve_due()
    for _round in range(14):
        try:
            desk.sweep()
        except Killed:
            assert books.check() == []
    is_unclear = (method, when) == ("pay_bonus", "before")
    assert max(payments(desk).values()) == 1
    assert states(desk) == ({"confirmed": 3, "unclear": 3} if is_unclear else {"confirmed": 6})
    assert is_unclear or payments(desk) == once_each(workers)


def test_slow_approvals_are_looked_up(desk, workers):
    desk.market.pays_late = True
    desk.approve_due()
    desk.sweep()
    assert states(desk)["sent"] == 3 and not desk.market.paid
    desk.market.pay_outstanding()
    desk.market.pays_late = False
    for _round in range(6):
        desk.sweep()
    assert_paid_once(desk, workers)


class TestBonusesOfAGroup:
    @pytest.fixture
    def bonuses(self, desk, workers):
        """Bonuses whose base pay is paid; approved, but not sent."""
        desk.approve_due()
        rows = LedgerRow.objects.filter(reason="bonus")
        rows.update(state="due")
        for _round in range(3):
            desk.sweep()
        rows.update(state="approved")
        return rows

    def test_one_that_prolific_refuses_does_not_stop_the_others(self, desk, workers, bonuses):
        workers[0].decide("RETURNED")
        for _round in range(6):
            desk.sweep()
        assert states(desk, reason="bonus") == {"confirmed": 2, "failed": 1}
        assert max(payments(desk).values()) == 1

    def test_money_for_one_pays_only_that_one(self, desk, bonuses):
        desk.market.balance = with_fees(int(bonuses[0].amount * 100))
        for _round in range(6):
            desk.sweep()
        assert states(desk, reason="bonus") == {"confirmed": 1, "failed": 2}
        assert all("balance" in row.problem for row in bonuses.filter(state="failed"))
        assert [kind for _submission, kind, _cents in desk.market.paid].count("bonus") == 1

    def test_one_prepared_by_another_process_is_not_paid(self, desk, workers):
        payer = payer_of(desk.study.slug)
        orders = [worker.order("bonus") for worker in workers]
        payer.read(orders)
        references = payer.prepare_all(orders)
        assert len(set(references.values())) == 1
        other_payer = ProlificPayer(desk.offered)
        assert other_payer.pay(orders[0]).outcome == "sent"  # paid alone, under its own reference
        assert payer.pay_all(orders) == {}
        assert [payer.pay(order).outcome for order in orders] == ["confirmed", "sent", "sent"]
        assert list(payments(desk).values()) == [1, 1, 1]

    def test_group_is_never_paid_twice(self, desk, workers):
        payer = payer_of(desk.study.slug)
        orders = [worker.order("bonus") for worker in workers]
        payer.prepare_all(orders)
        assert set(payer.pay_all(orders)) == {order.uid for order in orders}
        assert payer.pay_all(orders) == {} and payer.prepare_all(orders) == {}
        assert [payer.pay(order).outcome for order in orders] == ["confirmed"] * 3
        assert list(payments(desk).values()) == [1, 1, 1]
        assert set(BonusOrder.objects.values_list("shared_by", flat=True)) == {3}
