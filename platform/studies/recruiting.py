"""What happens at a study's recruiter when the study is opened, paused or closed, or gets more places.

Marketplaces and panels register themselves. Nothing here is called while a row is locked: `follow` and `add_places`
send requests, and everything else reads only what is stored.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from django.db import transaction
from django.db.models import F, Sum
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit import services as audit
from audit.actions import Action
from studies.models import Study

log = logging.getLogger(__name__)
ACTIONS = {
    Study.Status.LAUNCHED: Action.RESUMED,
    Study.Status.PAUSED: Action.PAUSED,
    Study.Status.CLOSED: Action.STOPPED,
}
"""What the audit log calls that a recruiter follows the study into this status."""


class NotFollowed(Exception):
    """The recruiter did not do it, or not all of it; the text says why."""


class Recruiter(Protocol):
    """Where one study recruits.

    Attributes:
        title: its name.
        by_hand: whether only the researcher can act there, so that `follow` is never called.
    """

    title: str
    by_hand: bool

    def state(self) -> str:
        """Return the study's state there as last reported, in a few words."""
        ...

    def due(self, status: str) -> str:
        """Return what is done there when the study gets this status, as a sentence; empty if nothing."""
        ...

    def follow(self, status: str, user: Any) -> str:
        """Do what is due; return the outcome as a sentence.

        Raises:
            NotFollowed
        """
        ...

    def places(self) -> int | None:
        """Return the number of places offered there; None if places cannot be added from here."""
        ...

    def add_places(self, number: int, user: Any) -> str:
        """Offer more places; return the outcome as a sentence.

        Raises:
            NotFollowed
        """
        ...


_finders: list[Callable[[Study], Recruiter | None]] = []


def register(finder: Callable[[Study], Recruiter | None]) -> None:
    """Register what returns a study's recruiter, if it has one of that kind."""
    _finders.append(finder)


def recruiter_of(study: Study) -> Recruiter | None:
    """Return where the study recruits; None if Parley does not know."""
    return next((recruiter for finder in _finders if (recruiter := finder(study)) is not None), None)


@dataclass(frozen=True)
class AtRecruiter:
    """What the study's pages show about its recruiter.

    Attributes:
        due: what remains to be done there, for the study's present status.
        missing: places of the launched version that are not offered there.
        consequences: what pausing, closing and opening do there, by status; without those that do nothing.
    """

    title: str
    state: str
    by_hand: bool
    due: str
    missing: int
    consequences: dict[str, str]


def at_recruiter(study: Study) -> AtRecruiter | None:
    """Return what the study's pages show; None without a recruiter."""
    recruiter = recruiter_of(study)
    if recruiter is None:
        return None
    opened = study.status == Study.Status.LAUNCHED
    offered = recruiter.places() if opened else None
    return AtRecruiter(
        title=recruiter.title,
        state=recruiter.state(),
        by_hand=recruiter.by_hand,
        due=recruiter.due(study.status),
        missing=0 if offered is None else max(0, places_of(study) - offered),
        consequences={status: due for status in ACTIONS if status != study.status and (due := recruiter.due(status))},
    )


def places_of(study: Study) -> int:
    """Return the number of places of the launched version; 0 if there is none."""
    version = study.latest_version()
    if version is None:
        return 0
    return version.cells.aggregate(all=Sum(F("quota") * F("group_size")))["all"] or 0


@dataclass(frozen=True)
class Outcome:
    """What happened at the recruiter."""

    done: bool
    sentence: str


def follow(study: Study, user: Any) -> Outcome | None:
    """Do at the recruiter what the study's present status asks for, and record the outcome; None if nothing is due."""
    study.refresh_from_db(fields=["status"])
    recruiter = recruiter_of(study)
    due = recruiter.due(study.status) if recruiter is not None else ""
    if recruiter is None or not due:
        return None
    if recruiter.by_hand:
        return Outcome(False, due)
    return _carried_out(
        study, user, recruiter, ACTIONS[Study.Status(study.status)], lambda: recruiter.follow(study.status, user)
    )


def add_places(study: Study, user: Any, *, number: int | None = None) -> Outcome | None:
    """Offer this many more places of the launched version at the recruiter (default: all that are missing there)."""
    recruiter = recruiter_of(study)
    offered = recruiter.places() if recruiter is not None else None
    if recruiter is None or offered is None:
        return None
    missing = places_of(study) - offered
    added = missing if number is None else min(number, missing)
    if added <= 0:
        return None
    return _carried_out(study, user, recruiter, Action.EXTENDED, lambda: recruiter.add_places(added, user))


def _carried_out(
    study: Study, user: Any, recruiter: Recruiter, action: Action, carry_out: Callable[[], str]
) -> Outcome:
    try:
        outcome = Outcome(True, carry_out())
    except NotFollowed as reason:
        template = _("Done here, but not on {recruiter}: {reason} Try again below.")
        outcome = Outcome(False, template.format(recruiter=recruiter.title, reason=reason))
    with transaction.atomic():
        details = {"at": str(recruiter.title), "done": outcome.done, "outcome": outcome.sentence}
        audit.record(action=action, user=user, target=study, of=study, details=details)
    if not outcome.done:
        log.warning("study %s: %s was not done at the recruiter", study.slug, action)
    return outcome


def places_sentence(number: int) -> str:
    """Return "1 place", "12 places"."""
    return ngettext("{number} place", "{number} places", number).format(number=f"{number:,}")
