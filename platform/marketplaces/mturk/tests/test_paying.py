"""Payments that the ledger orders (`payouts.payers`): approvals pay base pay, bonuses pay the rest, each exactly
once.
"""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

import pytest

from exports.tests import building
from marketplaces.mturk.models import Hit
from payouts import payers
from payouts.payers import AssignmentStatus, Order, Outcome
from recruiters.models import Identity

pytestmark = pytest.mark.django_db


def order_for(person: Any, reason: str = "bonus", amount: str = "0.75", **fields: Any) -> Order:
    identity = Identity.objects.get(enrolment=person)
    order_fields = {
        "uid": uuid.uuid4(),
        "reason": reason,
        "amount": Decimal(amount),
        "currency": "USD",
        "worker": identity.worker,
        "details": identity.details,
        "message": "Thank you for playing.",
    }
    return Order(**{**order_fields, **fields})


@pytest.fixture
def payer(staged):
    method = payers.method_of("mturk")
    assert method is not None and method.payer is not None
    return method.payer(staged.study.slug)


@pytest.fixture
def played(staged):
    return staged.work_through(staged.published(), "AWORKERONE")


def test_automatic_approval_is_recognised(staged, payer, played):
    person, assignment = played
    staged.market.pass_time(4 * 86400)
    base = order_for(person, "base", "1.00")
    assert assignment.status == "Approved"
    assert payer.assignment_status(base) is AssignmentStatus.APPROVED
    assert payer.look_up(base).outcome is Outcome.CONFIRMED


def test_participant_with_anothers_assignment_is_not_paid(staged, payer, played):
    _person, assignment = played
    forger = building.arrive(
        staged.study,
        worker="AFORGER",
        proof=f"{assignment.id}/AFORGER",
        details={"assignmentId": assignment.id, "hitId": assignment.hit.id},
    )
    for order in (order_for(forger, "base", "1.00"), order_for(forger)):
        assert payer.assignment_status(order) is AssignmentStatus.SOMEBODY_ELSE
        assert payer.pay(order).outcome is Outcome.REFUSED
    assert not staged.market.bonuses
    assert assignment.status == "Submitted"


def test_assignment_of_another_study_is_not_paid(staged, payer, standin):
    from marketplaces.mturk.tests.staged import staged_at

    other_study = staged_at(standin, slug="other")
    person, assignment = other_study.work_through(other_study.published(), "AWORKERTWO")
    order = order_for(person, "base", "1.00")
    assert payer.assignment_status(order) is AssignmentStatus.SOMEBODY_ELSE
    assert payer.pay(order).outcome is Outcome.REFUSED
    assert assignment.status == "Submitted"


def test_nothing_is_paid_before_submission(staged, payer):
    hit = staged.published()
    assignment = staged.accept(hit, "AWORKERONE")
    person = staged.arrive(assignment)
    assert payer.assignment_status(order_for(person)) is AssignmentStatus.WORKING
    for reason, amount in (("base", "1.00"), ("bonus", "0.50")):
        answer = payer.pay(order_for(person, reason, amount))
        assert answer.outcome is Outcome.REFUSED
        assert "not submitted" in answer.reason and "AWORKERONE" not in answer.reason
    staged.market.leave(assignment)
    assert payer.assignment_status(order_for(person)) is AssignmentStatus.RETURNED


def test_automatic_approval_confirms_only_the_same_amount(staged, payer, played):
    person, _assignment = played
    staged.market.pass_time(4 * 86400)
    base = order_for(person, "base", "2.00")
    for answer in (payer.pay(base), payer.look_up(base)):
        assert answer.outcome is Outcome.REFUSED
        assert "1.00" in answer.reason and "2.00" in answer.reason


def test_reward_comes_from_the_task_that_mturk_names(staged, payer, played):
    person, assignment = played
    expensive = staged.published()
    Hit.objects.filter(pk=expensive.pk).update(reward="5.00")
    details = {**person.identity.details, "hitId": expensive.hit_id}
    assert payer.pay(order_for(person, "base", "5.00", details=details)).outcome is Outcome.REFUSED
    assert assignment.status == "Submitted"
    assert payer.pay(order_for(person, "base", "1.00", details=details)).outcome is Outcome.CONFIRMED


def test_worker_approved_meanwhile_is_paid(staged, payer, played, monkeypatch):
    person, assignment = played
    approve = staged.market.approve

    def after_another_decision(*arguments, **keywords):
        monkeypatch.undo()
        approve(assignment, "", override=False)
        approve(*arguments, **keywords)

    monkeypatch.setattr(staged.market, "approve", after_another_decision)
    assert payer.pay(order_for(person, "base", "1.00")).outcome is Outcome.CONFIRMED


def test_worker_rejected_meanwhile_is_not_paid(staged, payer, played, monkeypatch):
    person, assignment = played
    approve = staged.market.approve

    def after_another_decision(*arguments, **keywords):
        staged.market.reject(assignment, "Nothing was done at all.")
        approve(*arguments, **keywords)

    monkeypatch.setattr(staged.market, "approve", after_another_decision)
    answer = payer.pay(order_for(person, "base", "1.00"))
    assert answer.outcome is Outcome.REFUSED and "rejected" in answer.reason


def test_bonus_with_a_long_message_can_be_found(staged, payer, played):
    person, _assignment = played
    bonus = order_for(person, message="x" * 5000)
    payer.pay(bonus)
    assert payer.look_up(bonus).outcome is Outcome.CONFIRMED
    assert len(staged.market.bonuses[0]["Reason"]) <= 1000
