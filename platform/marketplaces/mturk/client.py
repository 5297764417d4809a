"""A client for Mechanical Turk's requester API (version 2017-01-17), based on boto3.

The client never retries: the caller knows whether a repeated request is safe. Answers are parsed into plain records
immediately, so that a malformed answer is noticed here and raises `Unclear`.
"""

from __future__ import annotations

import contextlib
import io
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any
from uuid import UUID

import httpx2
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from marketplaces.models import Account, credentials_of
from marketplaces.mturk.errors import Refused, Unclear
from outgoing.client import AddressRefused, ask

if TYPE_CHECKING:
    from botocore.awsrequest import AWSPreparedRequest, AWSResponse
    from botocore.exceptions import ClientError

KEY_ID, SECRET = "access_key_id", "secret_access_key"
"""Names of the credentials that an account signs in with."""
REGION = "us-east-1"
CONNECT_SECONDS, ANSWER_SECONDS = 5, 20
PAGE_SIZE = 100
MOST_PAGES = 1000
_CLIENT_LOCK = threading.Lock()
_CLIENT_ERRORS = range(400, 500)


@dataclass(frozen=True)
class HitNow:
    """A task as mTurk shows it; `status` is its HITStatus, `pending` counts workers who are doing or previewing it."""

    hit_id: str
    status: str
    reward: Decimal
    assignments: int
    expires_at: datetime
    pending: int
    available: int
    completed: int
    annotation: str
    duration: int
    title: str


@dataclass(frozen=True)
class AssignmentNow:
    """A submitted assignment; `status` is Submitted, Approved or Rejected."""

    assignment_id: str
    hit_id: str
    worker: str = field(repr=False)
    status: str
    submitted_at: datetime
    auto_approval_at: datetime | None


@dataclass(frozen=True)
class BonusNow:
    """A bonus paid for an assignment."""

    worker: str = field(repr=False)
    amount: Decimal
    reason: str


@dataclass(frozen=True)
class Holder:
    """A worker who holds one of our qualifications."""

    worker: str = field(repr=False)
    value: int


