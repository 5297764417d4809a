"""The boto3 client, tested against the stand-in over a real socket."""

from __future__ import annotations

import logging
import uuid
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from marketplaces import kinds
from marketplaces.mturk import client
from marketplaces.mturk.client import KEY_ID, SECRET, requester_of
from marketplaces.mturk.errors import Refused, Unclear
from marketplaces.mturk.models import Hit
from marketplaces.mturk.standin import Misbehaviour
from marketplaces.mturk.standin.market import RequestError

pytestmark = pytest.mark.django_db
NOBODY_KNOWS = [
    Misbehaviour.DOWN,
    Misbehaviour.LOST,
    Misbehaviour.FAILS,
    Misbehaviour.FAILS_LATE,
    Misbehaviour.SLOW,
    Misbehaviour.NONSENSE,
    Misbehaviour.GARBLED,
]


def test_balance_is_returned(house):
    assert house.requester.balance() == Decimal("10000.00")
    assert "$10,000.00" in kinds.get("mturk").check(house.account)


@pytest.mark.parametrize(
    ("credentials", "says"),
    [
        ({KEY_ID: "AKIASOMEBODYELSE0000", SECRET: "s"}, "does not recognise the access key"),
        ({KEY_ID: "AKIATWINTWINTWINTWIN", SECRET: "wrong"}, "does not match"),
        ({KEY_ID: "AKIATWINTWINTWINTWIN"}, "no access key yet"),
        ({}, "no access key yet"),
    ],
)
def test_wrong_keys_are_refused_and_not_disclosed(house, caplog, credentials, says):
    caplog.set_level(logging.DEBUG, logger="marketplaces")
    house.account.keep_credentials(credentials)
    with pytest.raises(Refused) as refusal:
        requester_of(house.account).balance()
    assert says in str(refusal.value)
    for secret in credentials.values():
        assert len(secret) < 5 or secret not in str(refusal.value) + repr(refusal.value) + caplog.text


@pytest.mark.parametrize("wrong", NOBODY_KNOWS)
def test_malformed_answer_is_unclear(house, wrong):
    house.standin.slowness = 30
    house.standin.misbehave("GetAccountBalance", wrong)
    with pytest.raises(Unclear, match="is not responding properly"):
        house.requester.balance()


def test_task_is_created_as_requested(house):
    hit = house.published(
        title="Split “money” & more",
        assignments=12,
        demands={"approved_percent": 95, "approved_number": 100, "countries": ["US", "GB"], "rest_hours": 12},
    )
    there = house.market.hits[hit.hit_id]
    assert (there.title, there.assignments, there.reward) == ("Split “money” & more", 12, Decimal("1.00"))
    assert there.address == "http://127.0.0.1:1/join/splitting/"
    assert len(there.requirements) == 4
    assert all(one["ActionsGuarded"] == "DiscoverPreviewAndAccept" for one in there.requirements)
    now = house.requester.hit(hit.hit_id)
    assert (now.status, now.available, now.pending, now.annotation) == ("Assignable", 12, 0, str(hit.token))


@pytest.mark.parametrize(
    "wrong", [Misbehaviour.LOST, Misbehaviour.FAILS_LATE, Misbehaviour.NONSENSE, Misbehaviour.DOWN]
)
def test_repeated_order_creates_one_task(house, wrong):
    from marketplaces.mturk import publishing

    hit = house.ordered()
    house.standin.misbehave("CreateHIT", wrong)
    with pytest.raises(Unclear):
        publishing.publish(hit, address="http://127.0.0.1:1/join/splitting/")
    assert Hit.objects.get().state == Hit.State.ORDERED
    publishing.publish(Hit.objects.get(), address="http://127.0.0.1:1/join/splitting/")
    assert list(house.market.hits) == [Hit.objects.get().hit_id]


def test_repeated_extension_adds_assignments_once(house):
    hit, token = house.published(assignments=3), uuid.uuid4()
    house.standin.misbehave("CreateAdditionalAssignmentsForHIT", Misbehaviour.LOST)
    with pytest.raises(Unclear):
        house.requester.add_assignments(hit.hit_id, 2, token=token)
    house.requester.add_assignments(hit.hit_id, 2, token=token)
    assert house.market.hits[hit.hit_id].assignments == 5
    with pytest.raises(Refused, match="fewer than 10"):
        house.requester.add_assignments(hit.hit_id, 5, token=uuid.uuid4())


def test_bonus_is_paid_once(house):
    hit = house.published()
    _person, assignment = house.through(hit, "AWORKERONE")
    order = {
        "worker": "AWORKERONE",
        "assignment_id": assignment.id,
        "amount": Decimal("0.75"),
        "reason": "Well played",
        "token": uuid.uuid4(),
    }
    house.standin.misbehave("SendBonus", Misbehaviour.FAILS_LATE)
    with pytest.raises(Unclear):
        house.requester.send_bonus(**order)
    house.requester.send_bonus(**order)
    assert [bonus.amount for bonus in house.market.bonuses] == [Decimal("0.75")]
    (told,) = house.requester.bonuses(assignment.id)
    assert (told.amount, told.reason) == (Decimal("0.75"), "Well played")


def test_all_pages_of_a_list_are_read(house, monkeypatch):
    monkeypatch.setattr(client, "PAGE", 2)
    hit = house.published(assignments=9)
    for number in range(5):
        house.submit(house.accept(hit, f"AWORKER{number}"))
    assert len({one.assignment_id for one in house.requester.assignments(hit.hit_id)}) == 5


def test_expired_task_is_offered_to_nobody(house):
    hit = house.published()
    house.requester.expire(hit.hit_id, timezone.now() - timedelta(minutes=1))
    assert house.requester.hit(hit.hit_id).status == "Reviewable"
    with pytest.raises(RequestError):
        house.accept(hit, "AWORKERONE")
    house.requester.delete(hit.hit_id)
    with pytest.raises(Refused, match="has no such task"):
        house.requester.hit(hit.hit_id)


def test_task_with_undecided_assignments_cannot_be_deleted(house):
    hit = house.published(assignments=1)
    house.submit(house.accept(hit, "AWORKERONE"))
    with pytest.raises(Refused, match="approved or rejected"):
        house.requester.delete(hit.hit_id)


def test_refusal_names_no_worker(house):
    hit = house.published()
    assignment = house.accept(hit, "AWORKERONE")
    with pytest.raises(Refused) as refusal:
        house.requester.approve(assignment.id)
    assert "AWORKERONE" not in str(refusal.value)
    assert "AWORKERONE" not in repr(house.requester.assignment(assignment.id))


def test_invalid_request_is_refused_before_it_is_sent(house):
    with pytest.raises(Refused):
        house.requester.hit(None)


def test_account_without_enough_money_publishes_nothing(house):
    house.market.total = Decimal("5.00")
    with pytest.raises(Refused, match="balance of the Mechanical Turk account is too low"):
        house.published()
    assert Hit.objects.get().state == Hit.State.REFUSED
    assert not house.market.hits
