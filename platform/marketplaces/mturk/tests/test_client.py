"""The boto3 client, tested against the stand-in over a real socket."""

from __future__ import annotations

import logging
import uuid
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from llm_agents.standins.kit import Fault
from marketplaces import modules
from marketplaces.kinds import Refused, Unclear
from marketplaces.models import Offer
from marketplaces.mturk.client import KEY_ID, SECRET, requester_of
from marketplaces.mturk.standin.market import RequestError
from marketplaces.mturk.terms import Status

pytestmark = pytest.mark.django_db


def test_balance_is_returned(staged):
    assert staged.requester.balance() == Decimal("10000.00")
    assert "$10,000.00" in modules.client("mturk").check(staged.account)


@pytest.mark.parametrize(
    ("credentials", "expected_text"),
    [
        ({KEY_ID: "AKIASOMEBODYELSE0000", SECRET: "s"}, "not recognise the access key"),
        ({KEY_ID: "AKIATWINTWINTWINTWIN", SECRET: "wrong"}, "does not match"),
        ({KEY_ID: "AKIATWINTWINTWINTWIN"}, "no access key yet"),
        ({}, "no access key yet"),
    ],
)
def test_wrong_keys_are_refused_and_not_disclosed(staged, caplog, credentials, expected_text):
    caplog.set_level(logging.DEBUG, logger="marketplaces")
    staged.account.keep_credentials(credentials)
    with pytest.raises(Refused) as refusal:
        requester_of(staged.account).balance()
    assert expected_text in str(refusal.value)
    for secret in credentials.values():
        assert len(secret) < 5 or secret not in str(refusal.value) + repr(refusal.value) + caplog.text


def test_server_on_a_private_network_must_be_configured(staged, settings):
    settings.LOCAL_HOSTS = []
    with pytest.raises(Refused, match="LOCAL_HOSTS"):
        staged.requester.balance()


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault not in (Fault.RATE, Fault.TWICE)])
def test_malformed_answer_is_unclear(staged, fault):
    staged.standin.misbehave(fault, "GetAccountBalance", seconds=30)
    with pytest.raises(Unclear, match="is not responding properly"):
        staged.requester.balance()


def test_task_is_created_as_requested(staged):
    demands = {"approved_percent": 95, "approved_number": 100, "countries": ["US", "GB"], "rest_hours": 12}
    hit = staged.publish(name="Split “money” & more", places=12, **demands)
    task = staged.market.hits[hit.remote_id]
    assert (task.title, task.assignments, task.reward) == ("Split “money” & more", 12, Decimal("1.00"))
    assert task.address == "http://testserver/join/splitting/"
    assert len(task.requirements) == 4
    assert all(requirement["ActionsGuarded"] == "DiscoverPreviewAndAccept" for requirement in task.requirements)
    current = staged.requester.hit(hit.remote_id)
    assert (current.status, current.available, current.pending) == ("Assignable", 12, 0)
    assert current.annotation == hit.reference


def test_bonus_whose_request_arrives_twice_is_paid_once(staged):
    worker = staged.worker().work()
    staged.standin.misbehave(Fault.TWICE, "SendBonus")
    bonus = {"WorkerId": worker.participant, "AssignmentId": worker.key, "BonusAmount": "0.75", "Reason": "Well played"}
    staged.requester.once("send_bonus", uuid.uuid4(), **bonus)
    assert staged.standin.calls.count("SendBonus") == 2 and len(staged.market.bonuses) == 1


def test_expired_task_is_offered_to_nobody_and_can_be_deleted(staged):
    hit = staged.publish()
    staged.requester.call(
        "update_expiration_for_hit", HITId=hit.remote_id, ExpireAt=timezone.now() - timedelta(minutes=1)
    )
    assert staged.requester.hit(hit.remote_id).status == "Reviewable"
    with pytest.raises(RequestError):
        staged.accept(hit, "AWORKERONE")
    staged.requester.call("delete_hit", HITId=hit.remote_id)
    with pytest.raises(Refused, match="has no such task"):
        staged.requester.hit(hit.remote_id)


def test_task_with_undecided_assignments_cannot_be_deleted(staged):
    hit = staged.publish(places=1)
    staged.accept(hit, "AWORKERONE").submit()
    with pytest.raises(Refused, match="approved or rejected"):
        staged.requester.call("delete_hit", HITId=hit.remote_id)


def test_refusal_names_no_worker(staged):
    worker = staged.worker()
    with pytest.raises(Refused) as refusal:
        staged.requester.call("approve_assignment", AssignmentId=worker.key)
    assert worker.participant not in str(refusal.value) + repr(staged.requester.assignment(worker.key))


def test_invalid_request_is_refused_before_it_is_sent(staged):
    with pytest.raises(Refused):
        staged.requester.hit(None)


def test_account_without_enough_money_publishes_nothing(staged):
    staged.market.total = Decimal("5.00")
    with pytest.raises(Refused, match="account is too low"):
        staged.publish()
    assert Offer.objects.get().status == Status.REFUSED
    assert not staged.market.hits
