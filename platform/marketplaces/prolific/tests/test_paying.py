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


def test_base_and_bonus_are_paid_once(desk, payer, worker):
    base, bonus = worker.order("base"), worker.order("bonus")
    assert payer.assignment_status(base) == AssignmentStatus.SUBMITTED
    assert payer.prepare(base) == ""
    assert payer.pay(base).outcome == Outcome.CONFIRMED
    assert payer.assignment_status(base) == AssignmentStatus.APPROVED
    reference = payer.prepare(bonus)
    assert reference and not paid(desk, worker, "bonus")
    assert payer.pay(replace(bonus, reference=reference)).outcome == Outcome.SENT
    assert payer.look_up(bonus).outcome == Outcome.CONFIRMED
    assert paid(desk, worker, "base") == [100] and paid(desk, worker, "bonus") == [int(bonus.amount * 100)]


def test_repeated_payment_requests_pay_once(desk, payer, worker):
    base, bonus = worker.order("base"), worker.order("bonus")
    for _i in range(3):
        assert payer.pay(base).outcome == Outcome.CONFIRMED
        payer.prepare(bonus)
        assert payer.pay(bonus).outcome in (Outcome.SENT, Outcome.CONFIRMED)
    assert paid(desk, worker, "base") == [100]
    assert len(paid(desk, worker, "bonus")) == 1
    assert len(desk.standin.market.bulks) == 1


@pytest.mark.parametrize("kind", ["lost", "refused-late"])
def test_bonus_with_lost_answer_is_found_on_prolific(desk, payer, worker, kind):
    bonus = worker.order("bonus")
    payer.prepare(bonus)
    desk.standin.misbehave(kind, PAYING)
    with pytest.raises(Unreachable):
        payer.pay(bonus)
    assert payer.look_up(bonus).outcome == Outcome.CONFIRMED
    assert payer.pay(bonus).outcome == Outcome.CONFIRMED
    assert len(paid(desk, worker, "bonus")) == 1


def test_missing_bonus_is_unclear_and_never_sent_again(desk, payer, worker):
    bonus = worker.order("bonus")
    payer.prepare(bonus)
    desk.standin.misbehave("cut", PAYING)
    with pytest.raises(Unreachable):
        payer.pay(bonus)
    answer = payer.look_up(bonus)
    assert answer.outcome == Outcome.UNCLEAR and "Please check on Prolific yourself" in answer.reason
    assert payer.pay(bonus).outcome == Outcome.UNCLEAR
    assert not paid(desk, worker, "bonus")


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


@pytest.mark.parametrize("reason", ["base", "bonus"])
def test_throttled_call_is_repeated(desk, payer, worker, reason):
    order = worker.order(reason)
    payer.prepare(order)
    desk.standin.misbehave("rate", PAYING if reason == "bonus" else APPROVING)
    with pytest.raises(Unreachable, match="too many requests"):
        payer.pay(order)
    assert payer.look_up(order).outcome == Outcome.NOT_FOUND
    assert payer.pay(order).outcome in (Outcome.SENT, Outcome.CONFIRMED)
    assert len(paid(desk, worker, reason)) == 1


def test_refused_bonus_can_be_paid_later(desk, payer, worker):
    bonus, balance = worker.order("bonus"), desk.standin.market.balance
    payer.prepare(bonus)
    desk.standin.market.balance = 0
    answer = payer.pay(bonus)
    assert answer.outcome == Outcome.REFUSED and answer.reason
    assert payer.look_up(bonus).outcome == Outcome.NOT_FOUND
    desk.standin.market.balance = balance
    assert payer.pay(bonus).outcome == Outcome.SENT
    assert len(paid(desk, worker, "bonus")) == 1


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


@pytest.mark.parametrize("kind", ["lost", "refused-late"])
def test_approval_with_lost_answer_is_looked_up(desk, payer, worker, kind):
    base = worker.order("base")
    desk.standin.misbehave(kind, APPROVING)
    with pytest.raises(Unreachable):
        payer.pay(base)
    assert payer.look_up(base).outcome == Outcome.CONFIRMED
    assert paid(desk, worker, "base") == [100]


@pytest.mark.parametrize("kind", ["cut", "refused"])
def test_lost_approval_request_can_be_sent_again(desk, payer, worker, kind):
    base = worker.order("base")
    desk.standin.misbehave(kind, APPROVING)
    with pytest.raises(Unreachable):
        payer.pay(base)
    assert payer.look_up(base).outcome == Outcome.NOT_FOUND
    assert payer.pay(base).outcome == Outcome.CONFIRMED


@pytest.mark.parametrize("kind", ["cut", "refused", "garbage", "rate"])
def test_malformed_answer_leaves_the_status_unknown(desk, payer, worker, kind):
    base = worker.order("base")
    for ask in (payer.assignment_status, payer.look_up):
        desk.standin.misbehave(kind, LOOKING)
        with pytest.raises(Unreachable) as answer:
            ask(base)
        assert worker.participant not in str(answer.value) and worker.submission.id not in str(answer.value)
    desk.standin.misbehave(kind, "balance")
    with pytest.raises(Unreachable):
        payer.balance()


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


def test_submission_missing_on_prolific_is_unknown(payer, worker):
    invented = replace(worker.order("base"), details={"SESSION_ID": new_id()})
    assert payer.assignment_status(invented) == AssignmentStatus.UNKNOWN
    assert payer.assignment_status(replace(invented, details={})) != AssignmentStatus.SUBMITTED


def test_submission_of_another_participant_is_recognised(desk, payer, worker):
    other_worker = desk.worker()
    order = replace(worker.order("base"), details={"SESSION_ID": other_worker.submission.id})
    assert payer.assignment_status(order) == AssignmentStatus.SOMEBODY_ELSE
    desk.standin.market.submissions[worker.submission.id].study = new_id()
    assert payer.assignment_status(worker.order("base")) == AssignmentStatus.SOMEBODY_ELSE


def test_only_the_published_reward_is_paid_as_base_pay(desk, payer, worker):
    answer = payer.pay(worker.order("base", amount="2.00"))
    assert answer.outcome == Outcome.REFUSED and "1.00" in answer.reason
    assert payer.pay(replace(worker.order("base"), currency="GBP")).outcome == Outcome.REFUSED
    assert not desk.standin.market.paid


def test_unsubmitted_participant_cannot_be_approved(desk, payer):
    worker = desk.worker()
    worker.finish()
    answer = payer.pay(worker.order("base"))
    assert answer.outcome == Outcome.REFUSED and "ACTIVE" in answer.reason
    worker.submit()
    assert payer.pay(worker.order("base")).outcome == Outcome.CONFIRMED


def test_fee_is_what_prolific_charges(desk, payer, worker):
    assert payer.fee(worker.order("bonus", amount="1.00")) == Decimal("0.40")
    assert payer.balance() == (Decimal("9972.00"), "USD")


def test_study_not_on_prolific_pays_nobody(db):
    with pytest.raises(Unreachable, match="not on Prolific"):
        payers.method_of("prolific").payer("no-such-study")
