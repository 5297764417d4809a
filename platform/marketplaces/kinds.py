"""The available marketplaces: every folder of this package with a `kind.py` that defines `KIND`.

Each folder is a Django app of its own, with a stand-in server for tests and rehearsals. Its modules do what differs
between marketplaces (`modules`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from django.utils.functional import Promise


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
class Kind:
    """One marketplace; what it does is in its folder's modules (`modules`).

    Attributes:
        key: the folder's name and `Identity.recruiter`.
        credentials: what an account needs to sign in.
        addresses: the API's address for each place ("production", "sandbox") that the marketplace has;
            for a rehearsal, the researcher enters the stand-in server's address.
        pages: the site of the pages that participants see, for each of these places.
        frames: the sites that frame participants' pages.
    """

    key: str
    title: str | Promise
    credentials: tuple[Credential, ...]
    addresses: Mapping[str, str]
    pages: Mapping[str, str]
    frames: tuple[str, ...] = ()


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
