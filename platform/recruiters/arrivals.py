"""Identify arriving participants by their links, with one function for each kind of entry."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from participants.models import Enrolment
from participants.returning import ReturnInstructions
from recruiters import otree
from recruiters.errors import ExpiredCode, IncompleteLink, WrongCode
from recruiters.models import Identity, LabCode


@dataclass(frozen=True)
class Arrival:
    """An arriving participant.

    Attributes:
        recruiter, worker: the participant's identity at the recruiter; an empty worker is anonymous.
        proof: the part of the link that only this participant has; it resumes the enrolment that it started.
        preview: the visitor only previews the study; nothing is stored.
        lasting: the link belongs to the participant, not to one assignment. It may start another enrolment
            after the previous one has ended, if the study allows repeated participation.
        role, cell: those that the recruiter assigned to this participant; the cell by number.
        together: the same text for participants who may play with each other; empty if they may play with anyone.
        return_to: the recruiter's page to return to afterwards.
        turned_away: how the participant returns to the recruiter if no place is left.
        checked: the link cannot be forged: it is signed or on a list. Only other arrivals count towards
            JOINS_PER_HOUR, because a whole campus may share one network address.
        once: the link starts an enrolment only once; on later visits the participant is identified by `held`,
            the token of the enrolment that the browser started.
    """

    recruiter: str
    worker: str
    proof: str
    details: Mapping[str, str] = field(default_factory=dict)
    preview: bool = False
    lasting: bool = False
    role: str | None = None
    cell: int | None = None
    together: str = ""
    return_to: str = ""
    turned_away: ReturnInstructions | None = None
    checked: bool = False
    once: bool = False
    held: str = ""


class Link(dict[str, str]):
    """The parameters of a participant's link; the last value of a repeated name.

    Attributes:
        repeated: the names that appear more than once.
        query: the raw query string after the “?”.
    """

    def __init__(self, fields: Mapping[str, str] = {}, *, repeated: Collection[str] = (), query: str = "") -> None:
        super().__init__(fields)
        self.repeated, self.query = frozenset(repeated), query


def by_lab_code(study: str, link: Mapping[str, str]) -> Arrival:
    """Identify a participant by `?code=`. An expired code still resumes an enrolment that it started.

    Raise IncompleteLink, WrongCode or ExpiredCode.
    """
    code = link.get("code", "").strip()
    if not code:
        raise IncompleteLink(_("Please enter the personal code you were given."))
    lab_code = LabCode.objects.filter(study=study, code=code).first() if code.isprintable() else None
    if lab_code is None:
        raise WrongCode(_("Please check the code for typos, or ask the person who gave it to you."))
    identities = Identity.objects.filter(study=study, recruiter="codes", proof=code)
    if lab_code.expired and not identities.exists():
        raise ExpiredCode(_("This code is no longer valid. Please ask for a new one."))
    once = lab_code.kind == LabCode.Kind.ONCE
    return Arrival("codes", worker=code, proof=code, lasting=not once and not lab_code.expired, checked=True, once=once)


def by_open_link(study: str, link: Mapping[str, str]) -> Arrival:
    """Accept anyone with the link (demonstrations, classes): each browser is a new participant."""
    return Arrival("open", worker="", proof="")


def by_otree(study: str, link: Mapping[str, str]) -> Arrival:
    """Identify an oTree participant by `?token=`; each round of each app is a separate enrolment.

    Raise IncompleteLink, ExpiredLink or ForgedLink.
    """
    visitor = otree.visitor_by(study, link)
    return Arrival(
        otree.KIND,
        worker=visitor.person,
        proof=visitor.subject,
        details={"session": visitor.session},
        role=visitor.role,
        cell=visitor.cell,
        together=visitor.together,
        return_to=visitor.return_url,
        checked=True,
    )


Reader = Callable[[str, Link], Arrival]
Leaver = Callable[[Enrolment, Identity], ReturnInstructions | None]


@dataclass(frozen=True)
class Kind:
    """A kind of entry.

    Attributes:
        title: for researchers.
        arrive: reads a link (study's slug, parameters).
        leave: returns how a participant goes back; None, also as its answer: the ending's own text is enough.
    """

    title: str | Promise
    arrive: Reader
    leave: Leaver | None = None


KINDS: dict[str, Kind] = {
    "open": Kind(_("anyone with the link"), by_open_link),
    "codes": Kind(_("personal lab codes"), by_lab_code),
    "otree": Kind(_("an oTree experiment"), by_otree),
}
"""The kinds of entry. Marketplaces add theirs with `register`."""


def unknown(kind: str) -> str:
    """Return the words that refuse a way of entering that is not registered."""
    words = _("There is no way of entering called “{kind}”. These are: {known}.")
    return words.format(kind=kind, known=", ".join(KINDS))


def register(kind: str, title: str | Promise, arrive: Reader, leave: Leaver) -> None:
    """Register a kind of entry."""
    KINDS[kind] = Kind(title, arrive, leave)


def choices() -> list[tuple[str, str | Promise]]:
    """Return the kinds of entry as choices for a form."""
    return [(key, kind.title) for key, kind in KINDS.items()]
