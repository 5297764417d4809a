"""The stand-in's requester API: mTurk's JSON protocol (API version 2017-01-17), as boto3 uses it.

`X-Amz-Target` names the operation, and requests are signed (AWS signature version 4). Requests and answers are checked
against boto3's own description of the service.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from hmac import compare_digest
from typing import Any

import botocore.session
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.model import ServiceModel, Shape
from botocore.validate import ParamValidator

from llm_agents.standins.http import HttpRequest
from marketplaces.mturk import fees
from marketplaces.mturk.standin.market import DAY, YEAR, Assignment, Bonus, Hit, Market, Qualification, RequestError
from marketplaces.mturk.standin.market import money as money_of

TARGET = "MTurkRequesterServiceV20170117."
REGION, SERVICE = "us-east-1", "mturk-requester"
Given = Mapping[str, Any]


class ProtocolError(Exception):
    """An error that does not come from the market: its name and its message."""

    def __init__(self, name: str, message: str = ""):
        super().__init__(message)
        self.name = name


@cache
def _service() -> ServiceModel:
    return botocore.session.Session().get_service_model("mturk")


def operation_of(request: HttpRequest) -> str:
    return request.headers.get("x-amz-target", "").removeprefix(TARGET)


def refuse_unsigned(request: HttpRequest, *, key_id: str, secret: str) -> None:
    """Raise ProtocolError unless the request is signed with this key (AWS signature version 4)."""
    headers = request.headers
    match = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, ?"
        r"SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})",
        headers.get("authorization", ""),
    )
    if match is None or "x-amz-date" not in headers:
        raise ProtocolError("MissingAuthenticationTokenException", "Missing Authentication Token")
    if match[1] != key_id or (match[3], match[4]) != (REGION, SERVICE):
        raise ProtocolError("UnrecognizedClientException", "The security token included in the request is invalid.")
    signed_headers = {name: headers.get(name, "") for name in match[5].split(";")}
    signed = AWSRequest("POST", f"http://{headers.get('host', '')}/", headers=signed_headers, data=request.body)
    signed.context["timestamp"] = headers["x-amz-date"]
    signer = SigV4Auth(Credentials(key_id, secret), SERVICE, REGION)
    expected = signer.signature(signer.string_to_sign(signed, signer.canonical_request(signed)), signed)
    if not compare_digest(expected, match[6]):
        raise ProtocolError("InvalidSignatureException", "The request signature we calculated does not match.")


def answer(market: Market, operation: str, body: bytes) -> dict[str, Any]:
    """Perform the operation and return the answer as plain data.

    Raises:
        RequestError, ProtocolError
    """
    if operation not in OPERATIONS:
        raise ProtocolError("UnknownOperationException")
    model = _service().operation_model(operation)
    try:
        parameters = json.loads(body or b"{}")
    except ValueError:
        raise ProtocolError("SerializationException", "The request cannot be read.") from None
    _check(parameters, model.input_shape)
    with market.lock:
        market.settle()
        result = OPERATIONS[operation](market, parameters) or {}
    _check(result, model.output_shape)
    return result


def _check(value: Any, shape: Shape | None) -> None:
    """Raise RequestError for data that boto3 itself would not send or could not read."""
    report = ParamValidator().validate(_with_times(value, shape), shape)
    if report.has_errors():
        raise RequestError("ParameterValidationError", report.generate_report())


def _with_times(value: Any, shape: Any) -> Any:
    """Convert numbers of seconds to datetimes where the shape has a timestamp."""
    if shape.type_name == "timestamp" and isinstance(value, int | float):
        return datetime.fromtimestamp(value, UTC)
    if shape.type_name == "structure" and isinstance(value, dict):
        return {name: _with_times(v, shape.members[name]) if name in shape.members else v for name, v in value.items()}
    if shape.type_name == "list" and isinstance(value, list):
        return [_with_times(entry, shape.member) for entry in value]
    return value


# ---- bodies ----------------------------------------------------------------------------------------


def _hit(market: Market, hit: Hit) -> dict[str, Any]:
    pending, available, completed = market.counts(hit)
    own = {name: value for name, value in hit.given.items() if name in _service().shape_for("HIT").members}
    return {
        **own, "HITId": hit.id, "CreationTime": hit.created, "Expiration": hit.expires,
        "HITStatus": market.status(hit), "MaxAssignments": hit.assignments, "NumberOfAssignmentsPending": pending,
        "NumberOfAssignmentsAvailable": available, "NumberOfAssignmentsCompleted": completed,
    }  # fmt: skip


def _assignment(one: Assignment) -> dict[str, Any]:
    decided = {"Approved": "ApprovalTime", "Rejected": "RejectionTime"}
    return {
        "AssignmentId": one.id, "WorkerId": one.worker, "HITId": one.hit.id, "AssignmentStatus": one.status,
        "AutoApprovalTime": one.submitted + one.hit.auto_approval, "AcceptTime": one.accepted,
        "SubmitTime": one.submitted, "Deadline": one.accepted + one.hit.duration,
        "Answer": f"<?xml version='1.0'?><QuestionFormAnswers>{one.answer}</QuestionFormAnswers>",
        **({decided[one.status]: one.decided} if one.reviewed else {}),
        **({"RequesterFeedback": one.feedback} if one.feedback else {}),
    }  # fmt: skip


def _qualification(one: Qualification) -> dict[str, Any]:
    return {
        "QualificationTypeId": one.id, "CreationTime": one.created, "Name": one.name, "Description": one.description,
        "QualificationTypeStatus": "Active", "IsRequestable": False, "AutoGranted": False,
    }  # fmt: skip


def _bonus(one: Bonus) -> dict[str, Any]:
    return {
        "WorkerId": one.worker, "AssignmentId": one.assignment, "BonusAmount": f"{one.amount:.2f}",
        "Reason": one.reason, "GrantTime": one.paid_at,
    }  # fmt: skip


def _page(name: str, rows: list[dict[str, Any]], given: Given) -> dict[str, Any]:
    size, token = given.get("MaxResults", 10), given.get("NextToken", "0")
    if not 1 <= size <= 100 or not token.isdigit():
        raise RequestError("ParameterValidationError", "MaxResults is from 1 to 100; NextToken is one given out.")
    end = int(token) + size
    shown = rows[int(token) : end]
    return {"NumResults": len(shown), name: shown, **({"NextToken": str(end)} if end < len(rows) else {})}


# ---- operations ------------------------------------------------------------------------------------


def _create_hit(market: Market, given: Given) -> dict[str, Any]:
    question = given.get("Question", "")
    if not question.startswith("<ExternalQuestion ") or not question.isascii():
        raise RequestError("ParameterValidationError", "The question is not well-formed.")
    if not all(30 <= given[name] <= YEAR for name in ("AssignmentDurationInSeconds", "LifetimeInSeconds")):
        raise RequestError("ParameterValidationError", "Times are from 30 seconds to 365 days.")
    for requirement in given.get("QualificationRequirements", []):
        if len(requirement["QualificationTypeId"]) == 30:
            market.qualification(requirement["QualificationTypeId"])
    now = market.now()
    hit = Hit(given, now, now + given["LifetimeInSeconds"], given.get("MaxAssignments", 1))
    with market.once("CreateHIT", given.get("UniqueRequestToken", ""), code="HITAlreadyExists", lasts=DAY):
        market.refuse_costs(hit.unit_cost * hit.assignments)
        market.hits[hit.id] = hit
    return {"HIT": _hit(market, hit)}


def _extend(market: Market, given: Given) -> None:
    hit, number = market.hit(given["HITId"]), given["NumberOfAdditionalAssignments"]
    with market.once("Extend", given.get("UniqueRequestToken", ""), code="DuplicateRequest"):
        if hit.assignments < fees.MTURK_LARGE_FROM <= hit.assignments + number:
            raise RequestError("InvalidMaximumAssignmentsIncrease", "It would become a task of 10 or more.")
        market.refuse_costs(hit.unit_cost * number)
        hit.assignments += number


def _expire(market: Market, given: Given) -> None:
    market.hit(given["HITId"]).expires = min(given["ExpireAt"], market.now() + YEAR)


def _delete(market: Market, given: Given) -> None:
    hit = market.hit(given["HITId"])
    undecided = any(assignment.status == "Submitted" for assignment in market.assignments_of(hit))
    if market.status(hit) != "Reviewable" or undecided:
        raise RequestError("InvalidHITState", "This HIT is not in a state in which it can be deleted.")
    hit.disposed = True


def _list_assignments(market: Market, given: Given) -> dict[str, Any]:
    statuses = given.get("AssignmentStatuses") or ["Submitted", "Approved", "Rejected"]
    submitted = [one for one in market.assignments_of(market.hit(given["HITId"])) if one.status in statuses]
    return _page("Assignments", [_assignment(one) for one in submitted], given)


def _approve(market: Market, given: Given) -> None:
    override, feedback = given.get("OverrideRejection", False), given.get("RequesterFeedback", "")
    market.approve(market.assignment(given["AssignmentId"]), feedback, override=override)


def _send_bonus(market: Market, given: Given) -> None:
    amount, assignment = money_of(given["BonusAmount"]), market.assignment(given["AssignmentId"])
    if assignment.worker != given["WorkerId"]:
        raise RequestError("WorkerDoesNotExist", f"Worker {given['WorkerId']} did not do this assignment.")
    with market.once("SendBonus", given.get("UniqueRequestToken", ""), code="DuplicateRequest"):
        market.refuse_costs(amount + fees.bonus_fee(amount))
        market.bonuses.append(Bonus(assignment.worker, assignment.id, amount, given["Reason"], market.now()))


def _create_qualification(market: Market, given: Given) -> dict[str, Any]:
    if any(existing.name == given["Name"] for existing in market.qualifications.values()):
        raise RequestError("QualificationTypeAlreadyExists", "You have already created a QualificationType so named.")
    created = Qualification(given["Name"], given["Description"], market.now())
    market.qualifications[created.id] = created
    return {"QualificationType": _qualification(created)}


def _list_qualifications(market: Market, given: Given) -> dict[str, Any]:
    query = given.get("Query", "").casefold()
    named = [_qualification(one) for one in market.qualifications.values() if query in one.name.casefold()]
    return _page("QualificationTypes", named, given)


def _grant(market: Market, given: Given) -> None:
    if not re.fullmatch(r"A[A-Z0-9]+", given["WorkerId"]):
        raise RequestError("WorkerDoesNotExist", f"Worker {given['WorkerId']} does not exist.")
    holders = market.qualification(given["QualificationTypeId"]).holders
    holders[given["WorkerId"]] = (given.get("IntegerValue", 1), market.now())


def _revoke(market: Market, given: Given) -> None:
    if market.qualification(given["QualificationTypeId"]).holders.pop(given["WorkerId"], None) is None:
        raise RequestError("InvalidQualificationState", "The worker does not have this Qualification.")


def _holders(market: Market, given: Given) -> dict[str, Any]:
    key = given["QualificationTypeId"]
    rows = [
        {"QualificationTypeId": key, "WorkerId": worker, "GrantTime": since, "IntegerValue": value, "Status": "Granted"}
        for worker, (value, since) in market.qualification(key).holders.items()
    ]
    return _page("Qualifications", rows, given)


OPERATIONS: dict[str, Callable[[Market, Given], dict[str, Any] | None]] = {
    "GetAccountBalance": lambda m, g: {"AvailableBalance": f"{m.available:.2f}", "OnHoldBalance": f"{m.held:.2f}"},
    "CreateHIT": _create_hit,
    "GetHIT": lambda m, g: {"HIT": _hit(m, m.hit(g["HITId"]))},
    "ListHITs": lambda m, g: _page("HITs", [_hit(m, h) for h in reversed(m.hits.values()) if not h.disposed], g),
    "CreateAdditionalAssignmentsForHIT": _extend,
    "UpdateExpirationForHIT": _expire,
    "DeleteHIT": _delete,
    "ListAssignmentsForHIT": _list_assignments,
    "GetAssignment": lambda m, g: {"Assignment": _assignment(m.assignment(g["AssignmentId"]))},
    "ApproveAssignment": _approve,
    "RejectAssignment": lambda m, g: m.reject(m.assignment(g["AssignmentId"]), g["RequesterFeedback"]),
    "SendBonus": _send_bonus,
    "ListBonusPayments": lambda m, g: _page(
        "BonusPayments", [_bonus(one) for one in m.bonuses if one.assignment == g.get("AssignmentId")], g
    ),
    "CreateQualificationType": _create_qualification,
    "ListQualificationTypes": _list_qualifications,
    "AssociateQualificationWithWorker": _grant,
    "DisassociateQualificationFromWorker": _revoke,
    "ListWorkersWithQualificationType": _holders,
}
