"""Where the last page sends participants: each recruiter takes its people back differently."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from django.http import HttpResponse
from django.utils.functional import Promise

from participants.models import Enrolment


@dataclass(frozen=True)
class Farewell:
    """How a participant returns to their recruiter at the end.

    Attributes:
        words: what to do now.
        address: the button's URL; empty for no button.
        label: the button's label.
        posts: fields of a form posted to `address`; None for a plain link.
        leads_on: where the response to the form may redirect (content security policy sources).
        code: the code to copy into the recruiter's page; empty for none.
    """

    words: str | Promise
    address: str = ""
    label: str | Promise = ""
    posts: Mapping[str, str] | None = None
    code: str = field(default="")
    leads_on: tuple[str, ...] = ()


Reader = Callable[[Enrolment], Farewell | None]
_readers: list[Reader] = []
_when_full: list[Reader] = []


def register(reader: Reader) -> Reader:
    """Decorator: add a recruiter's function; it returns None for participants of other recruiters."""
    _readers.append(reader)
    return reader


def farewell_of(enrolment: Enrolment) -> Farewell | None:
    """Return how this participant goes back; None if the ending's own text is enough."""
    return next((found for reader in _readers if (found := reader(enrolment)) is not None), None)


def register_full(reader: Reader) -> Reader:
    """Decorator: register how a recruiter takes back its own people for whom no place is left when they consent."""
    _when_full.append(reader)
    return reader


def farewell_when_full(enrolment: Enrolment) -> Farewell | None:
    """Return how this person goes back if no place is left; None if their recruiter names no way for that."""
    return next((found for reader in _when_full if (found := reader(enrolment)) is not None), None)


def allow_form(response: HttpResponse, farewell: Farewell | None) -> HttpResponse:
    """Let the page's content security policy post the farewell's form to the recruiter; returns the response."""
    if farewell is not None and farewell.posts is not None:
        where = urlsplit(farewell.address)
        response._csp_update = {"form-action": [f"{where.scheme}://{where.netloc}", *farewell.leads_on]}
    return response
