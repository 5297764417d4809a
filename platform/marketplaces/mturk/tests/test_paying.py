"""What only Mechanical Turk's payments have: automatic approval, tasks with their own reward, decisions meanwhile."""

from __future__ import annotations

import pytest

from exports.tests import building
from marketplaces.models import Offer
from payouts import payers
from payouts.payers import AssignmentStatus, Outcome

pytestmark = pytest.mark.django_db


@pytest.fixture
def payer(staged):
    return payers.method_of("mturk").payer(staged.study.slug)


@pytest.fixture
def worker(staged):
    return staged.worker().work()


def test_automatic_approval_confirms_only_the_same_amount(staged, payer, worker):
    staged.market.pass_time(4 * 86400)
    base = worker.order("base")
    assert payer.assignment_status(base) is AssignmentStatus.APPROVED
    assert payer.look_up(base).outcome is Outcome.CONFIRMED
    for ask in (payer.pay, payer.look_up):
        answer = ask(worker.order("base", "2.00"))
        assert answer.outcome is Outcome.REFUSED and "1.00" in answer.reason and "2.00" in answer.reason


def test_participant_with_anothers_assignment_is_not_paid(staged, payer, worker):
    details = {"assignmentId": worker.key, "hitId": worker.there.hit.id}
    building.complete(staged.study, worker="AFORGER", proof=f"{worker.key}/AFORGER", details=details)
    forger = type(worker)(staged, worker.there)
    for order in (forger.order("base", worker="AFORGER"), forger.order("bonus", worker="AFORGER")):
        assert payer.assignment_status(order) is AssignmentStatus.SOMEBODY_ELSE
        assert payer.pay(order).outcome is Outcome.REFUSED
    assert not staged.market.bonuses and worker.there.status == "Submitted"


def test_assignment_of_another_study_is_not_paid(staged, payer):
    stranger = staged.beside().worker().work()
    assert payer.assignment_status(stranger.order("base")) is AssignmentStatus.SOMEBODY_ELSE
    assert payer.pay(stranger.order("base")).outcome is Outcome.REFUSED
    assert stranger.there.status == "Submitted"


def test_nothing_is_paid_before_submission(staged, payer):
    worker = staged.worker()
    worker.finish()
    for reason in ("base", "bonus"):
        answer = payer.pay(worker.order(reason))
        assert answer.outcome is Outcome.REFUSED
        assert "not submitted" in answer.reason and worker.participant not in answer.reason
    worker.leave()
    assert payer.assignment_status(worker.order("bonus")) is AssignmentStatus.RETURNED


def test_reward_comes_from_the_task_that_mturk_names(staged, payer, worker):
    expensive = staged.publish()
    Offer.objects.filter(pk=expensive.pk).update(reward="5.00")
    details = {**worker.person.identity.details, "hitId": expensive.remote_id}
    assert payer.pay(worker.order("base", "5.00", details=details)).outcome is Outcome.REFUSED
    assert worker.there.status == "Submitted"
    assert payer.pay(worker.order("base", details=details)).outcome is Outcome.CONFIRMED


@pytest.mark.parametrize(("status", "expected"), [("Approved", Outcome.CONFIRMED), ("Rejected", Outcome.REFUSED)])
def test_decision_meanwhile_counts(staged, payer, worker, monkeypatch, status, expected):
    decide = staged.market.decide

    def after_another_decision(*arguments, **keywords):
        worker.there.status = status
        decide(*arguments, **keywords)

    monkeypatch.setattr(staged.market, "decide", after_another_decision)
    assert payer.pay(worker.order("base")).outcome is expected


def test_bonus_with_a_long_message_can_be_found(staged, payer, worker):
    bonus = worker.order("bonus", message="x" * 5000)
    payer.pay(bonus)
    assert payer.look_up(bonus).outcome is Outcome.CONFIRMED
    assert len(staged.market.bonuses[0]["Reason"]) <= 1000
