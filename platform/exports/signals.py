"""Signals of data quality: how pages were used, and what was repeated. They are reported but decide nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from exports.columns import Row
from plans.questions import FREE_TEXT
from quality.behaviour import Figures
from quality.score import Score, score

if TYPE_CHECKING:
    from exports.participants import Participant


def page_uses(participant: Participant) -> Iterator[Row]:
    """Yield the use of each page with signals up to the cut-off, summed over its loadings, in the order of the path."""
    views = [view for view in participant.enrolment.page_views.all() if view.last_at <= participant.reading.cutoff]
    views.sort(key=lambda view: view.position)
    for position, group in groupby(views, lambda view: view.position):
        of_page = list(group)
        counts = ("open_ms", "visible_ms", "hidden", "blurred", "pastes", "pasted")
        total = {name: sum(getattr(view, name) for view in of_page) for name in counts}
        yield Row(
            enrolment=participant.enrolment, position=position, kind=of_page[0].kind, loadings=len(of_page), **total
        )


def input_counts(participant: Participant) -> Iterator[Row]:
    """Yield the input events on each page, and for each question of its game, up to the cut-off, in their order.

    They are summed over the loadings of the page; `match` is the one to which the question belongs.
    """
    rows = [row for row in participant.enrolment.behaviour.all() if row.last_at <= participant.reading.cutoff]
    rows.sort(key=lambda row: (row.position, int(row.question or 0)))
    for (position, question), group in groupby(rows, lambda row: (row.position, row.question)):
        views = list(group)
        total = {name: sum(view.figures.get(name, 0) for view in views) for name in Figures.model_fields}
        total |= {name: max(view.figures.get(name, 0) for view in views) for name in ("words", "trapped")}
        seats = participant.enrolment.seats.all() if question else ()
        match = next((str(seat.match.uid) for seat in seats if seat.step == position), None)
        yield Row(
            participant=participant,
            position=position,
            kind=views[0].kind,
            question=int(question) if question else None,
            match=match,
            figures=total,
            **total,
        )


def agent_score(participant: Participant) -> Score | None:
    """Return the evidence that a program used this person's pages; None if nothing was counted."""
    uses = list(input_counts(participant))
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
