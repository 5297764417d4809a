"""Where the last page sends people: each recruiter has its own way of taking its workers back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from django.utils.functional import Promise

from participants.models import Enrolment


@dataclass(frozen=True)
class Farewell:
    """How somebody whose way has ended goes back to their recruiter.

    Attributes:
        words: what to do now.
        address: where the button leads; empty: there is none.
        label: the button's words.
        posts: fields of a form that is posted to `address`; None: a plain link.
        leads_on: where the answer to the form may send the browser (sources of a content security policy).
        code: the code to copy into the recruiter's page; empty: none is shown.
    """

    words: str | Promise
    address: str = ""
    label: str | Promise = ""
    posts: Mapping[str, str] | None = None
    code: str = field(default="")
    leads_on: tuple[str, ...] = ()


Reader = Callable[[Enrolment], Farewell | None]
_readers: list[Reader] = []


def register(reader: Reader) -> Reader:
    """Decorator: let a recruiter say how its own people go back; it answers None for everybody else's."""
    _readers.append(reader)
    return reader


def farewell_of(enrolment: Enrolment) -> Farewell | None:
    """How this person goes back; None where the ending's own words are enough."""
    return next((found for reader in _readers if (found := reader(enrolment)) is not None), None)
