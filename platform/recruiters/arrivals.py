"""Reading who comes from the link they come by. One function per kind of link; each says whom it lets in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from participants.farewells import Farewell
from recruiters import otree
from recruiters.errors import ExpiredCode, IncompleteLink, WrongCode
from recruiters.models import Identity, LabCode


@dataclass(frozen=True)
class Arrival:
    """Somebody at the door.

    Attributes:
        recruiter, worker: who it is, as the recruiter knows them; an empty worker is nobody in particular.
        proof: what only this person's link has; it leads back to the way that was begun with it.
        preview: they only look, and nothing is kept.
        lasting: the link is the person's own and not one assignment's: it may begin another way when the
            one before has ended, where the study lets people come again.
        role: the one that the recruiter wants this person to play.
        cell: the number of the treatment that the recruiter has sent this person to.
        return_to: the recruiter's page where the person goes on afterwards.
        turned_away: how they go back to their recruiter where no place is left.
        checked: nobody can make up such a link: it is signed, or on a list. Only arrivals that are not checked count
            towards JOINS_PER_HOUR, since a whole campus may share one network address.
        once: the link opens the way once; whoever comes again is known by `held`, the token of the way that
            their browser has begun.
    """

    recruiter: str
    worker: str
    proof: str
    details: Mapping[str, str] = field(default_factory=dict)
    preview: bool = False
    lasting: bool = False
    role: str | None = None
    cell: int | None = None
    return_to: str = ""
    turned_away: Farewell | None = None
    checked: bool = False
    once: bool = False
    held: str = ""


class Link(dict[str, str]):
    """The fields of the link that somebody came by; of a name that was sent twice, the last.

    Attributes:
        twice: the names that were sent more than once.
        query: what stands after the “?”, as it was sent.
    """

    def __init__(self, fields: Mapping[str, str] = {}, *, twice: Collection[str] = (), query: str = "") -> None:
        super().__init__(fields)
        self.twice, self.query = frozenset(twice), query


def by_lab_code(study: str, link: Mapping[str, str]) -> Arrival:
    """`?code=`: a personal code of this study. One that has expired still leads back whoever has begun.

    Raises:
        IncompleteLink, WrongCode, ExpiredCode
    """
    code = link.get("code", "").strip()
    if not code:
        raise IncompleteLink(_("Please enter the personal code that you were given."))
    found = LabCode.objects.filter(study=study, code=code).first() if code.isprintable() else None
    if found is None:
        raise WrongCode(_("Please check the code for typing errors, or ask the person who gave it to you."))
    begun = Identity.objects.filter(study=study, recruiter="codes", proof=code)
    if found.expired and not begun.exists():
        raise ExpiredCode(_("The time in which this code could be used is over. Please ask for a new one."))
    once = found.kind == LabCode.Kind.ONCE
    return Arrival("codes", worker=code, proof=code, lasting=not once and not found.expired, checked=True, once=once)


def openly(study: str, link: Mapping[str, str]) -> Arrival:
    """A link that anybody may use (demonstrations, classes): each browser is a new person."""
    return Arrival("open", worker="", proof="")


def by_otree(study: str, link: Mapping[str, str]) -> Arrival:
    """`?token=`: a participant of an oTree experiment; each round of each app is a way of its own.

    Raises:
        IncompleteLink, ExpiredLink, ForgedLink
    """
    found = otree.visitor_by(study, link)
    return Arrival(
        otree.KIND, worker=found.subject, proof=found.subject, role=found.role, return_to=found.back, checked=True
    )


Reader = Callable[[str, Link], Arrival]


@dataclass(frozen=True)
class Kind:
    """One way into a study: its title for researchers, and who comes by a link (study's short name, its fields)."""

    title: str | Promise
    arrive: Reader


KINDS: dict[str, Kind] = {
    "open": Kind(_("anybody with the link"), openly),
    "codes": Kind(_("personal lab codes"), by_lab_code),
    "otree": Kind(_("an oTree experiment"), by_otree),
}
"""Marketplaces add theirs (`register`)."""


def register(kind: str, title: str | Promise, arrive: Reader) -> None:
    """Make a way into studies known."""
    KINDS[kind] = Kind(title, arrive)


def choices() -> list[tuple[str, str | Promise]]:
    """The ways into a study, for a form."""
    return [(key, kind.title) for key, kind in KINDS.items()]
