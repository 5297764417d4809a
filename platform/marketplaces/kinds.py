"""The available marketplaces: every folder of this package with a `kind.py` that defines `KIND`.

Each folder is a Django app of its own. It defines how participants arrive, which requests go to the marketplace's API,
how participants are paid, and a stand-in server for tests and rehearsals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from django.utils.functional import Promise

if TYPE_CHECKING:
    from marketplaces.models import Account, Recruitment


class MarketplaceError(Exception):
    """Raised when a marketplace's API is down or slow, refuses a request, or returns an invalid answer.

    Researchers read the text, which contains no key and no participant's name.
    """


class Unclear(MarketplaceError):
    """Raised without an answer, or for an invalid one: whether the request took effect is unknown."""


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


@dataclass(frozen=True)
class Recruiting:
    """What opening, pausing and closing a study does at a marketplace (`studies.recruiting.Recruiter`).

    Attributes:
        state: the study's state there as last reported.
        due: what is done there when the study gets a status, as a sentence; "" if nothing.
        follow: does it, and returns the outcome. Raises MarketplaceError, NotPossible.
        places: the number of places offered there; None before publishing.
        add_places: offers more places, and returns the outcome. Raises MarketplaceError, NotPossible.
    """

    state: Callable[[Recruitment], str]
    due: Callable[[Recruitment, str], str]
    follow: Callable[[Recruitment, str], str]
    places: Callable[[Recruitment], int | None]
    add_places: Callable[[Recruitment, int], str]


@dataclass(frozen=True)
class Kind:
    """One marketplace.

    Attributes:
        key: the folder's name and `Identity.recruiter`.
        credentials: what an account needs to sign in.
        addresses: the API's address for each place ("production", "sandbox") that the marketplace has;
            for a rehearsal, the researcher enters the stand-in server's address.
        check: calls the API with this account; returns a sentence, for example with the balance. Raises
            MarketplaceError.
        load_recruiting: returns `recruiting`, which needs the models.
        sync: fetches the status of one study's participants from the marketplace. Raises MarketplaceError.
        desk: the URL name of the page on which a study recruits there, which takes the study's key; "" for none.
        listed: the entry in the sidebar.
        frames: the sites that frame participants' pages.
    """

    key: str
    title: str | Promise
    credentials: tuple[Credential, ...]
    addresses: Mapping[str, str]
    check: Callable[[Account], str]
    sync: Callable[[Recruitment], None]
    load_recruiting: Callable[[], Recruiting]
    desk: str = ""
    listed: Listed | None = None
    frames: tuple[str, ...] = ()

    @property
    def recruiting(self) -> Recruiting:
        """What opening, pausing and closing a study does there."""
        return self.load_recruiting()


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
