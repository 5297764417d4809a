"""Who decides whether somebody may begin now, before a place in the study is given away.

A doorkeeper is asked about everyone who would begin a new enrolment; those who have begun always continue.
"""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from participants.models import Enrolment
from recruiters.arrivals import Arrival
from studies.models import Study

Doorkeeper = Callable[[HttpRequest, Study, Arrival], "HttpResponse | Callable[[Enrolment], None] | None"]
"""Returns the page to show instead, what to tell of the enrolment that begins, or None if it does not mind.

It may raise `recruiters.errors.EntryRefused`.
"""
_doorkeepers: list[Doorkeeper] = []


def register(doorkeeper: Doorkeeper) -> None:
    """Register who is asked before somebody begins."""
    _doorkeepers.append(doorkeeper)


def ask(request: HttpRequest, study: Study, arrival: Arrival) -> HttpResponse | Callable[[Enrolment], None]:
    """Return the page that somebody sees instead of beginning, or what to call with their enrolment."""
    told: list[Callable[[Enrolment], None]] = []
    for doorkeeper in _doorkeepers:
        answer = doorkeeper(request, study, arrival)
        if isinstance(answer, HttpResponse):
            return answer
        if answer is not None:
            told.append(answer)

    def tell(enrolment: Enrolment) -> None:
        for each in told:
            each(enrolment)

    return tell
