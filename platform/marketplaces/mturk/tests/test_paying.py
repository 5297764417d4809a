"""Payments that the ledger orders (`payouts.payers`): approvals pay base pay, bonuses pay the rest, each exactly
once.
"""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

import pytest

from exports.tests import building
from llm_agents.standins.kit import Fault
from marketplaces.models import Recruitment
from marketplaces.mturk.models import Hit
from marketplaces.mturk.paying import payer_of
from payouts import payers
from payouts.payers import AssignmentStatus, Order, Outcome, Unreachable
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


def test_base_pay_is_paid_by_approving(staged, payer, played):
    person, assignment = played
    base = order_for(person, "base", "1.00")
    assert payer.assignment_status(base) is AssignmentStatus.SUBMITTED
    assert payer.look_up(base).outcome is Outcome.NOT_FOUND
    assert payer.fee(base) == Decimal("0.20")
    assert payer.prepare(base) == ""
    assert payer.pay(base).outcome is Outcome.CONFIRMED
    assert (assignment.status, assignment.feedback) == ("Approved", "Thank you for playing.")
    assert payer.assignment_status(base) is AssignmentStatus.APPROVED
    assert payer.look_up(base).outcome is Outcome.CONFIRMED
    assert payer.pay(base).outcome is Outcome.CONFIRMED


def test_automatic_approval_is_recognised(staged, payer, played):
    person, assignment = played
    staged.market.pass_time(4 * 86400)
    base = order_for(person, "base", "1.00")
    assert assignment.status == "Approved"
    assert payer.assignment_status(base) is AssignmentStatus.APPROVED
    assert payer.look_up(base).outcome is Outcome.CONFIRMED


def test_repeated_bonus_is_paid_once(staged, payer, played):
    person, _assignment = played
    bonus = order_for(person)
    assert payer.look_up(bonus).outcome is Outcome.NOT_FOUND
    assert payer.fee(bonus) == Decimal("0.15")
    balance_before = payer.balance()[0]
    for _time in range(3):
        assert payer.pay(bonus).outcome is Outcome.CONFIRMED
    assert payer.look_up(bonus).outcome is Outcome.CONFIRMED
    (paid,) = staged.market.bonuses
    assert (paid["BonusAmount"], paid["WorkerId"]) == ("0.75", "AWORKERONE")
    assert balance_before - payer.balance()[0] == Decimal("0.90")
    assert payer.look_up(order_for(person)).outcome is Outcome.NOT_FOUND, "another row was not paid by it"


@pytest.mark.parametrize("operation", ["SendBonus", "ApproveAssignment"])
@pytest.mark.parametrize(
    ("failure", "takes_effect"),
    [
        (Fault.CUT, False),
        (Fault.REFUSED, False),
        (Fault.RATE, False),
        (Fault.LOST, True),
        (Fault.REFUSED_LATE, True),
        (Fault.GARBAGE_LATE, True),
    ],
)
def test_lookup_after_a_lost_answer_finds_the_outcome(staged, payer, played, operation, failure, takes_effect):
    person, _assignment = played
    order = order_for(person) if operation == "SendBonus" else order_for(person, "base", "1.00")
    staged.standin.misbehave(failure, operation)
    with pytest.raises(Unreachable):
        payer.pay(order)
    assert payer.look_up(order).outcome is (Outcome.CONFIRMED if takes_effect else Outcome.NOT_FOUND)
    assert payer.pay(order).outcome is Outcome.CONFIRMED
    paid = staged.market.bonuses if operation == "SendBonus" else list(staged.market.assignments.values())
    assert len(paid) == 1


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


def test_assignment_unknown_to_mturk_is_not_paid(staged, payer):
    person = building.arrive(staged.study, worker="AMADEUP", details={"assignmentId": "3MADEUP", "hitId": "3MADEUP"})
    for order in (order_for(person, "base", "1.00"), order_for(person)):
        assert payer.assignment_status(order) is AssignmentStatus.UNKNOWN
        assert payer.pay(order).outcome is Outcome.REFUSED
        assert payer.look_up(order).outcome in (Outcome.NOT_FOUND,)


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


def test_rejected_assignment_is_not_approved(staged, payer, played):
    person, assignment = played
    staged.market.reject(assignment, "Nothing was done at all.")
    base = order_for(person, "base", "1.00")
    assert payer.assignment_status(base) is AssignmentStatus.REJECTED
    assert payer.pay(base).outcome is Outcome.REFUSED
    assert payer.look_up(base).outcome is Outcome.REFUSED
    assert assignment.status == "Rejected"


def test_reward_that_differs_from_the_ledger_is_not_paid(staged, payer, played):
    person, assignment = played
    answer = payer.pay(order_for(person, "base", "2.00"))
    assert answer.outcome is Outcome.REFUSED
    assert "1.00" in answer.reason and "2.00" in answer.reason
    assert assignment.status == "Submitted"


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


def test_insufficient_balance_is_reported_and_pays_nothing(staged, payer, played):
    person, _assignment = played
    staged.market.total = staged.market.spent + staged.market.held
    answer = payer.pay(order_for(person))
    assert answer.outcome is Outcome.REFUSED
    assert "balance of the Mechanical Turk account is too low" in answer.reason
    assert not staged.market.bonuses


def test_other_currencies_are_refused(payer, played):
    person, _assignment = played
    assert payer.pay(order_for(person, currency="EUR")).outcome is Outcome.REFUSED


@pytest.mark.parametrize("failure", [Fault.CUT, Fault.GARBAGE_LATE, Fault.GARBLED, Fault.RATE])
def test_status_is_unreachable_when_mturk_fails(staged, payer, played, failure):
    person, _assignment = played
    staged.standin.misbehave(failure)
    with pytest.raises(Unreachable) as error:
        payer.assignment_status(order_for(person))
    assert "AWORKERONE" not in str(error.value)
    assert payer.assignment_status(order_for(person)) is AssignmentStatus.SUBMITTED


def test_study_without_an_account_pays_nobody(staged):
    Recruitment.objects.all().delete()
    with pytest.raises(Unreachable, match="choose a Mechanical Turk account"):
        payer_of(staged.study.slug)


def test_bonus_with_a_long_message_can_be_found(staged, payer, played):
    person, _assignment = played
    bonus = order_for(person, message="x" * 5000)
    payer.pay(bonus)
    assert payer.look_up(bonus).outcome is Outcome.CONFIRMED
    assert len(staged.market.bonuses[0]["Reason"]) <= 1000
