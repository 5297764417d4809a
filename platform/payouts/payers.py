"""How people are paid, by the kind of recruiter they came from. Marketplaces register theirs; none is named here.

Paying one ledger row goes in steps, each written down before the next: `assignment_status` (is this worker's
assignment what we think?), `prepare` (nothing moves), `pay` (money may move), `look_up` (what became of
it, whenever an answer was lost).
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


class Unreachable(Exception):
    """The recruiter's interface did not answer, or not sensibly; the text is for the researcher, without keys.

    Whether an order that was under way took effect is not known.
    """


class AssignmentStatus(StrEnum):
    """What the recruiter says of a worker's assignment."""

    WORKING = "working"
    SUBMITTED = "submitted"
    APPROVED = "approved"
    REJECTED = "rejected"
    RETURNED = "returned"
    TIMED_OUT = "timed_out"
    UNKNOWN = "unknown"
    """The recruiter has no such assignment."""
    SOMEBODY_ELSE = "somebody_else"
    """It has, but of another worker or another study."""


class Outcome(StrEnum):
    """What became of an order."""

    CONFIRMED = "confirmed"
    """The recruiter says that it is paid."""
    SENT = "sent"
    """The recruiter has taken it and will say later."""
    QUEUED = "queued"
    """`pay_all` only: the recruiter will get to it. `look_up` tells what became of it; asking again pays once."""
    REFUSED = "refused"
    """Certainly not paid; `reason` says why."""
    NOT_FOUND = "not_found"
    """`look_up` only: the recruiter knows nothing of it, so it certainly was not paid."""
    UNCLEAR = "unclear"
    """It cannot be told whether it was paid. It is never sent again by itself."""


@dataclass(frozen=True)
class Order:
    """One ledger row to be paid.

    Attributes:
        uid: the ledger row's, the same for every attempt; the recruiter's idempotency key where it has one.
        reason: "base" or "bonus".
        amount: in `currency`, whole cents.
        worker, details: the recruiter's own identifiers (`recruiters.models.Identity`); in no log or page.
        message: what the worker reads.
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
    """What a payer says of an order; `reason` is for the researcher and names nobody."""

    outcome: Outcome
    reason: str = ""


class Payer(Protocol):
    """Pays the people of one study through its recruiter. Every method may raise Unreachable."""

    may_repeat: bool
    """Whether `pay` with the same uid again is certain to pay once (mTurk's UniqueRequestToken)."""

    def balance(self) -> tuple[Decimal, str] | None:
        """What is there to be spent, and its currency; None where the recruiter does not say."""

    def fee(self, order: Order) -> Decimal:
        """What the recruiter takes beside the amount."""

    def assignment_status(self, order: Order) -> AssignmentStatus:
        """What the recruiter says of the assignment; asked before anything is paid."""

    def prepare(self, order: Order) -> str:
        """Set the payment up without moving money; the reference to pay it by, empty where there is none."""

    def pay(self, order: Order) -> Answer:
        """Pay. Unreachable means that nobody knows: `look_up` is asked before anything else happens."""

    def look_up(self, order: Order) -> Answer:
        """What became of an order that was sent."""


class BulkPayer(Payer, Protocol):
    """A payer that takes many orders for the same reason in one request.

    An order that one of these methods leaves out of its answer is paid alone, by the methods of `Payer`.
    """

    def read(self, orders: Sequence[Order]) -> None:
        """Fetch what the recruiter says about all these orders; `assignment_status` uses it until something is paid."""

    def prepare_all(self, orders: Sequence[Order]) -> Mapping[UUID, str]:
        """Set these payments up together without moving money; returns the reference of each, by `uid`."""

    def pay_all(self, orders: Sequence[Order]) -> Mapping[UUID, Answer]:
        """Pay what was prepared together; returns an answer for each, by `uid`.

        Unreachable means the same as for `pay`, for all of them.
        """


@dataclass(frozen=True)
class PaymentMethod:
    """How the people of one kind of recruiter are paid.

    Attributes:
        title: shown to researchers.
        payer: the payer of the study with this short name; None where Parley pays nobody itself.
        elsewhere: whether the recruiter's own system pays the people of the study with this short name for this
            reason ("base", "bonus"): Parley never does, and never shows it as due.
        lists: the name of the page on which lists for the recruiter are made of what was approved, whose argument is
            the study's key; "": there is none.
        account: whose money pays the people of the study with this short name, where that has members of its own:
            only its editors may have it spent.
        bulk_size: how many orders its payer takes in one request; above 1 the payer is a `BulkPayer`.
    """

    title: str | Promise
    payer: Callable[[str], Payer] | None = None
    elsewhere: Callable[[str, str], bool] | None = None
    account: Callable[[str], Model | None] | None = None
    lists: str = ""
    bulk_size: int = 1

    def pays_elsewhere(self, study: str, reason: str) -> bool:
        """Whether the recruiter's own system pays for this reason."""
        return self.elsewhere is not None and self.elsewhere(study, reason)


_methods: dict[str, PaymentMethod] = {}


def register(kind: str, method: PaymentMethod) -> None:
    """Say how the people of this kind of recruiter (`Identity.recruiter`) are paid."""
    _methods[kind] = method


def method_of(kind: str) -> PaymentMethod | None:
    """How they are paid; None where people are paid by hand (lab codes, open links)."""
    return _methods.get(kind)


def kinds_that_pay() -> list[str]:
    """The kinds of recruiters through which Parley pays."""
    return [kind for kind, method in _methods.items() if method.payer is not None]
