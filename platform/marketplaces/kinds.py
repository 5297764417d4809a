"""Which marketplaces there are: every folder of this package that has a `kind.py` with a `KIND` in it.

Each folder is a Django app of its own: how its people arrive, what is asked of its interface, how they are
paid, and a stand-in server for tests and rehearsals.
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
    """A marketplace's interface was down, slow, refused or answered nonsense; the text is for the researcher.

    It names no key and no worker.
    """


class NotPossible(Exception):
    """What was asked for cannot be done; the text says why and what to do. Nothing was changed."""


@dataclass(frozen=True)
class Credential:
    """One secret that an account needs, typed once and never shown again."""

    name: str
    label: str | Promise
    help: str | Promise = ""


@dataclass(frozen=True)
class Listed:
    """A marketplace's entry in the admin's side bar: its words, its symbol, and the model whose list it leads to."""

    title: str | Promise
    icon: str
    model: str


@dataclass(frozen=True)
class Kind:
    """One marketplace.

    Attributes:
        key: the folder's name and `Identity.recruiter`.
        credentials: what an account needs to sign in.
        addresses: the interface's address for each place ("production", "sandbox") that the marketplace has;
            a rehearsal's is the stand-in server's, typed by the researcher.
        check: asks the interface with this account; a sentence such as what the balance is. Raises MarketplaceError.
        sync: brings what the marketplace says of one study's workers here. Raises MarketplaceError.
        desk: the name of the page on which one study recruits there, whose argument is the study's key; "": none.
        listed: its entry in the side bar.
        frames: the sites that show participants' pages inside their own.
    """

    key: str
    title: str | Promise
    credentials: tuple[Credential, ...]
    addresses: Mapping[str, str]
    check: Callable[[Account], str]
    sync: Callable[[Recruitment], None]
    desk: str = ""
    listed: Listed | None = None
    frames: tuple[str, ...] = ()


@cache
def keys() -> tuple[str, ...]:
    """The marketplaces' names, in alphabetical order."""
    return tuple(sorted(path.parent.name for path in Path(__file__).parent.glob("*/kind.py")))


@cache
def get(key: str) -> Kind:
    """The marketplace called `key`; KeyError where there is none."""
    if key not in keys():
        raise KeyError(key)
    return import_module(f"marketplaces.{key}.kind").KIND


def every() -> list[Kind]:
    """All marketplaces, in the order of their names."""
    return [get(key) for key in keys()]
