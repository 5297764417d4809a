"""Who decides whether somebody may begin now, before a place in the study is given away.

A doorkeeper is asked about everyone who would begin a new enrolment; those who have begun always continue.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse

from participants.models import Enrolment
from recruiters.arrivals import Arrival
from studies.models import Study


@dataclass(frozen=True)
class Admitted:
    """Somebody may begin.

    Attributes:
        tell: is called with the enrolment that begins.
        prepared: the enrolment that was prepared for them (`enrolling.prepare`), if any.
    """

    tell: Callable[[Enrolment], None] = lambda _enrolment: None
    prepared: Enrolment | None = None


def language_for(request: HttpRequest, offered: Collection[str], chosen: str = "") -> str:
    """Return the language that a visitor has chosen, or else the first of their browser's that is offered."""
    preferred = re.findall(r"(?:^|,)\s*([a-z]{2})", request.headers.get("accept-language", "").lower())
    return next((code for code in (chosen, *preferred) if code in offered), next(iter(offered)))


Doorkeeper = Callable[[HttpRequest, Study, Arrival], HttpResponse | Admitted | None]
"""Returns the page to show instead, what is known of somebody who may begin, or None if it does not mind.

It may raise `recruiters.errors.EntryRefused`.
"""
_doorkeepers: list[Doorkeeper] = []


def register(doorkeeper: Doorkeeper) -> None:
    """Register who is asked before somebody begins."""
    _doorkeepers.append(doorkeeper)


def ask(request: HttpRequest, study: Study, arrival: Arrival) -> HttpResponse | Admitted:
    """Return the page that somebody sees instead of beginning, or what is known of them; the first answer counts."""
    answers = (doorkeeper(request, study, arrival) for doorkeeper in _doorkeepers)
    return next((answer for answer in answers if answer is not None), Admitted())
