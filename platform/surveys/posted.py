"""The fields of a page of questions: their names, and the reading of a posted form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from plans.questions import Given, Question


def field_of(question: Question, part: str | int = "") -> str:
    """Return the name of the question's field on the page, or of one of its fields.

    Args:
        part: the row of a matrix, or the number of an option, from 0 in the order shown.
    """
    return f"question_{question.name}" + (f".{part}" if part != "" else "")


def given_in(questions: Iterable[Question], posted: Mapping[str, str]) -> dict[str, Given]:
    """Return what a posted form gives to each question, as `Question.read` takes it."""
    return {question.name: _given(question, posted) for question in questions}


def _given(question: Question, posted: Mapping[str, str]) -> Given:
    if question.kind == "matrix":
        return {row.name: posted.get(field_of(question, row.name), "") for row in question.rows}
    if question.kind not in ("multiple", "ranking"):
        return posted.get(field_of(question), "")
    values = {option: posted.get(field_of(question, i), "") for i, option in enumerate(question.options)}
    chosen = [option for option, value in values.items() if value]
    if question.kind == "multiple":
        return chosen
    by_place = {values[option]: option for option in chosen}  # two options in one place leave one of them out
    return [by_place[place] for place in sorted(by_place)] if by_place.keys() <= set(places(question)) else chosen[:1]


def places(question: Question) -> list[str]:
    """Return the places of a ranking as they are posted, in an order that sorts like the numbers."""
    digits = len(str(len(question.options)))
    return [f"{place:0{digits}}" for place in range(1, len(question.options) + 1)]


def posted_as(question: Question, answer: Any) -> dict[str, str]:
    """Return the fields with which a form gives this answer; the inverse of `given_in`."""
    if answer is None:
        return {}
    if question.kind == "matrix":
        return {field_of(question, row): option for row, option in dict(answer).items()}
    if question.kind == "multiple":
        return {field_of(question, question.options.index(option)): option for option in list(answer)}
    if question.kind == "ranking":
        return {
            field_of(question, question.options.index(option)): place
            for option, place in zip(list(answer), places(question), strict=True)
        }
    return {field_of(question): str(answer)}
