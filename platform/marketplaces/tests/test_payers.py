"""What every marketplace's payer promises (`payouts.payers`): nobody is paid twice, and nobody else is paid."""

from __future__ import annotations

import pytest

from llm_agents.standins.kit import WITHOUT_EFFECT, Fault
from marketplaces.models import Offer, Recruitment, Submission
from payouts import payers
from payouts.payers import AssignmentStatus, Outcome, Unreachable

pytestmark = pytest.mark.django_db
STATUS = Submission.Status
TAKEN = (Outcome.CONFIRMED, Outcome.SENT)


@pytest.fixture
def worker(stage):
    return stage.submitted()


@pytest.fixture
def payer(stage, worker):
    method = payers.method_of(stage.kind)
    assert method is not None and method.payer is not None
    return method.payer(stage.study.slug)


@pytest.mark.parametrize("reason", ["base", "bonus"])
def test_repeated_requests_pay_once(payer, worker, reason):
    order = worker.order(reason)
    assert payer.assignment_status(order) == AssignmentStatus.SUBMITTED
    assert payer.look_up(order).outcome == Outcome.NOT_FOUND
    before = payer.balance()
    payer.prepare(order)
    assert not worker.paid(reason) and payer.balance() == before, "preparing moves no money"
    for _time in range(3):
        assert payer.pay(order).outcome in TAKEN
    assert payer.look_up(order).outcome == Outcome.CONFIRMED
    assert worker.paid(reason) == [order.amount]
    assert payer.assignment_status(order) == (
        AssignmentStatus.APPROVED if reason == "base" else AssignmentStatus.SUBMITTED
    )


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.SLOW])
@pytest.mark.parametrize("reason", ["base", "bonus"])
def test_lost_answer_is_looked_up_before_anything_else(stage, payer, worker, reason, fault):
    order = worker.order(reason)
    payer.prepare(order)
    stage.standin.misbehave(fault, stage.pay_calls[reason], seconds=7)
    try:
        payer.pay(order)
    except Unreachable as error:
        assert worker.participant not in str(error)
    found = payer.look_up(order).outcome
    unclear = stage.kind == "prolific" and reason == "bonus" and fault in WITHOUT_EFFECT - {Fault.RATE}
    assert found in ((Outcome.UNCLEAR,) if unclear else (Outcome.NOT_FOUND,) if fault in WITHOUT_EFFECT else TAKEN)
    again = payer.pay(order).outcome
    assert again == Outcome.UNCLEAR if unclear else again in TAKEN
    twice = fault is Fault.TWICE and stage.kind == "prolific" and reason == "bonus"  # Prolific pays on every call
    assert worker.paid(reason) == [order.amount] * (0 if unclear else 2 if twice else 1)


def test_status_of_each_submission_is_told(stage, payer, worker):
    order = worker.order("base")
    for status, expected in (
        (STATUS.APPROVED, AssignmentStatus.APPROVED),
        (STATUS.REJECTED, AssignmentStatus.REJECTED),
        (STATUS.SUBMITTED, AssignmentStatus.SUBMITTED),
    ):
        worker.decide(status)
        assert payer.assignment_status(order) == expected
    unsubmitted = stage.worker()
    unsubmitted.finish()
    assert payer.assignment_status(unsubmitted.order("base")) == AssignmentStatus.WORKING
    assert payer.pay(unsubmitted.order("base")).outcome == Outcome.REFUSED
    assert not unsubmitted.paid("base")


def test_submission_of_another_participant_is_not_paid(stage, payer, worker):
    other = stage.worker()
    other.finish()
    order = worker.order("base", details=other.person.identity.details)
    assert payer.assignment_status(order) != AssignmentStatus.SUBMITTED
    other.submit()
    assert payer.assignment_status(order) == AssignmentStatus.SOMEBODY_ELSE


def test_unknown_submission_is_not_paid(stage, payer, worker):
    invented = worker.order("base", details={stage.id_name: "3" * 24})
    assert payer.assignment_status(invented) == AssignmentStatus.UNKNOWN
    assert payer.pay(invented).outcome == Outcome.REFUSED
    assert payer.look_up(invented).outcome == Outcome.NOT_FOUND
    assert payer.assignment_status(worker.order("base", details={})) != AssignmentStatus.SUBMITTED


def test_only_the_published_reward_in_its_currency_is_paid(payer, worker):
    answer = payer.pay(worker.order("base", "2.00"))
    assert answer.outcome == Outcome.REFUSED and "1.00" in answer.reason
    for reason in ("base", "bonus"):
        assert payer.pay(worker.order(reason, currency="EUR")).outcome == Outcome.REFUSED
    assert worker.status == STATUS.SUBMITTED and not worker.paid("bonus")


def test_bonus_without_money_can_be_paid_later(stage, payer, worker):
    bonus, market = worker.order("bonus"), stage.standin.market
    payer.prepare(bonus)
    money = dict(vars(market))
    stage.spend_all()
    answer = payer.pay(bonus)
    assert answer.outcome == Outcome.REFUSED and "balance" in answer.reason
    assert payer.look_up(bonus).outcome == Outcome.NOT_FOUND
    vars(market).update({name: money[name] for name in ("total", "balance") if name in money})
    assert payer.pay(bonus).outcome in TAKEN
    assert worker.paid("bonus") == [bonus.amount]


@pytest.mark.parametrize("fault", [Fault.CUT, Fault.REFUSED, Fault.GARBAGE, Fault.RATE])
def test_status_is_unreachable_when_the_marketplace_fails(stage, payer, worker, fault):
    for ask in (payer.assignment_status, payer.look_up):
        stage.standin.misbehave(fault, stage.status_call)
        with pytest.raises(Unreachable) as error:
            ask(worker.order("base"))
        assert worker.participant not in str(error.value)
    stage.standin.misbehave(fault, "(?i)balance")
    with pytest.raises(Unreachable):
        payer.balance()


@pytest.mark.slow
def test_study_that_is_not_there_pays_nobody(stage, worker):
    Offer.objects.all().delete()
    Recruitment.objects.all().delete()
    with pytest.raises(Unreachable):
        payers.method_of(stage.kind).payer(stage.study.slug)
