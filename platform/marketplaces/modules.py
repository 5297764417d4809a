"""What a marketplace's folder does, by its modules: say who a participant is and where they go back to (`Visiting`),
offer a study (`Recruiting`, `Selling`), decide (`Deciding`), and pay (`Paying`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from django.utils.functional import Promise

if TYPE_CHECKING:
    from django.http import HttpRequest

    from marketplaces.models import Account, Offer, Recruitment, Submission
    from marketplaces.offers import Price
    from participants.models import Enrolment
    from participants.returning import ReturnInstructions
    from payouts.payers import Payer
    from plans.pay import PayRule
    from recruiters.arrivals import Arrival, Link
    from recruiters.models import Identity
    from studies.admin.acts import Act
    from studies.models import Study, Version


@dataclass(frozen=True)
class Report:
    """What a marketplace reports about one submission.

    Attributes:
        key: `Submission.key`.
        session, worker: what `Identity.proof` of its participant begins with, and their `Identity.worker`.
        fields: the other columns of `Submission` that it tells, with "status".
    """

    key: str
    session: str = field(repr=False)
    worker: str = field(repr=False)
    fields: Mapping[str, Any]

    @property
    def status(self) -> str:
        return str(self.fields["status"])


class Visiting(Protocol):
    """Who arrives, and how they return: a folder's module `visiting`."""

    def arrive(self, study: str, link: Link) -> Arrival:
        """Return who arrived at the study with this short name. Raise `recruiters.errors.EntryRefused`."""

    def leave(self, enrolment: Enrolment, identity: Identity) -> ReturnInstructions | None:
        """Return how a participant goes back; None if the ending's own text is enough."""


class Recruiting(Protocol):
    """What a study offers there, and how it follows the study's status: a folder's module `publishing`.

    The functions that act raise MarketplaceError or NotPossible.

    Attributes:
        CHANGES: by a study's status, what it does to {number} of its offers: a sentence for one, and for several.
    """

    CHANGES: Mapping[str, tuple[str, str]]

    def ready(self, study: Study) -> tuple[Version, PayRule, Account]:
        """Return what can be offered: the launched version, its pay rule and the account. Raise NotPossible."""

    def create(self, study: Study, *, address: str, by: Any, terms: Mapping[str, Any], **offer: Any) -> Offer:
        """Make a draft, with the fields of `Offer` and the terms that a researcher chose."""

    def price_of(self, offer: Offer) -> Price:
        """Return what publishing it costs; nothing is stored."""

    def publish(self, offer: Offer) -> None:
        """Offer a draft to participants."""

    def state_of(self, offers: list[Offer]) -> str:
        """Return their status as last reported, in a few words."""

    def is_due(self, offer: Offer, status: str) -> bool:
        """Return whether it has to be changed for the study to have this status."""

    def change(self, offer: Offer, status: str) -> None:
        """Change it."""

    def places_of(self, offer: Offer) -> int:
        """Return the number of its places; 0 if none can be added."""

    def add_places(self, offer: Offer, number: int) -> None:
        """Offer more places."""

    def id_of(self, typed: str) -> str:
        """Return the identifier that a researcher typed. Raise NotPossible if it cannot be one."""

    def adopt(self, study: Study, account: Account, *, key: str, address: str, by: Any) -> Offer:
        """Link what was created on the marketplace itself to the study.

        Args:
            key: its identifier there.
            address: of the study's entry page, as participants' browsers reach it.
        """


class Selling(Protocol):
    """How the admin shows its offers: a folder's module `desk`.

    Attributes:
        ACTS: the actions on an offer, by name.
        COLOURS: of labels, by status.
        NOTICE: a template above everything; "" for none.
        MANY: whether a study may have several offers.
        LINK: what is appended to the study's address there.
        IMPORT: what to know before importing; {link} is the study's link there.
    """

    ACTS: Mapping[str, Act]
    COLOURS: Mapping[str, str]
    NOTICE: str
    MANY: bool
    LINK: str
    IMPORT: str | Promise

    def form_of(self, request: HttpRequest, study: Study, version: Version, account: Account, address: str) -> Any:
        """Return the form for an offer, whose `offer()` returns arguments of `Recruiting.create`."""

    def facts_of(self, offer: Offer) -> list[tuple[Any, Any]]:
        """Return what is known about an offer, with titles."""

    def note_on(self, offer: Offer) -> str:
        """Return what a researcher has to know about its status; "" if nothing."""

    def recruits(self, offer: Offer) -> bool:
        """Return whether participants may still come through it."""


class Deciding(Protocol):
    """What a marketplace knows about submissions and does about them: a folder's module `deciding`.

    Attributes:
        RULES: what rejecting means there, as sentences for the researcher.
        ACTS: the decisions that owners can make, by name.
        ADVICE: its own advice about differences, by their names in `comparing.FINDINGS`.
    """

    RULES: tuple[str, ...]
    ACTS: Mapping[str, Act]
    ADVICE: Mapping[str, str | Promise]

    def sync(self, recruitment: Recruitment) -> None:
        """Fetch and record a study's tasks and submissions. Raise MarketplaceError."""

    def key_of(self, session: str) -> str:
        """Return `Submission.key` of the submission that a participant's link names."""

    def fetch(self, submission: Submission) -> Report:
        """Ask for a submission. Raise NotPossible if it is not there, or is another participant's."""

    def reject(self, submission: Submission, *, reason: str, **more: Any) -> None:
        """Send the request that rejects it. Raise MarketplaceError."""

    def recorded(self, submission: Submission) -> None:
        """Do what else follows for the ledger from what was recorded of a participant's submission."""

    def unsubmitted(self, identity: Identity, owed: set[str]) -> str:
        """Return the name of what is to be said of an arrival without a submission; "" if nothing."""


class Paying(Protocol):
    """How a study's participants are paid: a folder's module `paying`, with arguments of `PaymentMethod`."""

    BULK_SIZE: int

    def payer_of(self, study: str) -> Payer:
        """Return the payer of the study with this short name. Raise `payouts.payers.Unreachable`."""

    def account_of(self, study: str) -> Account | None:
        """Return the account that pays."""

    def approves_within(self, study: str) -> int | None:
        """Return after how many days the marketplace approves what nobody has reviewed; None if unknown."""


def visiting(kind: str) -> Visiting:
    """Return the module of the marketplace with this key; likewise below."""
    return _module(kind, "visiting")


def recruiting(kind: str) -> Recruiting:
    return _module(kind, "publishing")


def selling(kind: str) -> Selling:
    return _module(kind, "desk")


def deciding(kind: str) -> Deciding:
    return _module(kind, "deciding")


def paying(kind: str) -> Paying:
    return _module(kind, "paying")


def check(account: Account) -> str:
    """Call the API with this account; return a sentence, for example with the balance. Raise MarketplaceError."""
    return _module(account.kind, "client").check(account)


def _module(kind: str, name: str) -> Any:
    return import_module(f"marketplaces.{kind}.{name}")
