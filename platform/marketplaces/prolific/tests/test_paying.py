"""Nobody is paid twice, nobody else's submission is paid, and unknown outcomes are reported as unclear."""

from __future__ import annotations

from decimal import Decimal

import pytest

from marketplaces.prolific.client import Client
from marketplaces.prolific.standin.market import new_id
from payouts import payers
from payouts.payers import AssignmentStatus, Outcome, Unreachable

pytestmark = pytest.mark.django_db

PREPARING = "POST /api/v1/submissions/bonus-payments/"
PAYING = "POST /api/v1/bulk-bonus-payments/"


@pytest.fixture
def worker(desk):
    """A participant who finished here and there."""
    return desk.worker().work()


@pytest.fixture
def payer(desk, worker):
    study_payer = payers.method_of("prolific").payer(desk.study.slug)
    assert study_payer.may_repeat is False
    return study_payer


@pytest.mark.parametrize(("fault", "is_paid"), [("cut", False), ("lost", True)])
def test_bonus_is_prepared_again_only_if_found_unpaid(desk, payer, worker, fault, is_paid):
    bonus = worker.order("bonus")
    first_reference = payer.prepare(bonus)
    desk.standin.misbehave(fault, PAYING)
    with pytest.raises(Unreachable):
        payer.pay(bonus)
    assert (payer.prepare(bonus) == first_reference) is is_paid
    assert payer.pay(bonus).outcome == (Outcome.CONFIRMED if is_paid else Outcome.SENT)
    assert len(worker.paid("bonus")) == 1


def test_slow_bonus_is_sent_and_then_confirmed(desk, payer, worker):
    desk.market.pays_late = True
    bonus = worker.order("bonus")
    payer.prepare(bonus)
    assert payer.pay(bonus).outcome == Outcome.SENT
    assert payer.look_up(bonus).outcome == Outcome.SENT
    desk.market.pay_outstanding()
    assert payer.look_up(bonus).outcome == Outcome.CONFIRMED


def test_accepted_bonus_found_unpaid_is_prepared_again(desk, payer, worker):
    market, bonus = desk.market, worker.order("bonus")
    market.pays_late = True
    first_reference = payer.prepare(bonus)
    assert payer.pay(bonus).outcome == Outcome.SENT
    market._unpaid_bonuses.clear()  # the accepted order is never paid
    market.pays_late = False
    assert payer.prepare(bonus) != first_reference
    assert payer.pay(bonus).outcome == Outcome.SENT
    assert payer.look_up(bonus).outcome == Outcome.CONFIRMED
    assert len(worker.paid("bonus")) == 1


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
    assert len(worker.paid("bonus")) == 1


def test_bonus_paid_by_hand_is_not_taken_for_ours(desk, payer, worker):
    bonus = worker.order("bonus")
    worker.there.bonuses.append(int(bonus.amount * 100))
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
    assert len(worker.paid("bonus")) == 1


def test_assignment_status_of_every_submission_status(payer, worker):
    base = worker.order("base")
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
        worker.there.status = status
        assert payer.assignment_status(base) == expected
    worker.there.status = "BRAND NEW"
    with pytest.raises(Unreachable, match="BRAND NEW"):
        payer.assignment_status(base)
    worker.there.study = new_id()
    assert payer.assignment_status(base) == AssignmentStatus.SOMEBODY_ELSE


def test_fee_is_what_prolific_charges(desk, payer, worker):
    assert payer.fee(worker.order("bonus", amount="1.00")) == Decimal("0.40")
    assert payer.balance() == (Decimal("9972.00"), "USD")
