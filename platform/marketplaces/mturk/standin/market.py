"""An in-memory Mechanical Turk: tasks, assignments, qualifications and money, and the requester API's operations.

States and refusals are those of the API reference (version 2017-01-17). Rows are kept as the API shows them; requests
and answers are checked against boto3's own description of the service. Times are in seconds since 1970, amounts in US
dollars.
"""

from __future__ import annotations

import json
import re
import secrets
import string
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cache
from html import escape
from typing import Any
from xml.etree import ElementTree

import botocore.session
from botocore.model import ServiceModel, Shape
from botocore.validate import ParamValidator

from recruiters.terms import MTURK_LARGE_FROM, mturk_fee

APPROVED_NUMBER, APPROVED_PERCENT = "00000000000000000040", "000000000000000000L0"
LOCALE = "00000000000000000071"
DAY = 24 * 3600.0
LEFT = ("Returned", "Abandoned")
_COMPARATORS: dict[str, Callable[[Any, list[Any]], bool]] = {
    "GreaterThanOrEqualTo": lambda value, wanted: value is not None and value >= wanted[0],
    "In": lambda value, wanted: value in wanted,
    "DoesNotExist": lambda value, wanted: value is None,
}
"""Those that Parley asks for."""
Given = Mapping[str, Any]


class RequestError(Exception):
    """A refusal; `code` is a TurkErrorCode without its namespace, or the name of an error of AWS's protocol."""

    def __init__(self, code: str, message: str = ""):
        super().__init__(message)
        self.code = code


def new_id() -> str:
    """Return an ID in mTurk's format: 30 capital letters and digits, starting with a 3."""
    return "3" + "".join(secrets.choice(string.digits + string.ascii_uppercase) for _ in range(29))


def money(text: str) -> Decimal:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or amount <= 0 or amount != amount.quantize(Decimal("0.01")):
        raise RequestError("ParameterValidationError", "The amount of money is not valid.")
    return amount


@cache
def service() -> ServiceModel:
    return botocore.session.Session().get_service_model("mturk")


def _check(value: Any, shape: Shape | None) -> None:
    """Raise RequestError for data that boto3 itself would not send or could not read."""
    report = ParamValidator().validate(value, shape)
    if report.has_errors():
        raise RequestError("ParameterValidationError", report.generate_report())


def _page(name: str, rows: list[dict[str, Any]], given: Given) -> dict[str, Any]:
    size, token = given.get("MaxResults", 10), given.get("NextToken", "0")
    if not 1 <= size <= 100 or not token.isdigit():
        raise RequestError("ParameterValidationError", "MaxResults is from 1 to 100; NextToken is one given out.")
    end = int(token) + size
    shown = rows[int(token) : end]
    return {"NumResults": len(shown), name: shown, **({"NextToken": str(end)} if end < len(rows) else {})}


@dataclass
class Worker:
    """A worker who looks for tasks, with the data that mTurk has about every worker."""

    id: str
    country: str = "US"
    approved_number: int = 5000
    approved_percent: int = 99


@dataclass
class Hit:
    """One task; `given` are CreateHIT's own parameters."""

    given: Given
    created: float
    expires: float
    assignments: int
    id: str = field(default_factory=new_id)
    disposed: bool = False

    def __post_init__(self) -> None:
        self.title, self.description = self.given["Title"], self.given["Description"]
        self.reward = money(self.given["Reward"])
        self.duration = self.given["AssignmentDurationInSeconds"]
        self.auto_approval = self.given.get("AutoApprovalDelayInSeconds", 30 * int(DAY))
        self.requirements = self.given.get("QualificationRequirements", [])
        try:
            self.address, _height = (part.text or "" for part in ElementTree.fromstring(self.given["Question"]))
        except (KeyError, ValueError, ElementTree.ParseError):
            raise RequestError("ParameterValidationError", "The question is not an ExternalQuestion.") from None

    @property
    def unit_cost(self) -> Decimal:
        """Cost of one approved assignment."""
        return self.reward + mturk_fee(self.reward, assignments=self.assignments)


