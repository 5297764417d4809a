"""Payment methods by kind of recruiter. Marketplaces register their own.

A ledger row is paid in steps, each saved before the next: `assignment_status` (is the participant's assignment as
expected?), `prepare` (moves no money), `pay` (may move money), `look_up` (the result, if an answer was lost).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from django.db.models import Model
from django.utils.functional import Promise

from participants.models import Enrolment


class Unreachable(Exception):
    """The recruiter's API did not answer, or its answer was invalid; the message is for the researcher, without keys.

    Whether an order sent at that moment took effect is unknown.
    """


class AssignmentStatus(StrEnum):
    """The status of a participant's assignment, as the recruiter reports it."""

    WORKING = "working"
    SUBMITTED = "submitted"
    APPROVED = "approved"
    REJECTED = "rejected"
    RETURNED = "returned"
    TIMED_OUT = "timed_out"
    UNKNOWN = "unknown"
    """The recruiter has no such assignment."""
    SOMEBODY_ELSE = "somebody_else"
    """The assignment belongs to another participant or another study."""


class Outcome(StrEnum):
    """The result of an order."""

    CONFIRMED = "confirmed"
    """The recruiter confirms that it is paid."""
    SENT = "sent"
    """The recruiter accepted the order and will confirm later."""
    QUEUED = "queued"
    """Of several orders only: the recruiter queued it. `look_up` returns its result; paying again pays only once."""
    REFUSED = "refused"
    """Certainly not paid; `reason` explains why."""
    NOT_FOUND = "not_found"
    """`look_up` only: the recruiter does not know the order, so it certainly was not paid."""
    UNCLEAR = "unclear"
    """It is unknown whether it was paid. It is never sent again automatically."""


@dataclass(frozen=True)
class Order:
    """An order to pay one ledger row.

    Attributes:
        uid: the ledger row's, the same for every attempt; used as idempotency key where the recruiter supports one.
        reason: "base" or "bonus".
        amount: in `currency`, whole cents.
        worker, details: the recruiter's identifiers (`recruiters.models.Identity`); never logged or shown.
        message: shown to the participant.
        reference: what `prepare` returned; empty before.
    """

    uid: UUID
    reason: str
    amount: Decimal
    currency: str
    worker: str = field(repr=False)
    details: Mapping[str, str] = field(repr=False)
    message: str = ""
    reference: str = ""


@dataclass(frozen=True)
class Answer:
    """A payer's answer to an order; `reason` is for the researcher and names nobody."""

    outcome: Outcome
    reason: str = ""


class Payer(Protocol):
    """Pays the participants of one study through its recruiter. Every method may raise Unreachable.

    Orders are prepared and paid in groups, often of one; a payer whose recruiter takes many at once says how.
    """

    may_repeat: bool
    """Whether calling `pay` again with the same uid is certain to pay only once (mTurk's UniqueRequestToken)."""

    def balance(self) -> tuple[Decimal, str] | None:
        """Return the available balance and its currency; None if the recruiter does not report it."""

    def fee(self, order: Order) -> Decimal:
        """Return the recruiter's fee on top of the amount."""

    def assignment_status(self, order: Order) -> AssignmentStatus:
        """Return the status of the assignment; called before anything is paid."""

    def prepare(self, order: Order) -> str:
        """Prepare the payment without moving money; return the reference to pay it by, empty if there is none."""
        return ""

    def pay(self, order: Order) -> Answer:
        """Pay. After Unreachable the result is unknown: `look_up` is called before anything else."""

    def look_up(self, order: Order) -> Answer:
        """Return the result of an order that was sent."""

    def read(self, orders: Sequence[Order]) -> None:
        """Fetch the status of all these orders, which `assignment_status` then uses until something is paid."""
        return None

    def prepare_all(self, orders: Sequence[Order]) -> Mapping[UUID, str]:
        """Prepare a group of orders for the same reason; return their references by `uid`.

        Those that are left out are prepared and paid alone.
        """
        return {order.uid: self.prepare(order) for order in orders}

    def pay_all(self, orders: Sequence[Order]) -> Mapping[UUID, Answer]:
        """Pay the orders that were prepared together; return the answers by `uid`.

        Those that are left out were certainly not paid, and are paid alone. Unreachable means the same as for `pay`,
        for all of them.
        """
        return {order.uid: self.pay(order) for order in orders}


@dataclass(frozen=True)
class PaymentMethod:
    """How the participants of one kind of recruiter are paid.

    Attributes:
        title: shown to researchers.
        payer: returns the payer for a study's short name; None if Parley does not pay.
        elsewhere: returns whether the recruiter's own system pays for this reason ("base", "bonus") in the study
            with this short name: Parley then never pays it and never shows it as due.
        lists: name of the URL, with the study's key as argument, of the page that makes payment lists for the
            recruiter from approved rows; "" if there is none.
        account: returns the account that pays for a study's short name, if accounts have members of their own:
            only its editors may spend its money.
        rejection: returns the address where this person's work is rejected, or raises `deciding.NotDone`; None if
            Parley alone records it.
        bulk_size: how many orders its payer accepts in one request.
        approves_within: returns after how many days the recruiter itself approves the base pay of a study's
            participants; None if it does not, or if that is unknown.
    """

    title: str | Promise
    payer: Callable[[str], Payer] | None = None
    elsewhere: Callable[[str, str], bool] | None = None
    account: Callable[[str], Model | None] | None = None
    lists: str = ""
    rejection: Callable[[Enrolment], str] | None = None
    bulk_size: int = 1
    approves_within: Callable[[str], int | None] | None = None


_methods: dict[str, PaymentMethod] = {}


def register(kind: str, method: PaymentMethod) -> None:
    """Register how participants of this kind of recruiter (`Identity.recruiter`) are paid."""
    _methods[kind] = method


def method_of(kind: str) -> PaymentMethod | None:
    """Return the payment method; None if participants are paid by hand (lab codes, open links)."""
    return _methods.get(kind)


def kinds_that_pay() -> list[str]:
    """Return the kinds of recruiters through which Parley pays."""
    return [kind for kind, method in _methods.items() if method.payer is not None]
