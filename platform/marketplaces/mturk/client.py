"""A client for Mechanical Turk's requester API (version 2017-01-17), based on boto3, and the API's errors.

The client never retries: the caller knows whether a repeated request is safe. Answers are parsed into plain records
immediately, so that a malformed answer is noticed here and raises `Unclear`. mTurk's own messages can name workers, so
they are never passed on: our own message is chosen by mTurk's error code.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

import httpx2
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_variables
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from marketplaces.calls import send
from marketplaces.kinds import NotSent, NotThere, Refused, Unclear
from marketplaces.models import Account, credentials_of

if TYPE_CHECKING:
    from botocore.awsrequest import AWSPreparedRequest, AWSResponse
    from botocore.exceptions import ClientError

KEY_ID, SECRET = "access_key_id", "secret_access_key"
"""Names of the credentials that an account signs in with."""
REGION = "us-east-1"
CONNECT_SECONDS, ANSWER_SECONDS = 5, 20
PAGE_SIZE, MOST_ROWS = 100, 100_000
_CLIENT_LOCK = threading.Lock()
_MESSAGES: dict[str, str | Promise] = {
    "insufficientfunds": gettext_lazy("The balance of the Mechanical Turk account is too low."),
    "assignmentdoesnotexist": gettext_lazy("This account has no such assignment on Mechanical Turk."),
    "invalidassignmentstate": gettext_lazy(
        "The assignment's status does not allow this: it has not been submitted, or it has already been approved or "
        "rejected."
    ),
    "hitdoesnotexist": gettext_lazy("This account has no such task on Mechanical Turk, or no longer has it."),
    "invalidhitstate": gettext_lazy(
        "The task's status does not allow this. A task can be deleted once nobody is working on it and every submitted "
        "assignment has been approved or rejected."
    ),
    "invalidmaximumassignmentsincrease": gettext_lazy(
        "A task that was created with fewer than 10 assignments can never have 10 or more. Publish another task."
    ),
    "workerdoesnotexist": gettext_lazy("Mechanical Turk has no such worker, or the worker did not do this assignment."),
    "unrecognizedclientexception": gettext_lazy("Mechanical Turk does not recognise the access key. Enter it again."),
    "invalidsignatureexception": gettext_lazy("The secret access key does not match the access key. Enter both again."),
    "accessdeniedexception": gettext_lazy(
        "The access key is not allowed to use Mechanical Turk. Give its AWS user the permission "
        "AmazonMechanicalTurkFullAccess."
    ),
    "throttlingexception": gettext_lazy("Mechanical Turk received too many requests. Try again in a minute."),
    "requestexpired": gettext_lazy("This server's clock is wrong, so Mechanical Turk refuses its requests."),
    "notsignedin": gettext_lazy(
        "The account has no access key yet, or it can no longer be read. Enter it on the account's page."
    ),
}
_NOT_THERE = {"assignmentdoesnotexist", "hitdoesnotexist"}
_NOT_SENT = {"throttlingexception", "requestexpired", "notsignedin", "unrecognizedclientexception",
             "invalidsignatureexception", "accessdeniedexception"}  # fmt: skip
"""Codes after which the request can be repeated, once the account or the time allows it."""


def refusal_for(code: str) -> Refused:
    """Return the error for mTurk's error code; its `reason` is the code in lower case without namespace."""
    code = code.rpartition(".")[2].lower()
    shown_code = code if code.isalnum() else _("no reason given")
    unknown = _("Mechanical Turk refused the request ({code}).").format(code=shown_code)
    kind = NotThere if code in _NOT_THERE else NotSent if code in _NOT_SENT else Refused
    return kind(_MESSAGES.get(code, unknown), reason=code)


class _Record(BaseModel):
    """Part of an answer; the aliases are mTurk's names."""

    model_config = ConfigDict(frozen=True)


