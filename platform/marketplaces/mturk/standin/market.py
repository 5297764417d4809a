"""An in-memory model of Mechanical Turk's tasks, assignments, qualifications and money.

States are those of the API reference (version 2017-01-17), bodies those of boto3's own description of the service.
Times are in seconds since 1970, amounts in US dollars. The caller holds `lock` for every operation.
"""

from __future__ import annotations

import operator
import re
import secrets
import string
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from html import escape, unescape
from typing import Any

from marketplaces.mturk import fees

APPROVED_NUMBER, APPROVED_PERCENT = "00000000000000000040", "000000000000000000L0"
LOCALE = "00000000000000000071"
DAY = 24 * 3600.0
YEAR = 365 * DAY
_COMPARATORS: dict[str, Callable[[Any, Any], bool]] = {
    "GreaterThan": operator.gt, "GreaterThanOrEqualTo": operator.ge, "LessThan": operator.lt,
    "LessThanOrEqualTo": operator.le, "EqualTo": operator.eq, "NotEqualTo": operator.ne,
}  # fmt: skip


class RequestError(Exception):
    """A refusal in the API's own words; `code` is its TurkErrorCode."""

    def __init__(self, code: str, message: str):
        super().__init__(message)
        self.code = f"AWS.MechanicalTurk.{code}"


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

    given: Mapping[str, Any]
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

    @property
    def unit_cost(self) -> Decimal:
        """Cost of one approved assignment."""
        return self.reward + fees.reward_fee(self.reward, assignments=self.assignments)

    @property
    def address(self) -> str:
        """Address of the external question."""
        return unescape(self._in_question("ExternalURL"))

    @property
    def frame_height(self) -> int:
        return int(self._in_question("FrameHeight") or 0)

    def _in_question(self, name: str) -> str:
        match = re.search(f"<{name}>(.*?)</{name}>", self.given["Question"])
        return match[1] if match else ""


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


@dataclass
class Qualification:
    """A qualification type made by the requester, and its holders: worker → (value, since)."""

    name: str
    description: str
    created: float
    id: str = field(default_factory=new_id)
    holders: dict[str, tuple[int, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Bonus:
    worker: str
    assignment: str
    amount: Decimal
    reason: str
    paid_at: float


class Market:
    """The whole marketplace. Tests may read its attributes."""

    def __init__(self, balance: Decimal = Decimal("10000.00")):
        self.lock = threading.RLock()
        self.total = balance
        self.hits: dict[str, Hit] = {}
        self.assignments: dict[str, Assignment] = {}
        self.qualifications: dict[str, Qualification] = {}
        self.workers: dict[str, Worker] = {}
        self.bonuses: list[Bonus] = []
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
        approved = [one.hit.unit_cost for one in self.assignments.values() if one.status == "Approved"]
        return sum(approved + [bonus.amount + fees.bonus_fee(bonus.amount) for bonus in self.bonuses], Decimal(0))

    @property
    def held(self) -> Decimal:
        """The amount held for assignments that may still be approved."""
        return sum((hit.unit_cost * self._undecided(hit) for hit in self.hits.values() if not hit.disposed), Decimal(0))

    @property
    def available(self) -> Decimal:
        return self.total - self.spent - self.held

    def refuse_costs(self, cost: Decimal) -> None:
        if cost > self.available:
            raise RequestError("InsufficientFunds", "This Requester has insufficient funds in their account.")

    def _undecided(self, hit: Hit) -> int:
        own = self.assignments_of(hit)
        if hit.expires > self.now():
            return hit.assignments - sum(assignment.reviewed for assignment in own)
        return sum(assignment.status in ("Accepted", "Submitted") for assignment in own)

    @contextmanager
    def once(self, action: str, token: str, *, code: str, lasts: float = float("inf")) -> Iterator[None]:
        """Refuse a request whose token was used before; note the token once the request has taken effect."""
        earlier = self._tokens.get((action, token))
        if token and earlier is not None and self.now() - earlier <= lasts:
            raise RequestError(code, "The request was made before.")
        yield
        self._tokens[action, token] = self.now()

    # ---- tasks and workers -----------------------------------------------------------------------------

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
        own = [one for one in self.assignments_of(hit) if one.status not in ("Returned", "Abandoned")]
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

    def _meets(self, worker: Worker, requirement: Mapping[str, Any]) -> bool:
        key, comparator = requirement["QualificationTypeId"], requirement["Comparator"]
        own: dict[str, Any] = {
            LOCALE: worker.country, APPROVED_NUMBER: worker.approved_number, APPROVED_PERCENT: worker.approved_percent
        }  # fmt: skip
        value = own[key] if key in own else self.qualification(key).holders.get(worker.id, (None, 0.0))[0]
        wanted = [locale["Country"] for locale in requirement.get("LocaleValues", [])]
        wanted += requirement.get("IntegerValues", [])
        if comparator in ("Exists", "DoesNotExist"):
            return (value is not None) == (comparator == "Exists")
        if comparator in ("In", "NotIn"):
            return (value in wanted) == (comparator == "In")
        return value is not None and _COMPARATORS[comparator](value, wanted[0])

    def offered(self, worker: Worker) -> list[Hit]:
        """Return the tasks in this worker's list."""
        return [hit for hit in self.hits.values() if self.may_accept(worker, hit)]

    def may_accept(self, worker: Worker, hit: Hit) -> bool:
        own = [one for one in self.assignments_of(hit) if one.status not in ("Returned", "Abandoned")]
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

    # ---- decisions and qualifications ------------------------------------------------------------------

    def assignment(self, key: str) -> Assignment:
        """Return a submitted assignment.

        Raises:
            RequestError: there is none, or its worker has not submitted it (any more).
        """
        assignment = self.assignments.get(key)
        if assignment is None:
            raise RequestError("AssignmentDoesNotExist", f"Assignment {key} does not exist.")
        if not assignment.submitted:
            message = (
                f"This operation can be called with a status of: Reviewable,Approved,Rejected ({assignment.worker})"
            )
            raise RequestError("InvalidAssignmentState", message)
        return assignment

    def approve(self, assignment: Assignment, feedback: str, *, override: bool) -> None:
        self._decide(assignment, "Approved", feedback, override=override)

    def reject(self, assignment: Assignment, feedback: str) -> None:
        self._decide(assignment, "Rejected", feedback)

    def _decide(self, assignment: Assignment, status: str, feedback: str, *, override: bool = False) -> None:
        if assignment.status != "Submitted" and not (override and assignment.status == "Rejected"):
            raise RequestError("InvalidAssignmentState", "This operation can be called with a status of: Submitted")
        assignment.status, assignment.decided, assignment.feedback = status, self.now(), feedback

    def qualification(self, key: str) -> Qualification:
        if key not in self.qualifications:
            raise RequestError("QualificationTypeDoesNotExist", f"QualificationType {key} does not exist.")
        return self.qualifications[key]
