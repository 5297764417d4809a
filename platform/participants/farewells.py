"""Where the last page sends participants: each recruiter takes its people back differently."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

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


def register(reader: Reader) -> Reader:
    """Decorator: add a recruiter's function; it returns None for participants of other recruiters."""
    _readers.append(reader)
    return reader


def farewell_of(enrolment: Enrolment) -> Farewell | None:
    """Return how this participant goes back; None if the ending's own text is enough."""
    return next((found for reader in _readers if (found := reader(enrolment)) is not None), None)
