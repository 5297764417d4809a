"""An in-memory model of Mechanical Turk's tasks, assignments, qualifications and money.

States are those of the API reference (version 2017-01-17). `pass_time` moves the clock forward; amounts are in US
dollars. The caller holds `lock` for every operation.
"""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from marketplaces.mturk import fees

APPROVED_NUMBER = "00000000000000000040"
APPROVED_PERCENT = "000000000000000000L0"
LOCALE = "00000000000000000071"
NAMESPACE = "AWS.MechanicalTurk"
DAY = 24 * 3600.0


class RequestError(Exception):
    """A refusal in the API's own words; `code` is its TurkErrorCode without the namespace."""

    def __init__(self, code: str, message: str):
        super().__init__(message)
        self.code = f"{NAMESPACE}.{code}"


@dataclass
class Worker:
    """A worker who looks for tasks, with the data that mTurk has about every worker."""

    id: str
    country: str = "US"
    approved_number: int = 5000
    approved_percent: int = 99


@dataclass
class Hit:
    """One task; times are in seconds since 1970."""

    id: str
    type_id: str
    group_id: str
    title: str
    description: str
    keywords: str
    question: str
    annotation: str
    reward: Decimal
    assignments: int
    duration: float
    auto_approval: float
    created: float
    expires: float
    requirements: list[Mapping[str, Any]]
    disposed: bool = False

    @property
    def unit_cost(self) -> Decimal:
        """Cost of one approved assignment."""
        return self.reward + fees.reward_fee(self.reward, assignments=self.assignments)

    @property
    def address(self) -> str:
        """Address of the external question."""
        match = re.search(r"<ExternalURL>(.*?)</ExternalURL>", self.question)
        return match[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") if match else ""

    @property
    def frame_height(self) -> int:
        match = re.search(r"<FrameHeight>(\d+)</FrameHeight>", self.question)
        return int(match[1]) if match else 0


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
    def deadline(self) -> float:
        return self.accepted + self.hit.duration

    @property
    def reviewed(self) -> bool:
        return self.status in ("Approved", "Rejected")


@dataclass
class Qualification:
    """A qualification type made by the requester, and its holders: worker → (value, since)."""

    id: str
    name: str
    description: str
    created: float
    holders: dict[str, tuple[int, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Bonus:
    """A bonus that was paid."""

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
        self._tokens: dict[tuple[str, str], tuple[float, str]] = {}
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
            if assignment.status == "Accepted" and now > assignment.deadline:
                assignment.status = "Abandoned"
            if assignment.status == "Submitted" and now >= assignment.submitted + assignment.hit.auto_approval:
                assignment.status, assignment.decided = "Approved", now

    @property
    def spent(self) -> Decimal:
        """Return the rewards and bonuses paid so far, including fees."""
        rewards = sum(
            (assignment.hit.unit_cost for assignment in self.assignments.values() if assignment.status == "Approved"),
            Decimal(0),
        )
        return rewards + sum((bonus.amount + fees.bonus_fee(bonus.amount) for bonus in self.bonuses), Decimal(0))

    @property
    def held(self) -> Decimal:
        """Return the amount held for tasks that may still be approved."""
        return sum(
            (hit.unit_cost * self._held_assignments(hit) for hit in self.hits.values() if not hit.disposed), Decimal(0)
        )

    @property
    def available(self) -> Decimal:
        return self.total - self.spent - self.held

    def _held_assignments(self, hit: Hit) -> int:
        own_assignments = self.assignments_of(hit)
        if hit.expires > self.now():
            return hit.assignments - sum(assignment.reviewed for assignment in own_assignments)
        return sum(assignment.status in ("Accepted", "Submitted") for assignment in own_assignments)

    # ---- tasks -----------------------------------------------------------------------------------------

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
        own_assignments = self.assignments_of(hit)
        taken = sum(
            assignment.status in ("Accepted", "Submitted", "Approved", "Rejected") for assignment in own_assignments
        )
        pending = sum(assignment.status == "Accepted" for assignment in own_assignments)
        return pending, max(0, hit.assignments - taken), sum(assignment.reviewed for assignment in own_assignments)

    def status(self, hit: Hit) -> str:
        """Return the task's HITStatus."""
        if hit.disposed:
            return "Disposed"
        pending, available, _completed = self.counts(hit)
        if hit.expires > self.now() and available:
            return "Assignable"
        return "Unassignable" if pending else "Reviewable"

    def create_hit(self, hit: Hit, token: str) -> Hit:
        def create() -> str:
            if hit.unit_cost * hit.assignments > self.available:
                raise RequestError("InsufficientFunds", "This Requester has insufficient funds in their account.")
            self.hits[hit.id] = hit
            return hit.id

        self._once("CreateHIT", token, create, code="HitAlreadyExists", lasts=DAY)
        return hit

    def add_assignments(self, hit: Hit, number: int, token: str) -> None:
        def add() -> str:
            if hit.assignments < fees.MTURK_LARGE_FROM <= hit.assignments + number:
                raise RequestError("InvalidMaximumAssignmentsIncrease", "It would become a task of 10 or more.")
            if hit.unit_cost * number > self.available:
                raise RequestError("InsufficientFunds", "This Requester has insufficient funds in their account.")
            hit.assignments += number
            return new_id()

        self._once("CreateAdditionalAssignmentsForHIT", token, add, code="DuplicateRequest")

    def dispose(self, hit: Hit) -> None:
        has_undecided = any(assignment.status == "Submitted" for assignment in self.assignments_of(hit))
        if self.status(hit) != "Reviewable" or has_undecided:
            raise RequestError("InvalidHITState", "This HIT is not in a state in which it can be deleted.")
        hit.disposed = True

    def _once(self, action: str, token: str, act: Callable[[], str], *, code: str, lasts: float = float("inf")) -> None:
        """Call `act`, unless an earlier request had the same token."""
        earlier = self._tokens.get((action, token))
        if token and earlier is not None and self.now() - earlier[0] <= lasts:
            raise RequestError(code, f"The request was made before: {earlier[1]}")
        result = act()
        if token:
            self._tokens[action, token] = (self.now(), result)

    # ---- workers ---------------------------------------------------------------------------------------

    def worker(self, key: str) -> Worker:
        """Return the worker with this ID; a worker is created when first asked for."""
        return self.workers.setdefault(key, Worker(key))

    def allowed(self, worker: Worker, hit: Hit) -> bool:
        """Return whether the worker has the qualifications that the task requires."""
        return all(self._meets(worker, requirement) for requirement in hit.requirements)

    def _meets(self, worker: Worker, requirement: Mapping[str, Any]) -> bool:
        key, comparator = requirement["QualificationTypeId"], requirement["Comparator"]
        integers = requirement.get("IntegerValues", [])
        value: Any
        if key == LOCALE:
            countries = [locale["Country"] for locale in requirement.get("LocaleValues", [])]
            return (worker.country in countries) == (comparator in ("EqualTo", "In"))
        if key == APPROVED_NUMBER:
            value = worker.approved_number
        elif key == APPROVED_PERCENT:
            value = worker.approved_percent
        else:
            value = self.qualification(key).holders.get(worker.id, (None, 0.0))[0]
        if comparator in ("Exists", "DoesNotExist"):
            return (value is not None) == (comparator == "Exists")
        if value is None:
            return False
        compare: dict[str, Callable[[], bool]] = {
            "GreaterThan": lambda: value > integers[0],
            "GreaterThanOrEqualTo": lambda: value >= integers[0],
            "LessThan": lambda: value < integers[0],
            "LessThanOrEqualTo": lambda: value <= integers[0],
            "EqualTo": lambda: value == integers[0],
            "NotEqualTo": lambda: value != integers[0],
            "In": lambda: value in integers,
            "NotIn": lambda: value not in integers,
        }
        return compare[comparator]()

    def offered(self, worker: Worker) -> list[Hit]:
        """Return the tasks in this worker's list."""
        return [hit for hit in self.hits.values() if self.may_accept(worker, hit)]

    def may_accept(self, worker: Worker, hit: Hit) -> bool:
        has_accepted = any(
            assignment.worker == worker.id and assignment.status not in ("Returned", "Abandoned")
            for assignment in self.assignments_of(hit)
        )
        return not hit.disposed and self.status(hit) == "Assignable" and not has_accepted and self.allowed(worker, hit)

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
        if not {name for name in fields if name != "assignmentId"}:
            raise RequestError("ParameterValidationError", "The form has no field beside assignmentId.")
        assignment.status, assignment.submitted = "Submitted", self.now()
        assignment.answer = "".join(
            f"<Answer><QuestionIdentifier>{_xml(name)}</QuestionIdentifier><FreeText>{_xml(value)}</FreeText></Answer>"
            for name, value in fields.items()
            if name != "assignmentId"
        )

    # ---- decisions and payments --------------------------------------------------------------------------

    def assignment(self, key: str) -> Assignment:
        """Return a submitted assignment.

        Raises:
            RequestError: there is none, or its worker has not submitted it (any more).
        """
        assignment = self.assignments.get(key)
        if assignment is None:
            raise RequestError("AssignmentDoesNotExist", f"Assignment {key} does not exist.")
        if assignment.status not in ("Submitted", "Approved", "Rejected"):
            raise RequestError(
                "InvalidAssignmentState",
                f"This operation can be called with a status of: Reviewable,Approved,Rejected ({assignment.worker})",
            )
        return assignment

    def approve(self, assignment: Assignment, feedback: str, *, override: bool) -> None:
        if assignment.status == "Approved" or (assignment.status == "Rejected" and not override):
            raise RequestError("InvalidAssignmentState", "This operation can be called with a status of: Submitted")
        assignment.status, assignment.decided, assignment.feedback = "Approved", self.now(), feedback

    def reject(self, assignment: Assignment, feedback: str) -> None:
        if assignment.status != "Submitted":
            raise RequestError("InvalidAssignmentState", "This operation can be called with a status of: Submitted")
        assignment.status, assignment.decided, assignment.feedback = "Rejected", self.now(), feedback

    def pay_bonus(self, bonus: Bonus, token: str) -> None:
        def pay() -> str:
            assignment = self.assignment(bonus.assignment)
            if assignment.worker != bonus.worker:
                raise RequestError("WorkerDoesNotExist", f"Worker {bonus.worker} did not do this assignment.")
            if bonus.amount + fees.bonus_fee(bonus.amount) > self.available:
                raise RequestError("InsufficientFunds", "This Requester has insufficient funds in their account.")
            self.bonuses.append(bonus)
            return new_id()

        self._once("SendBonus", token, pay, code="DuplicateRequest")

    # ---- qualifications --------------------------------------------------------------------------------

    def qualification(self, key: str) -> Qualification:
        qualification = self.qualifications.get(key)
        if qualification is None:
            raise RequestError("QualificationTypeDoesNotExist", f"QualificationType {key} does not exist.")
        return qualification

    def create_qualification(self, name: str, description: str) -> Qualification:
        if any(existing.name == name for existing in self.qualifications.values()):
            raise RequestError(
                "QualificationTypeAlreadyExists", "You have already created a QualificationType so named."
            )
        qualification = Qualification(new_id(), name, description, self.now())
        self.qualifications[qualification.id] = qualification
        return qualification


def new_id() -> str:
    """Return an ID in mTurk's format: 30 capital letters and digits, starting with a 3."""
    letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return "3" + "".join(secrets.choice(letters) for _ in range(29))


def _xml(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