class Requester:
    """One requester account. Every method may raise Refused (nothing took effect) or Unclear (outcome unknown)."""

    def __init__(self, client: Any):
        self._client = client

    def balance(self) -> Decimal:
        """Return the available balance in US dollars."""
        answer = self._call("get_account_balance")
        with _valid_answer():
            return _money(answer["AvailableBalance"])

    # ---- tasks -----------------------------------------------------------------------------------------

    def create_hit(
        self,
        *,
        token: UUID,
        title: str,
        description: str,
        keywords: str,
        reward: Decimal,
        assignments: int,
        lifetime: int,
        duration: int,
        auto_approval: int,
        question: str,
        qualifications: Sequence[Mapping[str, Any]],
    ) -> str:
        """Publish a task and return its ID. The same token within a day returns the same task.

        Args:
            lifetime, duration, auto_approval: seconds.
            qualifications: QualificationRequirements as defined in mTurk's API reference.
        """
        try:
            answer = self._call(
                "create_hit",
                UniqueRequestToken=str(token),
                RequesterAnnotation=str(token),
                Title=title,
                Description=description,
                Keywords=keywords,
                Reward=f"{reward:.2f}",
                MaxAssignments=assignments,
                LifetimeInSeconds=lifetime,
                AssignmentDurationInSeconds=duration,
                AutoApprovalDelayInSeconds=auto_approval,
                Question=question,
                QualificationRequirements=list(qualifications),
            )
        except Refused as refusal:
            if refusal.code == "hitalreadyexists" and (existing_id := self.hit_by_annotation(str(token))):
                return existing_id
            raise
        with _valid_answer():
            return _text(answer["HIT"]["HITId"])

    def hit_by_annotation(self, annotation: str) -> str:
        """Return the ID of the task created with this annotation, or an empty string if there is none."""
        for page in self._pages("list_hits"):
            with _valid_answer():
                for hit in page["HITs"]:
                    if hit.get("RequesterAnnotation") == annotation:
                        return _text(hit["HITId"])
        return ""

    def hit(self, hit_id: str) -> HitNow:
        """Return a task's current status."""
        return _read_hit(self._call("get_hit", HITId=hit_id))

    def add_assignments(self, hit_id: str, number: int, *, token: UUID) -> None:
        """Add assignments to a task. Repeating a call with the same token adds nothing more."""
        try:
            self._call(
                "create_additional_assignments_for_hit",
                HITId=hit_id,
                NumberOfAdditionalAssignments=number,
                UniqueRequestToken=str(token),
            )
        except Refused as refusal:
            if refusal.code != "duplicaterequest":
                raise

    def expire(self, hit_id: str, expires_at: datetime) -> None:
        """Set when a task's offer expires; a time in the past takes it off the list immediately."""
        self._call("update_expiration_for_hit", HITId=hit_id, ExpireAt=expires_at)

    def delete(self, hit_id: str) -> None:
        """Delete a task that nobody is working on and whose assignments are all approved or rejected."""
        self._call("delete_hit", HITId=hit_id)

    # ---- assignments -----------------------------------------------------------------------------------

    def assignments(self, hit_id: str) -> list[AssignmentNow]:
        """Return all submitted assignments of a task."""
        assignments: list[AssignmentNow] = []
        for page in self._pages("list_assignments_for_hit", HITId=hit_id):
            with _valid_answer():
                assignments += [_read_assignment(data) for data in page["Assignments"]]
        return assignments

    def assignment(self, assignment_id: str) -> AssignmentNow | None:
        """Return an assignment, or None if it is not submitted: still in progress, returned or abandoned."""
        try:
            answer = self._call("get_assignment", AssignmentId=assignment_id)
        except Refused as refusal:
            if refusal.code == "invalidassignmentstate":
                return None
            raise
        with _valid_answer():
            return _read_assignment(answer["Assignment"])

    def approve(self, assignment_id: str, *, feedback: str = "", rejected: bool = False) -> None:
        """Pay the reward; with `rejected`, even for an assignment that was rejected."""
        feedback_field = {"RequesterFeedback": feedback} if feedback else {}
        self._call("approve_assignment", AssignmentId=assignment_id, OverrideRejection=rejected, **feedback_field)

    def reject(self, assignment_id: str, *, reason: str) -> None:
        """Reject an assignment, so that its reward is not paid; the worker reads the reason."""
        self._call("reject_assignment", AssignmentId=assignment_id, RequesterFeedback=reason)

    @sensitive_variables("worker")
    def send_bonus(self, *, worker: str, assignment_id: str, amount: Decimal, reason: str, token: UUID) -> None:
        """Pay a bonus. Repeating a call with the same token pays nothing more and raises nothing."""
        try:
            self._call(
                "send_bonus",
                WorkerId=worker,
                AssignmentId=assignment_id,
                BonusAmount=f"{amount:.2f}",
                Reason=reason,
                UniqueRequestToken=str(token),
            )
        except Refused as refusal:
            if refusal.code != "duplicaterequest":
                raise

    def bonuses(self, assignment_id: str) -> list[BonusNow]:
        """Return the bonuses paid for an assignment."""
        bonuses: list[BonusNow] = []
        for page in self._pages("list_bonus_payments", AssignmentId=assignment_id):
            with _valid_answer():
                bonuses += [
                    BonusNow(_text(data["WorkerId"]), _money(data["BonusAmount"]), str(data.get("Reason", "")))
                    for data in page["BonusPayments"]
                ]
        return bonuses

    # ---- qualifications --------------------------------------------------------------------------------

    def qualification(self, name: str, description: str) -> str:
        """Return the ID of our qualification with this name; create the qualification if it does not exist."""
        try:
            answer = self._call(
                "create_qualification_type", Name=name, Description=description, QualificationTypeStatus="Active"
            )
        except Refused as refusal:
            if refusal.code != "qualificationtypealreadyexists":
                raise
            return self._qualification_named(name)
        with _valid_answer():
            return _text(answer["QualificationType"]["QualificationTypeId"])

    def _qualification_named(self, name: str) -> str:
        query = {"Query": name, "MustBeRequestable": False, "MustBeOwnedByCaller": True}
        for page in self._pages("list_qualification_types", **query):
            with _valid_answer():
                for qualification_type in page["QualificationTypes"]:
                    if qualification_type["Name"] == name:
                        return _text(qualification_type["QualificationTypeId"])
        raise Unclear(_("Mechanical Turk reports that the qualification exists but does not return it."))

    @sensitive_variables("worker")
    def grant(self, qualification_id: str, *, worker: str, value: int) -> None:
        """Grant a qualification to a worker without notifying them."""
        self._call(
            "associate_qualification_with_worker",
            QualificationTypeId=qualification_id,
            WorkerId=worker,
            IntegerValue=value,
            SendNotification=False,
        )

    @sensitive_variables("worker")
    def revoke(self, qualification_id: str, *, worker: str) -> None:
        """Take a qualification away from a worker."""
        self._call("disassociate_qualification_from_worker", QualificationTypeId=qualification_id, WorkerId=worker)

    def holders(self, qualification_id: str) -> list[Holder]:
        """Return the holders of a qualification."""
        holders: list[Holder] = []
        query = {"QualificationTypeId": qualification_id, "Status": "Granted"}
        for page in self._pages("list_workers_with_qualification_type", **query):
            with _valid_answer():
                holders += [
                    Holder(_text(data["WorkerId"]), int(data["IntegerValue"])) for data in page["Qualifications"]
                ]
        return holders

    # ---- requests --------------------------------------------------------------------------------------

    def _pages(self, operation: str, **parameters: Any) -> Iterator[dict[str, Any]]:
        token: dict[str, str] = {}
        for _page in range(MOST_PAGES):
            answer = self._call(operation, MaxResults=PAGE_SIZE, **parameters, **token)
            yield answer
            next_token = answer.get("NextToken")
            if not next_token or next_token == token.get("NextToken"):
                return
            token = {"NextToken": next_token}

    @sensitive_variables()
    def _call(self, operation: str, **parameters: Any) -> dict[str, Any]:
        from botocore.exceptions import ClientError, ParamValidationError

        try:
            answer: dict[str, Any] = getattr(self._client, operation)(**parameters)
        except ClientError as error:
            raise _error_for(error) from None
        except ParamValidationError:
            raise Refused("ParameterValidationError") from None
        except AddressRefused:
            raise Refused("AddressRefused") from None
        except Exception:  # noqa: BLE001  (whatever the service sent, an unreadable answer is no answer)
            raise _malformed_answer_error() from None
        kind = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("content-type", "json")
        if "json" not in kind:  # boto3 does not parse answers whose output has no fields
            raise _malformed_answer_error()
        return answer


