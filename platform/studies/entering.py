"""Whether somebody may begin now, before a place is given away; those who have begun always continue."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from django.dispatch import Signal
from django.http import HttpRequest, HttpResponse

from participants.models import Enrolment
from recruiters.arrivals import Arrival
from studies.models import Study


@dataclass(frozen=True)
class Admitted:
    """Somebody may begin.

    Attributes:
        tell: is called with the enrolment, in the transaction in which it begins.
        prepared: the enrolment that was prepared for them (`enrolling.prepare`), if any.
    """

    tell: Callable[[Enrolment], None] | None = None
    prepared: Enrolment | None = None


def language_for(request: HttpRequest, offered: Collection[str], chosen: str = "") -> str:
    """Return the language that a visitor has chosen, or else the first of their browser's that is offered."""
    preferred = re.findall(r"(?:^|,)\s*([a-z]{2})", request.headers.get("accept-language", "").lower())
    return next((code for code in (chosen, *preferred) if code in offered), next(iter(offered)))


arriving = Signal()
"""Sent with `request`, `study` and `arrival` for everyone who would begin a new enrolment.

A receiver may return the page to show instead, or what it knows of them (`Admitted`); it may raise
`recruiters.errors.EntryRefused`.
"""


def ask(request: HttpRequest, study: Study, arrival: Arrival) -> HttpResponse | Admitted:
    """Return the page that somebody sees instead of beginning, or what is known of them; the first answer counts."""
    answers: Any = arriving.send(Study, request=request, study=study, arrival=arrival)
    return next((answer for _receiver, answer in answers if answer is not None), Admitted())
