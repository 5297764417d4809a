"""The available marketplaces: every folder of this package with a `kind.py` that defines `KIND`.

Each folder is a Django app of its own. Its modules do what differs between marketplaces: say who a participant is and
where they go back to (`Visiting`), offer a study (`Recruiting`), decide (`Deciding`), and pay (`Paying`). It has a
stand-in server for tests and rehearsals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from django.utils.functional import Promise

if TYPE_CHECKING:
    from marketplaces.models import Account, Recruitment, Submission
    from marketplaces.submissions import Report
    from participants.models import Enrolment
    from participants.returning import ReturnInstructions
    from payouts.payers import Payer
    from recruiters.arrivals import Arrival, Link
    from recruiters.models import Identity
    from studies.admin.acts import Act
    from studies.models import Study


class MarketplaceError(Exception):
    """Raised when a marketplace's API is down or slow, refuses a request, or returns an invalid answer.

    Researchers read the text, which contains no key and no participant's name.
    """


class Unclear(MarketplaceError):
    """Raised without an answer, or for an invalid one: whether the request took effect is unknown."""


class Refused(MarketplaceError):
    """Raised for a request that took no effect.

    Attributes:
        reason: the marketplace's error code, or what it wrote about the request, without anybody's identifiers.
    """

    def __init__(self, text: str | Promise, *, reason: str = "") -> None:
        super().__init__(str(text))
        self.reason = reason


class NotSent(Refused):
    """Raised if nothing is wrong with the request: the marketplace was not reached, or takes no requests now."""


class NotThere(Refused):
    """Raised if what the request names does not exist there, or the account has no access to it."""


class NotPossible(Exception):
    """Raised for an action that is not possible; the text says why and what to do. Nothing was changed."""


@dataclass(frozen=True)
class Credential:
    """One secret that an account needs; it is entered once and never shown again."""

    name: str
    label: str | Promise
    help: str | Promise = ""


@dataclass(frozen=True)
class Listed:
    """A marketplace's entry in the admin's sidebar: its text, its icon, and the model whose list it opens."""

    title: str | Promise
    icon: str
    model: str


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

    def offered(self, recruitment: Recruitment) -> list[Any]:
        """Return the study's tasks or studies there, the newest first; each has an `account_id`."""

    def state_of(self, offers: list[Any]) -> str:
        """Return their state as last reported, in a few words."""

    def is_due(self, offer: Any, status: str) -> bool:
        """Return whether it has to be changed for the study to have this status."""

    def change(self, offer: Any, status: str) -> None:
        """Change it."""

    def places_of(self, offer: Any) -> int:
        """Return the number of its places; 0 if none can be added."""

    def add_places(self, offer: Any, number: int) -> None:
        """Offer more places."""

    def adopt(self, study: Study, account: Account, *, key: str, address: str, by: Any) -> Any:
        """Link what was created on the marketplace itself to the study; return it.

        Args:
            key: its identifier there.
            address: of the study's entry page, as participants' browsers reach it.
        """


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


@dataclass(frozen=True)
class Kind:
    """One marketplace; what it does is in its folder's modules, which need the models.

    Attributes:
        key: the folder's name and `Identity.recruiter`.
        credentials: what an account needs to sign in.
        addresses: the API's address for each place ("production", "sandbox") that the marketplace has;
            for a rehearsal, the researcher enters the stand-in server's address.
        pages: the site of the pages that participants see, for each of these places.
        desk: the URL name of the page on which a study recruits there, which takes the study's key; "" for none.
        listed: the entry in the sidebar.
        frames: the sites that frame participants' pages.
    """

    key: str
    title: str | Promise
    credentials: tuple[Credential, ...]
    addresses: Mapping[str, str]
    pages: Mapping[str, str]
    desk: str = ""
    listed: Listed | None = None
    frames: tuple[str, ...] = ()

    @property
    def visiting(self) -> Visiting:
        return cast("Visiting", self._module("visiting"))

    @property
    def recruiting(self) -> Recruiting:
        return cast("Recruiting", self._module("publishing"))

    @property
    def deciding(self) -> Deciding:
        return cast("Deciding", self._module("deciding"))

    @property
    def paying(self) -> Paying:
        return cast("Paying", self._module("paying"))

    def _module(self, name: str) -> Any:
        return import_module(f"marketplaces.{self.key}.{name}")

    def check(self, account: Account) -> str:
        """Call the API with this account; return a sentence, for example with the balance. Raise MarketplaceError."""
        sentence: str = self._module("client").check(account)
        return sentence

    def sync(self, recruitment: Recruitment) -> None:
        """Fetch the status of one study's participants from the marketplace. Raise MarketplaceError."""
        self.deciding.sync(recruitment)


@cache
def keys() -> tuple[str, ...]:
    """Return the marketplaces' keys in alphabetical order."""
    return tuple(sorted(path.parent.name for path in Path(__file__).parent.glob("*/kind.py")))


@cache
def get(key: str) -> Kind:
    """Return the marketplace with this key; raise KeyError if there is none."""
    if key not in keys():
        raise KeyError(key)
    return import_module(f"marketplaces.{key}.kind").KIND


def every() -> list[Kind]:
    """Return all marketplaces in the order of their keys."""
    return [get(key) for key in keys()]