class HitNow(_Record):
    """A task as mTurk shows it; `pending` counts workers who are doing or previewing it."""

    hit_id: str = Field(alias="HITId", min_length=1)
    status: str = Field(alias="HITStatus", min_length=1)
    reward: Decimal = Field(alias="Reward")
    assignments: int = Field(alias="MaxAssignments")
    expires_at: datetime = Field(alias="Expiration")
    pending: int = Field(alias="NumberOfAssignmentsPending")
    available: int = Field(alias="NumberOfAssignmentsAvailable")
    completed: int = Field(alias="NumberOfAssignmentsCompleted")
    annotation: str = Field("", alias="RequesterAnnotation")
    duration: int = Field(alias="AssignmentDurationInSeconds")
    title: str = Field("", alias="Title")


class AssignmentNow(_Record):
    """A submitted assignment; `status` is Submitted, Approved or Rejected."""

    assignment_id: str = Field(alias="AssignmentId", min_length=1)
    hit_id: str = Field(alias="HITId", min_length=1)
    worker: str = Field(alias="WorkerId", min_length=1, repr=False)
    status: str = Field(alias="AssignmentStatus", min_length=1)
    submitted_at: datetime = Field(alias="SubmitTime")
    auto_approval_at: datetime | None = Field(None, alias="AutoApprovalTime")


class BonusNow(_Record):
    reason: str = Field("", alias="Reason")


class Holder(_Record):
    """A worker who holds one of our qualifications."""

    worker: str = Field(alias="WorkerId", min_length=1, repr=False)
    value: int = Field(alias="IntegerValue")


class _QualificationType(_Record):
    key: str = Field(alias="QualificationTypeId", min_length=1)
    name: str = Field(alias="Name")


class _Balance(_Record):
    available: Decimal = Field(alias="AvailableBalance")


Read = TypeVar("Read", bound=_Record)


class Requester:
    """One requester account. Every method may raise Refused (nothing took effect) or Unclear (outcome unknown)."""

    def __init__(self, client: Any):
        self._client = client

    def balance(self) -> Decimal:
        """Return the available balance in US dollars."""
        return _read(_Balance, self.call("get_account_balance")).available

    def create_hit(self, *, token: str, **fields: Any) -> str:
        """Publish a task and return its ID. The same token within a day returns the same task.

        Args:
            fields: the other parameters of CreateHIT, under mTurk's own names.
        """
        tokens = {"UniqueRequestToken": token, "RequesterAnnotation": token}
        if answer := self.call("create_hit", harmless="hitalreadyexists", **tokens, **fields):
            return _read(HitNow, answer.get("HIT")).hit_id
        if existing_id := self.hit_by_annotation(token):
            return existing_id
        raise refusal_for("HITAlreadyExists")

    def hit_by_annotation(self, annotation: str) -> str:
        """Return the ID of the task created with this annotation, or an empty string if there is none."""
        hits = self.rows("list_hits", "HITs", HitNow)
        return next((hit.hit_id for hit in hits if hit.annotation == annotation), "")

    def hit(self, hit_id: str) -> HitNow:
        """Return a task's current status."""
        return _read(HitNow, self.call("get_hit", HITId=hit_id).get("HIT"))

    def assignments(self, hit_id: str) -> list[AssignmentNow]:
        """Return all submitted assignments of a task."""
        return list(self.rows("list_assignments_for_hit", "Assignments", AssignmentNow, HITId=hit_id))

    def assignment(self, assignment_id: str) -> AssignmentNow | None:
        """Return an assignment, or None if it is not submitted: still in progress, returned or abandoned."""
        answer = self.call("get_assignment", harmless="invalidassignmentstate", AssignmentId=assignment_id)
        return _read(AssignmentNow, answer.get("Assignment")) if answer else None

    def qualification(self, name: str, description: str) -> str:
        """Return the ID of our qualification with this name; create the qualification if it does not exist."""
        order = {"Name": name, "Description": description, "QualificationTypeStatus": "Active"}
        if created := self.call("create_qualification_type", harmless="qualificationtypealreadyexists", **order):
            return _read(_QualificationType, created.get("QualificationType")).key
        query = {"Query": name, "MustBeRequestable": False, "MustBeOwnedByCaller": True}
        for existing in self.rows("list_qualification_types", "QualificationTypes", _QualificationType, **query):
            if existing.name == name:
                return existing.key
        raise _malformed_answer()

    # ---- requests --------------------------------------------------------------------------------------

    @sensitive_variables()
    def once(self, operation: str, token: UUID, **parameters: Any) -> None:
        """Call an operation that a repeated call with the same token does not perform again."""
        self.call(operation, harmless="duplicaterequest", UniqueRequestToken=str(token), **parameters)

    def rows(self, operation: str, name: str, kind: type[Read], **parameters: Any) -> Iterator[Read]:
        """Yield all rows of a list, page by page."""
        pages = {"PageSize": PAGE_SIZE, "MaxItems": MOST_ROWS}
        with _own_errors():
            for page in self._client.get_paginator(operation).paginate(**parameters, PaginationConfig=pages):
                yield from [_read(kind, row) for row in page[name]]

    @sensitive_variables()
    def call(self, operation: str, *, harmless: str = "", **parameters: Any) -> dict[str, Any]:
        """Call an operation under boto3's name for it, with mTurk's names of parameters; return the whole answer.

        Args:
            harmless: the code of a refusal after which the answer is {}.
        """
        try:
            with _own_errors():
                answer: dict[str, Any] = getattr(self._client, operation)(**parameters)
        except Refused as refusal:
            if harmless and refusal.reason == harmless:
                return {}
            raise
        kind = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("content-type", "json")
        if "json" not in kind:  # boto3 does not parse answers whose output has no fields
            raise _malformed_answer()
        return answer


