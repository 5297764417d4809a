"""The stand-in's requester API: mTurk's JSON protocol (API version 2017-01-17), as boto3 uses it.

`X-Amz-Target` names the operation, and requests are signed (AWS signature version 4). Requests and answers have the
shapes that boto3 itself describes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from functools import cache
from hmac import compare_digest
from typing import Any

import botocore.session
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.model import OperationModel, ServiceModel, Shape
from botocore.validate import ParamValidator

from marketplaces.mturk.standin.market import Assignment, Bonus, Hit, Market, Qualification, RequestError, new_id

TARGET = "MTurkRequesterServiceV20170117."
REGION, SERVICE = "us-east-1", "mturk-requester"
MOST_RESULTS = 100


@cache
def _service() -> ServiceModel:
    return botocore.session.Session().get_service_model("mturk")


class Fault(Exception):
    """An error that does not come from the market: an HTTP status, an error name and its message."""

    def __init__(self, status: int, name: str, message: str):
        super().__init__(message)
        self.status, self.name = status, name


@dataclass(frozen=True)
class Call:
    """One request; header names are in lower case."""

    url: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def operation(self) -> str:
        return self.headers.get("x-amz-target", "").removeprefix(TARGET)


def refuse_unsigned(call: Call, *, key_id: str, secret: str) -> None:
    """Raise Fault unless the request is signed with this key (AWS signature version 4)."""
    match = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, ?"
        r"SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})",
        call.headers.get("authorization", ""),
    )
    if match is None or "x-amz-date" not in call.headers:
        raise Fault(400, "MissingAuthenticationTokenException", "Missing Authentication Token")
    if match[1] != key_id or (match[3], match[4]) != (REGION, SERVICE):
        raise Fault(400, "UnrecognizedClientException", "The security token included in the request is invalid.")
    signed = {name: call.headers.get(name, "") for name in match[5].split(";")}
    request = AWSRequest("POST", call.url, headers=signed, data=call.body)
    request.context["timestamp"] = call.headers["x-amz-date"]
    signer = SigV4Auth(Credentials(key_id, secret), SERVICE, REGION)
    expected = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
    if not compare_digest(expected, match[6]):
        raise Fault(400, "InvalidSignatureException", "The request signature we calculated does not match.")


def answer(market: Market, call: Call) -> dict[str, Any]:
    """Perform the operation and return the answer as plain data.

    Raises:
        RequestError, Fault
    """
    if call.operation not in OPERATIONS or call.operation not in _service().operation_names:
        raise Fault(400, "UnknownOperationException", "")
    model: OperationModel = _service().operation_model(call.operation)
    try:
        parameters = json.loads(call.body or b"{}")
    except ValueError:
        raise Fault(400, "SerializationException", "The request cannot be read.") from None
    _check(parameters, model.input_shape)
    with market.lock:
        market.settle()
        result = OPERATIONS[call.operation](market, parameters)
    _check(result, model.output_shape)
    return result


def _check(data: Any, shape: Shape | None) -> None:
    """Raise RequestError for data that boto3 itself would not send or could not read."""
    report = ParamValidator().validate(_with_times(data, shape), shape)
    if report.has_errors():
        raise RequestError("ParameterValidationError", report.generate_report())


def _with_times(data: Any, shape: Any) -> Any:
    """Convert numbers of seconds to datetimes where the shape has a timestamp."""
    if shape.type_name == "timestamp" and isinstance(data, int | float):
        return datetime.fromtimestamp(data, UTC)
    if shape.type_name == "structure" and isinstance(data, dict):
        members = shape.members
        return {name: _with_times(value, members[name]) if name in members else value for name, value in data.items()}
    if shape.type_name == "list" and isinstance(data, list):
        return [_with_times(value, shape.member) for value in data]
    return data


def _money(text: str) -> Decimal:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or amount <= 0 or amount != amount.quantize(Decimal("0.01")):
        raise RequestError("ParameterValidationError", "The amount of money is not valid.")
    return amount


def _hit_data(market: Market, hit: Hit) -> dict[str, Any]:
    pending, available, completed = market.counts(hit)
    return {
        "HITId": hit.id,
        "HITTypeId": hit.type_id,
        "HITGroupId": hit.group_id,
        "CreationTime": hit.created,
        "Title": hit.title,
        "Description": hit.description,
        "Question": hit.question,
        "Keywords": hit.keywords,
        "HITStatus": market.status(hit),
        "MaxAssignments": hit.assignments,
        "Reward": f"{hit.reward:.2f}",
        "AutoApprovalDelayInSeconds": int(hit.auto_approval),
        "Expiration": hit.expires,
        "AssignmentDurationInSeconds": int(hit.duration),
        "RequesterAnnotation": hit.annotation,
        "QualificationRequirements": list(hit.requirements),
        "HITReviewStatus": "NotReviewed",
        "NumberOfAssignmentsPending": pending,
        "NumberOfAssignmentsAvailable": available,
        "NumberOfAssignmentsCompleted": completed,
    }


def _assignment_data(assignment: Assignment) -> dict[str, Any]:
    decided = {"Approved": {"ApprovalTime": assignment.decided}, "Rejected": {"RejectionTime": assignment.decided}}
    feedback = {"RequesterFeedback": assignment.feedback} if assignment.feedback else {}
    return {
        "AssignmentId": assignment.id,
        "WorkerId": assignment.worker,
        "HITId": assignment.hit.id,
        "AssignmentStatus": assignment.status,
        "AutoApprovalTime": assignment.submitted + assignment.hit.auto_approval,
        "AcceptTime": assignment.accepted,
        "SubmitTime": assignment.submitted,
        "Deadline": assignment.deadline,
        "Answer": f"<?xml version='1.0'?><QuestionFormAnswers>{assignment.answer}</QuestionFormAnswers>",
        **decided.get(assignment.status, {}),
        **feedback,
    }


def _page(name: str, rows: list[dict[str, Any]], parameters: Mapping[str, Any], default: int = 10) -> dict[str, Any]:
    size = parameters.get("MaxResults", default)
    if not 1 <= size <= MOST_RESULTS:
        raise RequestError("ParameterValidationError", "MaxResults is from 1 to 100.")
    token = parameters.get("NextToken", "0")
    if not token.isdigit():
        raise RequestError("ParameterValidationError", "This NextToken was not given out.")
    start = int(token)
    next_page = {"NextToken": str(start + size)} if start + size < len(rows) else {}
    return {"NumResults": len(rows[start : start + size]), name: rows[start : start + size], **next_page}


def _balance(market: Market, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {"AvailableBalance": f"{market.available:.2f}", "OnHoldBalance": f"{market.held:.2f}"}


def _create_hit(market: Market, parameters: Mapping[str, Any]) -> dict[str, Any]:
    if not parameters.get("Question", "").startswith("<ExternalQuestion ") or not parameters["Question"].isascii():
        raise RequestError("ParameterValidationError", "The question is not well-formed.")
    if (
        not 30 <= parameters["AssignmentDurationInSeconds"] <= 31536000
        or not 30 <= parameters["LifetimeInSeconds"] <= 31536000
    ):
        raise RequestError("ParameterValidationError", "Times are from 30 seconds to 365 days.")
    for requirement in parameters.get("QualificationRequirements", []):
        if len(requirement["QualificationTypeId"]) == 30:
            market.qualification(requirement["QualificationTypeId"])
    now = market.now()
    hit = Hit(
        id=new_id(),
        type_id=new_id(),
        group_id=new_id(),
        title=parameters["Title"],
        description=parameters["Description"],
        keywords=parameters.get("Keywords", ""),
        question=parameters["Question"],
        annotation=parameters.get("RequesterAnnotation", ""),
        reward=_money(parameters["Reward"]),
        assignments=parameters.get("MaxAssignments", 1),
        duration=parameters["AssignmentDurationInSeconds"],
        auto_approval=parameters.get("AutoApprovalDelayInSeconds", 2592000),
        created=now,
        expires=now + parameters["LifetimeInSeconds"],
        requirements=parameters.get("QualificationRequirements", []),
    )
    return {"HIT": _hit_data(market, market.create_hit(hit, parameters.get("UniqueRequestToken", "")))}


def _get_hit(market: Market, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {"HIT": _hit_data(market, market.hit(parameters["HITId"]))}


def _list_hits(market: Market, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return _page(
        "HITs", [_hit_data(market, hit) for hit in reversed(market.hits.values()) if not hit.disposed], parameters
    )


def _extend(market: Market, parameters: Mapping[str, Any]) -> dict[str, Any]:
    hit = market.hit(parameters["HITId"])
    market.add_assignments(hit, parameters["NumberOfAdditionalAssignments"], parameters.get("UniqueRequestToken", ""))
    return {}


def _expire(market: Market, parameters: Mapping[str, Any]) -> dict[str, Any]:
    market.hit(parameters["HITId"]).expires = min(parameters["ExpireAt"], market.now() + 31536000)
    return {}


def _delete(market: Market, parameters: Mapping[str, Any]) -> dict[str, Any]:
    market.dispose(market.hit(parameters["HITId"]))
    return {}


def _list_assignments(market: Market, parameters: Mapping[str, Any]) -> dict[str, Any]:
    statuses = parameters.get("AssignmentStatuses") or ["Submitted", "Approved", "Rejected"]
    rows = [
        _assignment_data(assignment)
        for assignment in market.assignments_of(market.hit(parameters["HITId"]))
        if assignment.status in statuses
    ]
    return _page("Assignments", rows, parameters)


def _get_assignment(market: Market, parameters: Mapping[str, Any]) -> dict[str, Any]:
    assignment = market.assignment(parameters["AssignmentId"])
    return {"Assignment": _assignment_data(assignment), "HIT": _hit_data(market, assignment.hit)}


def _approve(market: Market, parameters: Mapping[str, Any]) -> dict[str, Any]:
    assignment = market.assignment(parameters["AssignmentId"])
    market.approve(
        assignment, parameters.get("RequesterFeedback", ""), override=parameters.get("OverrideRejection", False)
    )
    return {}


def _reject(market: Market, parameters: Mapping[str, Any]) -> dict[str, Any]:
    market.reject(market.assignment(parameters["AssignmentId"]), parameters["RequesterFeedback"])
    return {}


def _send_bonus(market: Market, parameters: Mapping[str, Any]) -> dict[str, Any]:
    amount = _money(parameters["BonusAmount"])
    bonus = Bonus(parameters["WorkerId"], parameters["AssignmentId"], amount, parameters["Reason"], market.now())
    market.pay_bonus(bonus, parameters.get("UniqueRequestToken", ""))
    return {}


def _list_bonuses(market: Market, parameters: Mapping[str, Any]) -> dict[str, Any]:
    bonuses = [
        bonus
        for bonus in market.bonuses
        if bonus.assignment == parameters.get("AssignmentId")
        or market.assignments[bonus.assignment].hit.id == parameters.get("HITId")
    ]
    rows = [
        {
            "WorkerId": bonus.worker,
            "BonusAmount": f"{bonus.amount:.2f}",
            "AssignmentId": bonus.assignment,
            "Reason": bonus.reason,
            "GrantTime": bonus.paid_at,
        }
        for bonus in bonuses
    ]
    return _page("BonusPayments", rows, parameters)


def _qualification_data(qualification: Qualification) -> dict[str, Any]:
    return {
        "QualificationTypeId": qualification.id,
        "CreationTime": qualification.created,
        "Name": qualification.name,
        "Description": qualification.description,
        "QualificationTypeStatus": "Active",
        "IsRequestable": False,
        "AutoGranted": False,
    }


def _create_qualification(market: Market, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "QualificationType": _qualification_data(
            market.create_qualification(parameters["Name"], parameters["Description"])
        )
    }


def _list_qualifications(market: Market, parameters: Mapping[str, Any]) -> dict[str, Any]:
    query = parameters.get("Query", "").casefold()
    matching = [
        qualification for qualification in market.qualifications.values() if query in qualification.name.casefold()
    ]
    return _page("QualificationTypes", [_qualification_data(qualification) for qualification in matching], parameters)


def _grant(market: Market, parameters: Mapping[str, Any]) -> dict[str, Any]:
    holders = market.qualification(parameters["QualificationTypeId"]).holders
    if not re.fullmatch(r"A[A-Z0-9]+", parameters["WorkerId"]):
        raise RequestError("WorkerDoesNotExist", f"Worker {parameters['WorkerId']} does not exist.")
    holders[parameters["WorkerId"]] = (parameters.get("IntegerValue", 1), market.now())
    return {}


def _take(market: Market, parameters: Mapping[str, Any]) -> dict[str, Any]:
    holders = market.qualification(parameters["QualificationTypeId"]).holders
    if holders.pop(parameters["WorkerId"], None) is None:
        raise RequestError("InvalidQualificationState", "The worker does not have this Qualification.")
    return {}


def _holders(market: Market, parameters: Mapping[str, Any]) -> dict[str, Any]:
    qualification = market.qualification(parameters["QualificationTypeId"])
    rows = [
        {
            "QualificationTypeId": qualification.id,
            "WorkerId": worker,
            "GrantTime": since,
            "IntegerValue": value,
            "Status": "Granted",
        }
        for worker, (value, since) in qualification.holders.items()
    ]
    return _page("Qualifications", rows, parameters)


OPERATIONS: dict[str, Callable[[Market, Mapping[str, Any]], dict[str, Any]]] = {
    "GetAccountBalance": _balance,
    "CreateHIT": _create_hit,
    "GetHIT": _get_hit,
    "ListHITs": _list_hits,
    "CreateAdditionalAssignmentsForHIT": _extend,
    "UpdateExpirationForHIT": _expire,
    "DeleteHIT": _delete,
    "ListAssignmentsForHIT": _list_assignments,
    "GetAssignment": _get_assignment,
    "ApproveAssignment": _approve,
    "RejectAssignment": _reject,
    "SendBonus": _send_bonus,
    "ListBonusPayments": _list_bonuses,
    "CreateQualificationType": _create_qualification,
    "ListQualificationTypes": _list_qualifications,
    "AssociateQualificationWithWorker": _grant,
    "DisassociateQualificationFromWorker": _take,
    "ListWorkersWithQualificationType": _holders,
}
