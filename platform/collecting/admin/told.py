"""The page of what models are told: each seat of a ready-made collection, beside the published facts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import ndiff

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from plans.library import ReadyMade, ready_made
from plans.telling import PublishedFact, ToldSeat, facts_of, told_in
from rights.admin import MembersPage

MAX_TURNS = 6
WHEN = {
    "start": gettext_lazy("at the start"),
    "turn": gettext_lazy("every turn"),
    "tool": gettext_lazy("by a tool"),
    "after": gettext_lazy("after a move"),
    "never": gettext_lazy("never"),
}


@dataclass(frozen=True)
class ShownFact:
    """A published fact, and whether it is found in what is shown."""

    fact: PublishedFact
    found: bool

    @property
    def when(self) -> str:
        return str(WHEN[self.fact.when])


@dataclass(frozen=True)
class Line:
    """A line of the comparison: told in both modes (""), only as published, or only as explained."""

    mode: str
    text: str


class WhatModelsAreTold(MembersPage):
    """The admin's view."""

    def told_page(self, request: HttpRequest, name: str) -> HttpResponse:
        """Show what a seat of the collection is told; `?seat=` and `?turns=` choose the seat and how many calls."""
        self.refuse_others(request)
        ready = ready_made("collections").get(name)
        if ready is None:
            raise Http404
        number = request.GET.get("turns", "")
        turns = min(MAX_TURNS, int(number)) if number.isascii() and number.isdigit() and number != "0" else 2
        (published,) = told_in(ready, turns=turns, information="published")
        (explained,) = told_in(ready, turns=turns, information="explained")
        seats = {seat.seat: seat for seat in published.seats}
        role = request.GET.get("seat", next(iter(seats)))
        if role not in seats:
            raise Http404
        other = next(seat for seat in explained.seats if seat.seat == role)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("What models are told: {title}").format(title=ready.title),
            "ready": ready,
            "game": published.game,
            "seats": [(seat.seat, published.game.role_title(seat.seat), seat.agent) for seat in published.seats],
            "seat": seats[role],
            "turns": turns,
            "turn_choices": range(1, MAX_TURNS + 1),
            "facts": _facts(ready, seats[role]),
            "comparison": _comparison(seats[role], other),
        }
        return TemplateResponse(request, "admin/collecting/collection/told.html", context)

    def refuse_others(self, request: HttpRequest) -> None:
        """Raise PermissionDenied unless the user may create collections."""
        raise NotImplementedError


def _facts(ready: ReadyMade, seat: ToldSeat) -> list[ShownFact]:
    words = seat.words()
    return [ShownFact(fact, bool(re.search(fact.find, words))) for fact in facts_of(ready)]


def _comparison(published: ToldSeat, explained: ToldSeat) -> list[Line]:
    """Return the first call line by line, in both modes."""
    lines = ndiff(published.turns[0].words().splitlines(), explained.turns[0].words().splitlines())
    modes = {"  ": "", "- ": "published", "+ ": "explained"}
    return [Line(modes[line[:2]], line[2:]) for line in lines if line[:2] in modes]
