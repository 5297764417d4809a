"""Nobody is paid twice, nobody else's submission is paid, and unknown outcomes are reported as unclear."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from marketplaces.prolific.client import Client
from marketplaces.prolific.standin.market import new_id
from payouts import payers
from payouts.payers import AssignmentStatus, Outcome, Unreachable

pytestmark = pytest.mark.django_db

APPROVING = r"POST /api/v1/submissions/\w+/transition/"
PREPARING = "POST /api/v1/submissions/bonus-payments/"
PAYING = "POST /api/v1/bulk-bonus-payments/"
LOOKING = r"GET /api/v1/submissions/\w+/"


@pytest.fixture
def payer(desk):
    desk.publish()
    study_payer = payers.method_of("prolific").payer(desk.study.slug)
    assert study_payer.may_repeat is False
    return study_payer


@pytest.fixture
def worker(desk, payer):
    """A participant who finished here and there."""
    worker = desk.worker()
    worker.finish()
    worker.submit()
    return worker


def paid(desk, worker, reason: str) -> list[int]:
    """Return what a participant was paid for `reason`, in cents."""
    name = "reward" if reason == "base" else reason
    return [
        cents
        for submission, kind, cents in desk.standin.market.paid
        if submission == worker.submission.id and kind == name
    ]


def test_bonus_found_unpaid_is_prepared_again(desk, payer, worker):
    bonus = worker.order("bonus")
    first_reference = payer.prepare(bonus)
    desk.standin.misbehave("cut", PAYING)
    with pytest.raises(Unreachable):
        payer.pay(bonus)
    assert payer.prepare(bonus) != first_reference
    assert payer.pay(bonus).outcome == Outcome.SENT
    assert len(paid(desk, worker, "bonus")) == 1


def test_bonus_paid_after_all_is_not_prepared_again(desk, payer, worker):
    bonus = worker.order("bonus")
    first_reference = payer.prepare(bonus)
    desk.standin.misbehave("lost", PAYING)
    with pytest.raises(Unreachable):
        payer.pay(bonus)
    assert payer.prepare(bonus) == first_reference
    assert payer.pay(bonus).outcome == Outcome.CONFIRMED
    assert len(paid(desk, worker, "bonus")) == 1


def test_slow_bonus_is_sent_and_then_confirmed(desk, payer, worker):
    desk.standin.market.pays_late = True
    bonus = worker.order("bonus")
    payer.prepare(bonus)
    assert payer.pay(bonus).outcome == Outcome.SENT
    assert payer.look_up(bonus).outcome == Outcome.SENT
    desk.standin.market.pay_outstanding()
    assert payer.look_up(bonus).outcome == Outcome.CONFIRMED


def test_accepted_bonus_found_unpaid_is_prepared_again(desk, payer, worker):
    market, bonus = desk.standin.market, worker.order("bonus")
    market.pays_late = True
    first_reference = payer.prepare(bonus)
    assert payer.pay(bonus).outcome == Outcome.SENT
    market._unpaid_bonuses.clear()  # the accepted order is never paid
    market.pays_late = False
    assert payer.prepare(bonus) != first_reference
    assert payer.pay(bonus).outcome == Outcome.SENT
    assert payer.look_up(bonus).outcome == Outcome.CONFIRMED
    assert len(paid(desk, worker, "bonus")) == 1


def test_slow_preparation_does_not_pay_twice(desk, payer, worker, monkeypatch):
    bonus = worker.order("bonus")
    payer.prepare(bonus)
    desk.standin.misbehave("cut", PAYING)
    with pytest.raises(Unreachable):
        payer.pay(bonus)
    set_up = Client.set_up_bonuses

    def overtaken(self, **keywords):
        monkeypatch.undo()
        payer.prepare(bonus)
        assert payer.pay(bonus).outcome == Outcome.SENT
        return set_up(self, **keywords)

    monkeypatch.setattr(Client, "set_up_bonuses", overtaken)
    payer.prepare(bonus)
    assert payer.pay(bonus).outcome == Outcome.CONFIRMED
    assert len(paid(desk, worker, "bonus")) == 1


def test_bonus_paid_by_hand_is_not_taken_for_ours(desk, payer, worker):
    bonus = worker.order("bonus")
    desk.standin.market.submissions[worker.submission.id].bonuses.append(int(bonus.amount * 100))
    payer.prepare(bonus)
    desk.standin.misbehave("cut", PAYING)
    with pytest.raises(Unreachable):
        payer.pay(bonus)
    assert payer.look_up(bonus).outcome == Outcome.UNCLEAR


@pytest.mark.parametrize("kind", ["cut", "lost", "refused", "refused-late", "garbage"])
def test_failed_preparation_moves_no_money(desk, payer, worker, kind):
    bonus = worker.order("bonus")
    desk.standin.misbehave(kind, PREPARING)
    with pytest.raises(Unreachable):
        payer.prepare(bonus)
    assert payer.pay(bonus).outcome == Outcome.REFUSED
    assert payer.prepare(bonus)
    assert payer.pay(bonus).outcome == Outcome.SENT
    assert len(paid(desk, worker, "bonus")) == 1


def test_assignment_status_of_every_submission_status(desk, payer, worker):
    base, market = worker.order("base"), desk.standin.market
    expected_status = {
        "RESERVED": AssignmentStatus.WORKING,
        "ACTIVE": AssignmentStatus.WORKING,
        "TIMED-OUT": AssignmentStatus.TIMED_OUT,
        "AWAITING REVIEW": AssignmentStatus.SUBMITTED,
        "AWAITING_REVIEW": AssignmentStatus.SUBMITTED,
        "APPROVED": AssignmentStatus.APPROVED,
        "RETURNED": AssignmentStatus.RETURNED,
        "REJECTED": AssignmentStatus.REJECTED,
        "SCREENED OUT": AssignmentStatus.REJECTED,
    }
    for status, expected in expected_status.items():
        market.submissions[worker.submission.id].status = status
        assert payer.assignment_status(base) == expected
    market.submissions[worker.submission.id].status = "BRAND NEW"
    with pytest.raises(Unreachable, match="BRAND NEW"):
        payer.assignment_status(base)


def test_submission_of_another_participant_is_recognised(desk, payer, worker):
    other_worker = desk.worker()
    order = replace(worker.order("base"), details={"SESSION_ID": other_worker.submission.id})
    assert payer.assignment_status(order) == AssignmentStatus.SOMEBODY_ELSE
    desk.standin.market.submissions[worker.submission.id].study = new_id()
    assert payer.assignment_status(worker.order("base")) == AssignmentStatus.SOMEBODY_ELSE


def test_fee_is_what_prolific_charges(desk, payer, worker):
    assert payer.fee(worker.order("bonus", amount="1.00")) == Decimal("0.40")
    assert payer.balance() == (Decimal("9972.00"), "USD")
