"""Participants who go through any launched study in turn, page by page, with Django's test client."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpResponse

from matches.models import Match, Seat
from participants.models import Enrolment
from piloting.answering import answers
from piloting.person import Person
from recruiters.arrivals import Arrival
from studies.enrolling import enrol
from studies.models import Placement, Study
from tests.visitors import text_of

MAX_ROUNDS = 600
"""How often everybody may look at their page before a study counts as endless."""


class Stroller(Person):
    """A participant who answers each page as its form allows.

    Attributes:
        seen: the text of every page opened, with the kind of its step, in order.
    """

    def __init__(self, enrolment: Enrolment, *, player: str = "script:random", **given: str):
        """Take a participant through the study.

        Args:
            player: moves for them.
            given: their answers to fields of this name, on every page that has it; others are made up.
        """
        super().__init__(enrolment, lambda: True, player=player, seed=f"{enrolment.pk}")
        self.given = given
        self.seen: list[tuple[str, str]] = []

    @property
    def placement(self) -> Placement:
        return Placement.objects.get(enrolment=self.enrolment)

    @property
    def factors(self) -> dict[str, str]:
        """The levels of the participant's cell."""
        cell = self.placement.cell
        return {} if cell is None else dict(cell.factors)

    @property
    def text(self) -> str:
        """Everything that the participant has read."""
        return "\n".join(text for _kind, text in self.seen)

    @property
    def done(self) -> bool:
        return self._refreshed().ended

    def matches(self) -> list[Match]:
        """Return the participant's matches in order."""
        return [seat.match for seat in Seat.objects.filter(enrolment=self.enrolment).order_by("step")]

    def go_on(self) -> None:
        """Open the page and do what it asks for, as far as that is possible without the others."""
        page = self._open_page()
        if self.done:
            return
        step = self.enrolment.step
        assert step is not None
        if step["kind"] == "lobby":
            if (group := page.fields.get("group")) and group.value:
                self._request(self.url, {"position": str(self.enrolment.position), "group": group.value})
        elif step["kind"] == "match" and self._plays_on():
            return
        else:
            posted = answers(page, self.enrolment, self.plan, self.rng)
            posted |= {name: value for name, value in self.given.items() if name in page.fields}
            response = self._request(self.url, posted)
            assert response.status_code == 302, (step["kind"], self._open_page().reasons)

    def _plays_on(self) -> bool:
        """Move if it is this participant's turn; return whether the match goes on."""
        seat = Seat.objects.get(enrolment=self.enrolment, step=self.enrolment.position)
        match = Match.objects.get(pk=seat.match_id)
        if match.status != Match.Status.LIVE:
            return False
        if not self._let_others_move(match) and (turn := match.open_turns().get(seat.role)) is not None:
            self._move(match, seat, match.play(), turn.answering)
        return True

    def _request(self, url: str, data: dict[str, str] | None = None) -> HttpResponse:
        response = super()._request(url, data)
        if data is None:
            step = self._refreshed().step
            self.seen.append((step["kind"] if step and not self.enrolment.ended else "end", text_of(response)))
        return response


def arrivals(study: Study, number: int, **given: str) -> list[Stroller]:
    """Let this many participants arrive by personal links."""
    people = [enrol(study, Arrival("mturk", worker=f"w{i}", proof=f"w{i}-{study.pk}")) for i in range(number)]
    return [Stroller(person, **given) for person in people]


def stroll(people: Sequence[Stroller]) -> None:
    """Let everybody look at their page in turn until all have reached an ending, and read it."""
    for _round in range(MAX_ROUNDS):
        going = [person for person in people if not person.done]
        if not going:
            break
        for person in going:
            person.go_on()
    assert all(person.done for person in people), [person.enrolment.step for person in people if not person.done]
    for person in people:
        person._open_page()