@sensitive_variables()
def requester_of(account: Account) -> Requester:
    """Return a client signed in with an account's credentials.

    Raises:
        Refused: the account's credentials are incomplete.
    """
    credentials = credentials_of(account) or {}
    if not credentials.get(KEY_ID) or not credentials.get(SECRET) or not account.base_address:
        raise NotSignedIn
    return Requester(_client(account.base_address, credentials[KEY_ID], credentials[SECRET]))


class NotSignedIn(Refused):
    """Raised when the account's credentials are missing."""

    def __init__(self) -> None:
        super().__init__("NotSignedIn")
        self.args = (
            _("The account has no access key yet, or it can no longer be read. Enter it on the account's page."),
        )


@lru_cache(maxsize=32)
@sensitive_variables()
def _client(address: str, key_id: str, secret: str) -> Any:
    from botocore.config import Config

    config = Config(retries={"total_max_attempts": 1, "mode": "standard"}, user_agent_extra="parley")
    keys = {"aws_access_key_id": key_id, "aws_secret_access_key": secret}
    with _CLIENT_LOCK:
        client = _session().client("mturk", endpoint_url=address, config=config, **keys)
    client.meta.events.register("before-send.mturk", _send)
    return client


def _send(request: AWSPreparedRequest, **_arguments: Any) -> AWSResponse:
    """Send a request that boto3 has signed."""
    from botocore.awsrequest import AWSResponse
    from urllib3 import HTTPResponse

    timeout = httpx2.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS)
    headers = dict(request.headers.items())
    answer = ask(request.method, request.url, content=request.body, headers=headers, timeout=timeout)
    raw = HTTPResponse(io.BytesIO(answer.content), preload_content=False)
    return AWSResponse(request.url, answer.status_code, dict(answer.headers), raw)


@cache
def _session() -> Any:
    """Return the shared session, which loads mTurk's service description only once and is not thread-safe."""
    import boto3

    return boto3.session.Session(region_name=REGION)


def _error_for(error: ClientError) -> Refused | Unclear:
    answer: Mapping[str, Any] = error.response
    details = answer.get("Error", {})
    code = str(answer.get("TurkErrorCode") or details.get("Code") or "")
    if answer.get("ResponseMetadata", {}).get("HTTPStatusCode") not in _CLIENT_ERRORS:
        return _malformed_answer_error()
    return Refused(code, str(details.get("Message", "")))


def _malformed_answer_error() -> Unclear:
    return Unclear(_("Mechanical Turk is not responding properly at the moment."))


@contextlib.contextmanager
def _valid_answer() -> Iterator[None]:
    """Raise Unclear if an answer contains something unexpected."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, InvalidOperation):
        raise _malformed_answer_error() from None


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError
    return value


def _money(value: Any) -> Decimal:
    amount = Decimal(_text(value))
    if not amount.is_finite():
        raise ValueError
    return amount


def _read_hit(answer: Mapping[str, Any]) -> HitNow:
    with _valid_answer():
        hit = answer["HIT"]
        return HitNow(
            hit_id=_text(hit["HITId"]),
            status=_text(hit["HITStatus"]),
            reward=_money(hit["Reward"]),
            assignments=int(hit["MaxAssignments"]),
            expires_at=hit["Expiration"],
            pending=int(hit["NumberOfAssignmentsPending"]),
            available=int(hit["NumberOfAssignmentsAvailable"]),
            completed=int(hit["NumberOfAssignmentsCompleted"]),
            annotation=str(hit.get("RequesterAnnotation", "")),
            duration=int(hit["AssignmentDurationInSeconds"]),
            title=str(hit.get("Title", "")),
        )


def _read_assignment(data: Mapping[str, Any]) -> AssignmentNow:
    return AssignmentNow(
        assignment_id=_text(data["AssignmentId"]),
        hit_id=_text(data["HITId"]),
        worker=_text(data["WorkerId"]),
        status=_text(data["AssignmentStatus"]),
        submitted_at=data["SubmitTime"],
        auto_approval_at=data.get("AutoApprovalTime"),
    )
