"""The stand-in itself: its refusals, who can find a task, and the status of assignments and money."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from decimal import Decimal
from typing import Any

import pytest

from marketplaces.mturk.standin.market import RequestError, Worker

pytestmark = pytest.mark.django_db


def refused(standin: Any, headers: dict[str, str], body: bytes = b"{}") -> dict[str, str]:
    request = urllib.request.Request(standin.address + "/", data=body, headers=headers, method="POST")
    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(request, timeout=30)
    return json.loads(refusal.value.read())


def page(address: str, fields: str | None = None) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(address, data=None if fields is None else fields.encode(), timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_unsigned_requests_are_refused(standin):
    target = {"X-Amz-Target": "MTurkRequesterServiceV20170117.GetAccountBalance"}
    assert refused(standin, target)["__type"] == "MissingAuthenticationTokenException"
    forged = "AWS4-HMAC-SHA256 Credential=AKIA/20260101/us-east-1/mturk-requester/aws4_request, "
    forged += f"SignedHeaders=host;x-amz-date, Signature={'0' * 64}"
    answer = refused(standin, {**target, "Authorization": forged, "X-Amz-Date": "20260101T000000Z"})
    assert answer["__type"] == "UnrecognizedClientException"


def test_malformed_request_is_refused(staged):
    from marketplaces.mturk.standin.market import ProtocolError

    def ask(operation: str, body: bytes) -> Any:
        return staged.market.answer(operation, body)

    with pytest.raises(RequestError, match="HITId"):
        ask("GetHIT", b"{}")
    with pytest.raises(RequestError, match="BonusAmount"):
        ask("SendBonus", json.dumps({"WorkerId": "A", "AssignmentId": "3", "BonusAmount": 1, "Reason": "x"}).encode())
    with pytest.raises(ProtocolError):
        ask("BuyEverything", b"{}")
    with pytest.raises(ProtocolError):
        ask("GetHIT", b"{")


def test_task_is_offered_only_to_qualified_workers(staged):
    staged.published(demands={"approved_percent": 95, "approved_number": 100, "countries": ["US", "GB"]})
    offered = {
        name: bool(staged.market.offered(worker))
        for name, worker in {
            "fits": Worker("A1", "GB", 100, 95),
            "elsewhere": Worker("A2", "FR", 100, 95),
            "newcomer": Worker("A3", "US", 99, 95),
            "careless": Worker("A4", "US", 100, 94),
        }.items()
    }
    assert offered == {"fits": True, "elsewhere": False, "newcomer": False, "careless": False}


def test_assignment_states_and_balances_change_together(staged):
    hit = staged.published(assignments=3, duration=600, auto_approval=1000)
    market = staged.market
    assert (market.available, market.held) == (Decimal("9996.40"), Decimal("3.60"))
    submitted, abandoned = staged.accept(hit, "AONE"), staged.accept(hit, "ATWO")
    with pytest.raises(RequestError):
        staged.accept(hit, "AONE")
    staged.submit(submitted)
    with pytest.raises(RequestError):
        staged.submit(submitted)
    market.pass_time(601)
    assert abandoned.status == "Abandoned"
    with pytest.raises(RequestError):
        staged.submit(abandoned)
    market.pass_time(600)
    assert (submitted.status, market.spent) == ("Approved", Decimal("1.20"))
    market.pass_time(86400)
    assert (market.held, market.available) == (Decimal("0"), Decimal("9998.80"))


def test_workers_can_accept_return_and_submit_on_the_pages(staged):
    standin, hit = staged.standin, staged.published(title="Split <some> money")
    status, listed = page(f"{standin.address}/worker?worker=AWORKERONE")
    assert status == 200 and "Split &lt;some&gt; money" in listed
    status, preview = page(f"{standin.address}/worker/AWORKERONE/hit/{hit.hit_id}")
    assert "assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE" in preview and "workerId" not in preview
    status, work = page(f"{standin.address}/worker/AWORKERONE/hit/{hit.hit_id}/accept", "")
    (assignment,) = staged.market.assignments.values()
    assert f"assignmentId={assignment.id}" in work and "workerId=AWORKERONE" in work and "turkSubmitTo=http" in work
    assert page(f"{standin.address}/worker/AOTHER/assignment/{assignment.id}")[0] == 404
    assert page(f"{standin.address}/mturk/externalSubmit", f"assignmentId={assignment.id}")[0] == 400
    assert assignment.status == "Accepted"
    page(f"{standin.address}/worker/AWORKERONE/assignment/{assignment.id}/return", "")
    assert assignment.status == "Returned"
    assert page(f"{standin.address}/mturk/externalSubmit", f"assignmentId={assignment.id}&a=b")[0] == 400
    for nonsense in ("/worker/lower", "/nothing", f"/worker/A1/hit/{'9' * 70}", "/worker/A1/hit/3NONE"):
        assert page(standin.address + nonsense)[0] == 404
