"""The stand-in itself: its refusals, who can find a task, and the status of assignments and money."""

from __future__ import annotations

import json
from decimal import Decimal

import httpx
import pytest

from marketplaces.mturk.standin.market import RequestError, Worker

pytestmark = pytest.mark.django_db


def test_unsigned_requests_are_refused(staged):
    def refused(headers: dict[str, str]) -> str:
        answer = httpx.post(staged.standin.address + "/", content=b"{}", headers=headers)
        assert answer.status_code == 400
        return answer.json()["__type"]

    target = {"X-Amz-Target": "MTurkRequesterServiceV20170117.GetAccountBalance"}
    assert refused(target) == "MissingAuthenticationTokenException"
    forged = "AWS4-HMAC-SHA256 Credential=AKIA/20260101/us-east-1/mturk-requester/aws4_request, "
    forged += f"SignedHeaders=host;x-amz-date, Signature={'0' * 64}"
    signed = {**target, "Authorization": forged, "X-Amz-Date": "20260101T000000Z"}
    assert refused(signed) == "UnrecognizedClientException"


@pytest.mark.parametrize(
    ("operation", "body", "code"),
    [
        ("GetHIT", "{}", "ParameterValidationError"),
        (
            "SendBonus",
            json.dumps({"WorkerId": "A", "AssignmentId": "3", "BonusAmount": 1, "Reason": "x"}),
            "ParameterValidationError",
        ),
        ("BuyEverything", "{}", "UnknownOperationException"),
        ("GetHIT", "{", "SerializationException"),
    ],
)
def test_malformed_request_is_refused(staged, operation, body, code):
    with pytest.raises(RequestError) as refusal:
        staged.market.answer(operation, body.encode())
    assert refusal.value.code == code


@pytest.mark.parametrize(
    ("worker", "may"),
    [
        (Worker("A1", "GB", 100, 95), True),
        (Worker("A2", "FR", 100, 95), False),
        (Worker("A3", "US", 99, 95), False),
        (Worker("A4", "US", 100, 94), False),
    ],
)
def test_task_is_offered_only_to_qualified_workers(staged, worker, may):
    staged.publish(approved_percent=95, approved_number=100, countries=["US", "GB"])
    assert bool(staged.market.offered(worker)) is may


def test_assignment_states_and_balances_change_together(staged):
    hit = staged.publish(places=3, minutes=10, approval_days=1)
    market = staged.market
    assert (market.available, market.held) == (Decimal("9996.40"), Decimal("3.60"))
    submitted, abandoned = staged.accept(hit, "AONE"), staged.accept(hit, "ATWO")
    with pytest.raises(RequestError):
        staged.accept(hit, "AONE")
    submitted.submit()
    market.pass_time(601)
    assert abandoned.there.status == "Abandoned"
    for worker in (submitted, abandoned):
        with pytest.raises(RequestError):
            worker.submit()
    market.pass_time(86400)
    assert (submitted.there.status, market.spent) == ("Approved", Decimal("1.20"))
    market.pass_time(86400)
    assert (market.held, market.available) == (Decimal("0"), Decimal("9998.80"))


def test_workers_can_accept_return_and_submit_on_the_pages(staged):
    hit = staged.publish(name="Split <some> money")
    with httpx.Client(base_url=staged.standin.address, follow_redirects=True) as visitor:
        assert "Split &lt;some&gt; money" in visitor.get("/worker?worker=AWORKERONE").text
        preview = visitor.get(f"/worker/AWORKERONE/hit/{hit.remote_id}").text
        assert "assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE" in preview and "workerId" not in preview
        work = visitor.post(f"/worker/AWORKERONE/hit/{hit.remote_id}/accept").text
        (assignment,) = staged.market.assignments.values()
        assert f"assignmentId={assignment.id}" in work and "workerId=AWORKERONE" in work and "turkSubmitTo=http" in work
        assert visitor.get(f"/worker/AOTHER/assignment/{assignment.id}").status_code == 404
        assert visitor.post("/mturk/externalSubmit", data={"assignmentId": assignment.id}).status_code == 400
        assert assignment.status == "Accepted"
        visitor.post(f"/worker/AWORKERONE/assignment/{assignment.id}/return")
        assert assignment.status == "Returned"
        late = visitor.post("/mturk/externalSubmit", data={"assignmentId": assignment.id, "a": "b"})
        assert late.status_code == 400
        for nonsense in ("/worker/lower", "/nothing", f"/worker/A1/hit/{'9' * 70}", "/worker/A1/hit/3NONE"):
            assert visitor.get(nonsense).status_code == 404
