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
from marketplaces.mturk import client
from marketplaces.mturk.client import KEY_ID, SECRET, requester_of
from marketplaces.mturk.models import Hit
from marketplaces.mturk.standin.market import RequestError

pytestmark = pytest.mark.django_db
UNCLEAR_FAILURES = [
    Fault.CUT,
    Fault.LOST,
    Fault.REFUSED,
    Fault.REFUSED_LATE,
    Fault.SLOW,
    Fault.GARBAGE_LATE,
    Fault.GARBLED,
]


def test_balance_is_returned(staged):
    assert staged.requester.balance() == Decimal("10000.00")
    assert "$10,000.00" in modules.check(staged.account)


@pytest.mark.parametrize(
    ("credentials", "expected_text"),
    [
        ({KEY_ID: "AKIASOMEBODYELSE0000", SECRET: "s"}, "does not recognise the access key"),
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


@pytest.mark.parametrize("failure", UNCLEAR_FAILURES)
def test_malformed_answer_is_unclear(staged, failure):
    staged.standin.misbehave(failure, "GetAccountBalance", seconds=30)
    with pytest.raises(Unclear, match="is not responding properly"):
        staged.requester.balance()


def test_task_is_created_as_requested(staged):
    hit = staged.published(
        title="Split “money” & more",
        assignments=12,
        demands={"approved_percent": 95, "approved_number": 100, "countries": ["US", "GB"], "rest_hours": 12},
    )
    task = staged.market.hits[hit.hit_id]
    assert (task.title, task.assignments, task.reward) == ("Split “money” & more", 12, Decimal("1.00"))
    assert task.address == "http://127.0.0.1:1/join/splitting/"
    assert len(task.requirements) == 4
    assert all(requirement["ActionsGuarded"] == "DiscoverPreviewAndAccept" for requirement in task.requirements)
    current = staged.requester.hit(hit.hit_id)
    assert (current.status, current.available, current.pending) == ("Assignable", 12, 0)
    assert current.annotation == str(hit.token)


@pytest.mark.parametrize("failure", [Fault.LOST, Fault.REFUSED_LATE, Fault.GARBAGE_LATE, Fault.CUT])
def test_repeated_order_creates_one_task(staged, failure):
    from marketplaces.mturk import publishing

    hit = staged.ordered()
    staged.standin.misbehave(failure, "CreateHIT")
    with pytest.raises(Unclear):
        publishing.publish(hit, address="http://127.0.0.1:1/join/splitting/")
    assert Hit.objects.get().state == Hit.State.ORDERED
    publishing.publish(Hit.objects.get(), address="http://127.0.0.1:1/join/splitting/")
    assert list(staged.market.hits) == [Hit.objects.get().hit_id]


def bonus_for(assignment) -> dict[str, str]:
    return {
        "WorkerId": "AWORKERONE", "AssignmentId": assignment.id, "BonusAmount": "0.75", "Reason": "Well played",
    }  # fmt: skip


def test_bonus_whose_request_arrives_twice_is_paid_once(staged):
    _person, assignment = staged.work_through(staged.published(), "AWORKERONE")
    staged.standin.misbehave(Fault.TWICE, "SendBonus")
    staged.requester.once("send_bonus", uuid.uuid4(), **bonus_for(assignment))
    assert staged.standin.calls.count("SendBonus") == 2 and len(staged.market.bonuses) == 1


def test_all_pages_of_a_list_are_read(staged, monkeypatch):
    monkeypatch.setattr(client, "PAGE_SIZE", 2)
    hit = staged.published(assignments=9)
    for number in range(5):
        staged.submit(staged.accept(hit, f"AWORKER{number}"))
    assert len({assignment.assignment_id for assignment in staged.requester.assignments(hit.hit_id)}) == 5


def test_expired_task_is_offered_to_nobody(staged):
    hit = staged.published()
    staged.requester.call("update_expiration_for_hit", HITId=hit.hit_id, ExpireAt=timezone.now() - timedelta(minutes=1))
    assert staged.requester.hit(hit.hit_id).status == "Reviewable"
    with pytest.raises(RequestError):
        staged.accept(hit, "AWORKERONE")
    staged.requester.call("delete_hit", HITId=hit.hit_id)
    with pytest.raises(Refused, match="has no such task"):
        staged.requester.hit(hit.hit_id)


def test_task_with_undecided_assignments_cannot_be_deleted(staged):
    hit = staged.published(assignments=1)
    staged.submit(staged.accept(hit, "AWORKERONE"))
    with pytest.raises(Refused, match="approved or rejected"):
        staged.requester.call("delete_hit", HITId=hit.hit_id)


def test_refusal_names_no_worker(staged):
    hit = staged.published()
    assignment = staged.accept(hit, "AWORKERONE")
    with pytest.raises(Refused) as refusal:
        staged.requester.call("approve_assignment", AssignmentId=assignment.id)
    assert "AWORKERONE" not in str(refusal.value)
    assert "AWORKERONE" not in repr(staged.requester.assignment(assignment.id))


def test_invalid_request_is_refused_before_it_is_sent(staged):
    with pytest.raises(Refused):
        staged.requester.hit(None)


def test_account_without_enough_money_publishes_nothing(staged):
    staged.market.total = Decimal("5.00")
    with pytest.raises(Refused, match="balance of the Mechanical Turk account is too low"):
        staged.published()
    assert Hit.objects.get().state == Hit.State.REFUSED
    assert not staged.market.hits
