"""A simulated participant's answers: correct, deliberately wrong, or any that the form accepts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Any

from participants import steps
from participants.models import Enrolment
from piloting.models import Walker
from piloting.reading import FormField, Page
from plans.questions import Answer, BadAnswer, Question
from surveys.posted import given_in, posted_as
from surveys.steps import Questions

NAMES = ("Robin", "Sasha", "Kim", "Noor", "Alexis", "Jamie", "Charlie", "Dana", "Eden", "Jules")
SENTENCE = "This is the answer of a simulated participant."
WRONG_WORD = "elsewhere"
TRIES = 200
"""How many random answers to a question are tried until the study accepts one."""
Plan = Walker.Plan


def answers(page: Page, enrolment: Enrolment, plan: str, rng: Random) -> dict[str, str]:
    """Return a value for each field of the page's form.

    Names, surveys and checks are answered from the enrolment, all other steps from the form alone.
    """
    answer_step = _FROM_ENROLMENT.get((enrolment.step or {}).get("kind", ""))
    step: Any = steps.step_object(enrolment, enrolment.step) if answer_step and enrolment.step else None
    known_answers = answer_step(step, plan, rng) if answer_step else {}
    valid_values = {
        field.name: _valid_value(field, rng)
        for field in page.fields.values()
        if field.kind == "hidden" or answer_step is None
    }
    return {
        name: value
        for name, value in {**valid_values, **known_answers}.items()
        if value is not None and name in page.fields
    }


def options_of(questions: Iterable[Any], *, correct: bool) -> dict[str, str]:
    """Return right or wrong answers to questions about the rules."""
    return {
        asked.key: next((option for option in asked.options if (option == asked.answer) == correct), asked.options[0])
        for asked in questions
    }


def _questions(step: Questions, plan: str, rng: Random) -> dict[str, str]:
    """Return answers that let the participant continue, avoiding those that are not valid or screen out."""
    values, posted = dict(step.values), dict[str, str]()
    for question in step.questions():
        if question.is_shown(values):
            posted |= _allowed_answer(question, values, rng)
            values[question.name] = question.read(given_in([question], posted)[question.name], values)
    return posted


def _allowed_answer(question: Question, values: Mapping[str, Any], rng: Random) -> dict[str, str]:
    """Return one of several random answers, as its fields, preferring those that the study accepts."""
    for _try in range(TRIES):
        posted = posted_as(question, _answer(question, rng))
        try:
            answer = question.read(given_in([question], posted)[question.name], values)
        except BadAnswer:
            continue
        if not question.screens_out({**values, question.name: answer}):
            break
    return posted


def _answer(question: Question, rng: Random) -> Answer:
    options = list(question.options)
    match question.kind:
        case "single":
            return rng.choice(options)
        case "multiple":
            return rng.sample(options, rng.randint(int(question.min or 1), int(question.max or len(options))))
        case "ranking":
            return rng.sample(options, len(options))
        case "matrix":
            return {row.name: rng.choice(options) for row in question.rows}
        case "scale":
            return rng.randint(1, question.points)
        case "number" | "slider":
            return float(_between(*question.limits, rng))
        case "date":
            return str(question.min or question.max or "2000-01-01")
        case "text" | "long":
            return SENTENCE


_FROM_ENROLMENT: dict[str, Callable[[Any, str, Random], dict[str, str]]] = {
    "name": lambda step, plan, rng: {"name": rng.choice(NAMES)},
    "questions": _questions,
    "instructions": lambda step, plan, rng: {
        "code_word": WRONG_WORD if plan == Plan.WRONG_CODE else step.enrolment.code_word
    },
    "comprehension": lambda step, plan, rng: options_of(step.open_questions(), correct=plan != Plan.MISREADS),
    "quiz": lambda step, plan, rng: options_of(step.questions(), correct=plan != Plan.WRONG_QUIZ),
}


def _valid_value(field: FormField, rng: Random) -> str | None:
    """Return a value that the field accepts; None to leave it out."""
    if field.kind == "hidden":
        return field.value
    if field.kind == "checkbox":
        return field.options[0]
    if field.options or field.kind == "select":
        return rng.choice(field.options) if field.options else None
    if field.kind in ("number", "range"):
        return _number(field, rng)
    if field.kind == "email":
        return "simulated@example.org"
    if field.kind == "date":
        return "2000-01-01"
    max_length = field.limits.get("maxlength", "")
    return SENTENCE[: int(max_length)] if max_length.isdigit() else SENTENCE


def _number(field: FormField, rng: Random) -> str:
    try:
        low, high = (float(limit) if (limit := field.limits.get(bound)) else None for bound in ("min", "max"))
    except ValueError:
        return "1"
    return _between(low, high, rng)


def _between(least: float | None, most: float | None, rng: Random) -> str:
    """Return a whole number between the limits; if there is none, return the lower limit."""
    low = least if least is not None else 1 if most is None else min(1, most)
    high = most if most is not None else low + 9
    first, last = math.ceil(low), math.floor(high)
    return str(rng.randint(first, last)) if first <= last else f"{low!r}"