@dataclass
class Assignment:
    """One worker's acceptance of a task: Accepted, then Returned, Abandoned or Submitted, then Approved or Rejected."""

    id: str
    hit: Hit
    worker: str
    accepted: float
    status: str = "Accepted"
    submitted: float = 0
    decided: float = 0
    answer: str = ""
    feedback: str = ""

    @property
    def reviewed(self) -> bool:
        return self.status in ("Approved", "Rejected")

    @property
    def shown(self) -> dict[str, Any]:
        decided = {"Approved": "ApprovalTime", "Rejected": "RejectionTime"}
        return {
            "AssignmentId": self.id, "WorkerId": self.worker, "HITId": self.hit.id, "AssignmentStatus": self.status,
            "AutoApprovalTime": self.submitted + self.hit.auto_approval, "AcceptTime": self.accepted,
            "SubmitTime": self.submitted, "Deadline": self.accepted + self.hit.duration,
            "Answer": f"<?xml version='1.0'?><QuestionFormAnswers>{self.answer}</QuestionFormAnswers>",
            **({decided[self.status]: self.decided} if self.reviewed else {}),
            **({"RequesterFeedback": self.feedback} if self.feedback else {}),
        }  # fmt: skip


class Market:
    """The whole marketplace. Tests may read its attributes.

    Attributes:
        bonuses, qualifications: as the API shows them.
        holders: likewise, by qualification and worker.
    """

    def __init__(self, balance: Decimal = Decimal("10000.00")):
        self.lock = threading.RLock()
        self.total = balance
        self.hits: dict[str, Hit] = {}
        self.assignments: dict[str, Assignment] = {}
        self.qualifications: dict[str, dict[str, Any]] = {}
        self.holders: dict[str, dict[str, dict[str, Any]]] = {}
        self.workers: dict[str, Worker] = {}
        self.bonuses: list[dict[str, Any]] = []
        self._tokens: dict[tuple[str, str], float] = {}
        self._shift = 0.0

    # ---- time and money ------------------------------------------------------------------------------

    def now(self) -> float:
        return time.time() + self._shift

    def pass_time(self, seconds: float) -> None:
        """Move the clock forward, which affects deadlines, lifetimes and automatic approvals."""
        with self.lock:
            self._shift += seconds
            self.settle()

    def settle(self) -> None:
        """Apply the changes that the passing of time causes."""
        now = self.now()
        for assignment in self.assignments.values():
            if assignment.status == "Accepted" and now > assignment.accepted + assignment.hit.duration:
                assignment.status = "Abandoned"
            if assignment.status == "Submitted" and now >= assignment.submitted + assignment.hit.auto_approval:
                assignment.status, assignment.decided = "Approved", now

    @property
    def spent(self) -> Decimal:
        """Rewards and bonuses paid so far, including fees."""
        costs = [one.hit.unit_cost for one in self.assignments.values() if one.status == "Approved"]
        costs += [amount + mturk_fee(amount) for amount in (money(one["BonusAmount"]) for one in self.bonuses)]
        return sum(costs, Decimal(0))

    @property
    def held(self) -> Decimal:
        """The amount held for assignments that may still be approved."""
        return sum((hit.unit_cost * self._undecided(hit) for hit in self.hits.values() if not hit.disposed), Decimal(0))

    @property
    def available(self) -> Decimal:
        return self.total - self.spent - self.held

    def _refuse_costs(self, cost: Decimal) -> None:
        if cost > self.available:
            raise RequestError("InsufficientFunds", "This Requester has insufficient funds in their account.")

    def _undecided(self, hit: Hit) -> int:
        own = self.assignments_of(hit)
        if hit.expires > self.now():
            return hit.assignments - sum(assignment.reviewed for assignment in own)
        return sum(assignment.status in ("Accepted", "Submitted") for assignment in own)

    @contextmanager
    def _once(self, action: str, given: Given, *, code: str, lasts: float = float("inf")) -> Iterator[None]:
        """Refuse a request whose token was used before; note the token once the request has taken effect."""
        token = given.get("UniqueRequestToken", "")
        earlier = self._tokens.get((action, token))
        if token and earlier is not None and self.now() - earlier <= lasts:
            raise RequestError(code, "The request was made before.")
        yield
        self._tokens[action, token] = self.now()

    # ---- workers ---------------------------------------------------------------------------------------

    def assignments_of(self, hit: Hit) -> list[Assignment]:
        return [assignment for assignment in self.assignments.values() if assignment.hit is hit]

    def hit(self, key: str) -> Hit:
        """Return the task with this ID; raise RequestError if there is none."""
        hit = self.hits.get(key)
        if hit is None or hit.disposed:
            raise RequestError("HITDoesNotExist", f"Hit {key} does not exist.")
        return hit

    def counts(self, hit: Hit) -> tuple[int, int, int]:
        """Return the numbers of pending, available and completed assignments."""
        own = [one for one in self.assignments_of(hit) if one.status not in LEFT]
        pending = sum(assignment.status == "Accepted" for assignment in own)
        return pending, max(0, hit.assignments - len(own)), sum(assignment.reviewed for assignment in own)

    def status(self, hit: Hit) -> str:
        """Return the task's HITStatus."""
        pending, available, _completed = self.counts(hit)
        if hit.disposed:
            return "Disposed"
        if hit.expires > self.now() and available:
            return "Assignable"
        return "Unassignable" if pending else "Reviewable"

    def worker(self, key: str) -> Worker:
        """Return the worker with this ID; a worker is created when first asked for."""
        return self.workers.setdefault(key, Worker(key))

    def _meets(self, worker: Worker, requirement: Given) -> bool:
        key, wanted = requirement["QualificationTypeId"], requirement.get("IntegerValues", [])
        own: dict[str, Any] = {
            LOCALE: worker.country, APPROVED_NUMBER: worker.approved_number, APPROVED_PERCENT: worker.approved_percent
        }  # fmt: skip
        value = own[key] if key in own else self._holders(key).get(worker.id)
        wanted = wanted or [locale["Country"] for locale in requirement.get("LocaleValues", [])]
        return _COMPARATORS[requirement["Comparator"]](value, wanted)

    def offered(self, worker: Worker) -> list[Hit]:
        """Return the tasks in this worker's list."""
        return [hit for hit in self.hits.values() if self.may_accept(worker, hit)]

    def may_accept(self, worker: Worker, hit: Hit) -> bool:
        own = [one for one in self.assignments_of(hit) if one.status not in LEFT]
        is_new = worker.id not in {assignment.worker for assignment in own}
        return self.status(hit) == "Assignable" and is_new and all(self._meets(worker, one) for one in hit.requirements)

    def accept(self, worker: Worker, hit: Hit, *, reuse: str = "") -> Assignment:
        """Accept a task; `reuse` gives a returned assignment's ID to the new one, as mTurk sometimes does."""
        if not self.may_accept(worker, hit):
            raise RequestError("InvalidHITState", "There are no more of these tasks for this worker.")
        assignment = Assignment(reuse or new_id(), hit, worker.id, self.now())
        self.assignments[assignment.id] = assignment
        return assignment

    def leave(self, assignment: Assignment) -> None:
        """Give the task back."""
        if assignment.status == "Accepted":
            assignment.status = "Returned"

    def submit(self, assignment: Assignment, fields: Mapping[str, str]) -> None:
        """Submit the answer that was posted to externalSubmit."""
        self.settle()
        if assignment.status != "Accepted":
            raise RequestError("InvalidAssignmentState", "This assignment cannot be submitted any more.")
        answers = {name: value for name, value in fields.items() if name != "assignmentId"}
        if not answers:
            raise RequestError("ParameterValidationError", "The form has no field beside assignmentId.")
        assignment.status, assignment.submitted = "Submitted", self.now()
        assignment.answer = "".join(
            f"<Answer><QuestionIdentifier>{escape(name)}</QuestionIdentifier><FreeText>{escape(value)}</FreeText></Answer>"
            for name, value in answers.items()
        )

    # ---- decisions -------------------------------------------------------------------------------------

    def assignment(self, key: str) -> Assignment:
        """Return a submitted assignment.

        Raises:
            RequestError: there is none, or its worker has not submitted it (any more).
        """
        assignment = self.assignments.get(key)
        if assignment is None:
            raise RequestError("AssignmentDoesNotExist", f"Assignment {key} does not exist.")
        if not assignment.submitted:
            states = "This operation can be called with a status of: Reviewable,Approved,Rejected"
            raise RequestError("InvalidAssignmentState", f"{states} ({assignment.worker})")
        return assignment

    def decide(self, assignment: Assignment, status: str, feedback: str, *, override: bool = False) -> None:
        if assignment.status != "Submitted" and not (override and assignment.status == "Rejected"):
            raise RequestError("InvalidAssignmentState", "This operation can be called with a status of: Submitted")
        assignment.status, assignment.decided, assignment.feedback = status, self.now(), feedback

    def _holders(self, key: str) -> dict[str, dict[str, Any]]:
        if key not in self.qualifications:
            raise RequestError("QualificationTypeDoesNotExist", f"QualificationType {key} does not exist.")
        return self.holders.setdefault(key, {})

    # ---- the API's operations, under its own names -----------------------------------------------------

    def answer(self, operation: str, body: bytes) -> dict[str, Any]:
        """Perform an operation and return the answer as plain data. Raise RequestError."""
        if operation not in service().operation_names or not hasattr(self, operation):
            raise RequestError("UnknownOperationException")
        model = service().operation_model(operation)
        try:
            parameters = json.loads(body or b"{}")
        except ValueError:
            raise RequestError("SerializationException", "The request cannot be read.") from None
        _check(parameters, model.input_shape)
        with self.lock:
            self.settle()
            result: dict[str, Any] = getattr(self, operation)(parameters) or {}
        _check(result, model.output_shape)
        return result

    def _shown(self, hit: Hit) -> dict[str, Any]:
        pending, available, completed = self.counts(hit)
        own = {name: value for name, value in hit.given.items() if name in service().shape_for("HIT").members}
        return {
            **own, "HITId": hit.id, "CreationTime": hit.created, "Expiration": hit.expires,
            "HITStatus": self.status(hit), "MaxAssignments": hit.assignments, "NumberOfAssignmentsPending": pending,
            "NumberOfAssignmentsAvailable": available, "NumberOfAssignmentsCompleted": completed,
        }  # fmt: skip

    def GetAccountBalance(self, given: Given) -> dict[str, Any]:
        return {"AvailableBalance": f"{self.available:.2f}", "OnHoldBalance": f"{self.held:.2f}"}

    def CreateHIT(self, given: Given) -> dict[str, Any]:
        for requirement in given.get("QualificationRequirements", []):
            if len(requirement["QualificationTypeId"]) == 30:
                self._holders(requirement["QualificationTypeId"])
        now = self.now()
        hit = Hit(given, now, now + given["LifetimeInSeconds"], given.get("MaxAssignments", 1))
        with self._once("CreateHIT", given, code="HITAlreadyExists", lasts=DAY):
            self._refuse_costs(hit.unit_cost * hit.assignments)
            self.hits[hit.id] = hit
        return {"HIT": self._shown(hit)}

    def GetHIT(self, given: Given) -> dict[str, Any]:
        return {"HIT": self._shown(self.hit(given["HITId"]))}

    def ListHITs(self, given: Given) -> dict[str, Any]:
        return _page("HITs", [self._shown(hit) for hit in reversed(self.hits.values()) if not hit.disposed], given)

    def CreateAdditionalAssignmentsForHIT(self, given: Given) -> None:
        hit, number = self.hit(given["HITId"]), given["NumberOfAdditionalAssignments"]
        with self._once("Extend", given, code="DuplicateRequest"):
            if hit.assignments < MTURK_LARGE_FROM <= hit.assignments + number:
                raise RequestError("InvalidMaximumAssignmentsIncrease", "It would become a task of 10 or more.")
            self._refuse_costs(hit.unit_cost * number)
            hit.assignments += number

    def UpdateExpirationForHIT(self, given: Given) -> None:
        self.hit(given["HITId"]).expires = given["ExpireAt"]

    def DeleteHIT(self, given: Given) -> None:
        hit = self.hit(given["HITId"])
        undecided = any(assignment.status == "Submitted" for assignment in self.assignments_of(hit))
        if self.status(hit) != "Reviewable" or undecided:
            raise RequestError("InvalidHITState", "This HIT is not in a state in which it can be deleted.")
        hit.disposed = True

    def ListAssignmentsForHIT(self, given: Given) -> dict[str, Any]:
        own = self.assignments_of(self.hit(given["HITId"]))
        return _page("Assignments", [one.shown for one in own if one.submitted], given)

    def GetAssignment(self, given: Given) -> dict[str, Any]:
        return {"Assignment": self.assignment(given["AssignmentId"]).shown}

    def ApproveAssignment(self, given: Given) -> None:
        override, feedback = given.get("OverrideRejection", False), given.get("RequesterFeedback", "")
        self.decide(self.assignment(given["AssignmentId"]), "Approved", feedback, override=override)

    def RejectAssignment(self, given: Given) -> None:
        self.decide(self.assignment(given["AssignmentId"]), "Rejected", given["RequesterFeedback"])

    def SendBonus(self, given: Given) -> None:
        amount, assignment = money(given["BonusAmount"]), self.assignment(given["AssignmentId"])
        if assignment.worker != given["WorkerId"]:
            raise RequestError("WorkerDoesNotExist", f"Worker {given['WorkerId']} did not do this assignment.")
        with self._once("SendBonus", given, code="DuplicateRequest"):
            self._refuse_costs(amount + mturk_fee(amount))
            shown = {name: given[name] for name in ("WorkerId", "AssignmentId", "BonusAmount", "Reason")}
            self.bonuses.append({**shown, "GrantTime": self.now()})

    def ListBonusPayments(self, given: Given) -> dict[str, Any]:
        own = [one for one in self.bonuses if one["AssignmentId"] == given.get("AssignmentId")]
        return _page("BonusPayments", own, given)

    def CreateQualificationType(self, given: Given) -> dict[str, Any]:
        if any(existing["Name"] == given["Name"] for existing in self.qualifications.values()):
            raise RequestError("QualificationTypeAlreadyExists", "You already have a QualificationType so named.")
        created = {
            **given, "QualificationTypeId": new_id(), "CreationTime": self.now(), "IsRequestable": False,
            "AutoGranted": False,
        }  # fmt: skip
        self.qualifications[created["QualificationTypeId"]] = created
        return {"QualificationType": created}

    def ListQualificationTypes(self, given: Given) -> dict[str, Any]:
        query = given.get("Query", "").casefold()
        found = [one for one in self.qualifications.values() if query in one["Name"].casefold()]
        return _page("QualificationTypes", found, given)

    def AssociateQualificationWithWorker(self, given: Given) -> None:
        if not re.fullmatch(r"A[A-Z0-9]+", given["WorkerId"]):
            raise RequestError("WorkerDoesNotExist", f"Worker {given['WorkerId']} does not exist.")
        shown = {name: given[name] for name in ("QualificationTypeId", "WorkerId", "IntegerValue")}
        holder = {**shown, "Status": "Granted", "GrantTime": self.now()}
        self._holders(given["QualificationTypeId"])[given["WorkerId"]] = holder

    def DisassociateQualificationFromWorker(self, given: Given) -> None:
        if self._holders(given["QualificationTypeId"]).pop(given["WorkerId"], None) is None:
            raise RequestError("InvalidQualificationState", "The worker does not have this Qualification.")

    def ListWorkersWithQualificationType(self, given: Given) -> dict[str, Any]:
        return _page("Qualifications", list(self._holders(given["QualificationTypeId"]).values()), given)
