"""Signals of data quality: how pages were used, and what was repeated. They are reported but decide nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from participants.models import Enrolment
from plans.questions import FREE_TEXT
from quality.behaviour import Figures
from quality.score import Score, score

if TYPE_CHECKING:
    from exports.participants import Participant


@dataclass(frozen=True)
class PageUse:
    """How one participant used one page, summed over its loadings; times in seconds."""

    enrolment: Enrolment
    position: int
    kind: str
    loadings: int
    open: float
    visible: float
    hidden: int
    blurred: int
    pastes: int
    pasted: int


def page_uses(participant: Participant) -> list[PageUse]:
    """Return the pages with signals up to the cut-off, in the order of the path."""
    views = [view for view in participant.enrolment.page_views.all() if view.last_at <= participant.reading.cutoff]
    views.sort(key=lambda view: view.position)
    return [
        _summed(participant.enrolment, list(of_page)) for _position, of_page in groupby(views, lambda v: v.position)
    ]


def _summed(enrolment: Enrolment, views: list[Any]) -> PageUse:
    def total(name: str) -> int:
        return sum(getattr(view, name) for view in views)

    return PageUse(
        enrolment=enrolment,
        position=views[0].position,
        kind=views[0].kind,
        loadings=len(views),
        open=total("open_ms") / 1000,
        visible=total("visible_ms") / 1000,
        hidden=total("hidden"),
        blurred=total("blurred"),
        pastes=total("pastes"),
        pasted=total("pasted"),
    )


@dataclass(frozen=True)
class InputCounts:
    """Input events of one participant on one page, or one question of its game, summed over its loadings."""

    participant: Participant
    position: int
    kind: str
    question: int | None
    figures: Mapping[str, int]

    @property
    def match(self) -> str | None:
        """The match to which the question belongs."""
        if self.question is None:
            return None
        seats = self.participant.enrolment.seats.all()
        return next((str(seat.match.uid) for seat in seats if seat.step == self.position), None)


def input_counts(participant: Participant) -> list[InputCounts]:
    """Return the counts up to the cut-off, in the order of pages and questions."""
    rows = [row for row in participant.enrolment.behaviour.all() if row.last_at <= participant.reading.cutoff]
    rows.sort(key=lambda row: (row.position, int(row.question or 0)))
    counts = []
    for (position, question), group in groupby(rows, lambda row: (row.position, row.question)):
        views = list(group)
        total = {name: sum(view.figures.get(name, 0) for view in views) for name in Figures.model_fields}
        total["words"] = max(view.figures.get("words", 0) for view in views)
        total["trapped"] = max(view.figures.get("trapped", 0) for view in views)
        counts.append(InputCounts(participant, position, views[0].kind, int(question) if question else None, total))
    return counts


def agent_score(participant: Participant) -> Score | None:
    """Return the evidence that a program used this person's pages; None if nothing was counted."""
    uses = input_counts(participant)
    return score([(use.kind, use.figures) for use in uses]) if uses else None


def repeated_messages(participant: Participant) -> int | None:
    """Return the number of messages that repeat an earlier one; None if the person wrote none in the dataset."""
    if participant.enrolment.erased_at is not None:
        return None
    texts = [
        decision.message or ""
        for match in participant.matches
        if not match.reasons
        for decision in match.messages
        if (seated := match.seats[decision.role].enrolment) is not None and seated.pk == participant.enrolment.pk
    ]
    return _repeated(texts)


def repeated_answers(participant: Participant) -> int | None:
    """Return the number of free-text answers that repeat an earlier one in any survey; None without such answers."""
    if participant.enrolment.erased_at is not None:
        return None
    answers = [answer for page in _pages(participant) for kind, answer in page if kind in FREE_TEXT and answer]
    return _repeated(answers)


def longest_line(participant: Participant) -> int | None:
    """Return the longest run of scales on one page with the same point chosen; None below two scales.

    The rows of a matrix are scales, and its columns their points.
    """
    scales = [
        [
            point
            for kind, answer in page
            if kind in ("scale", "matrix") and answer is not None
            for point in (answer.values() if kind == "matrix" else [answer])
        ]
        for page in _pages(participant)
    ]
    if max(map(len, scales), default=0) < 2:
        return None
    return max(len(list(run)) for points in scales for _point, run in groupby(points))


def _pages(participant: Participant) -> list[list[tuple[str, Any]]]:
    """Return (kind, answer) in the order of the questions, for each page answered by a participant in the dataset."""
    return [
        [(question["kind"], response.answers.get(question["name"])) for question in response.questions]
        for response in participant.responses
    ]


def _repeated(texts: Iterable[str]) -> int | None:
    plain = [" ".join(text.casefold().split()) for text in texts]
    plain = [text for text in plain if text]
    return len(plain) - len(set(plain)) if plain else None