@contextmanager
def _own_errors() -> Iterator[None]:
    """Raise Refused or Unclear instead of boto3's errors."""
    from botocore.exceptions import ClientError, ParamValidationError

    try:
        yield
    except ClientError as error:
        raise _error_for(error) from None
    except ParamValidationError:
        raise refusal_for("ParameterValidationError") from None
    except NotSent:
        raise
    except Exception:  # noqa: BLE001  (whatever the service sent, an unreadable answer is no answer)
        raise _malformed_answer() from None


@sensitive_variables()
def requester_of(account: Account) -> Requester:
    """Return a client signed in with an account's credentials; raise Refused if they are incomplete."""
    credentials = credentials_of(account) or {}
    if not credentials.get(KEY_ID) or not credentials.get(SECRET) or not account.base_address:
        raise refusal_for("NotSignedIn")
    return Requester(_client(account.base_address, credentials[KEY_ID], credentials[SECRET]))


def check(account: Account) -> str:
    """Return a sentence that states the account's balance."""
    return _("The account works. Balance: ${balance}.").format(balance=f"{requester_of(account).balance():,.2f}")


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
    answer = send(
        "Mechanical Turk", request.method, request.url, content=request.body, headers=headers, timeout=timeout
    )
    raw = HTTPResponse(io.BytesIO(answer.content), preload_content=False)
    return AWSResponse(request.url, answer.status_code, dict(answer.headers), raw)


@cache
def _session() -> Any:
    """Return the shared session, which loads mTurk's service description only once and is not thread-safe."""
    import boto3

    return boto3.session.Session(region_name=REGION)


def _error_for(error: ClientError) -> Refused | Unclear:
    answer: Any = error.response
    if not 400 <= answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) < 500:
        return _malformed_answer()
    return refusal_for(str(answer.get("TurkErrorCode") or answer.get("Error", {}).get("Code") or ""))


def _malformed_answer() -> Unclear:
    return Unclear(_("Mechanical Turk is not responding properly at the moment."))


def _read(kind: type[Read], data: Any) -> Read:
    """Return part of an answer; raise Unclear if it contains something unexpected."""
    try:
        return kind.model_validate(data)
    except ValidationError:
        raise _malformed_answer() from None
