"""A simulated participant's answers: correct, deliberately wrong, or any that the form accepts."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

from checks.steps import Quiz
from participants import steps
from participants.models import Enrolment
from piloting.models import Walker
from piloting.reading import FormField, Page
from surveys.questions import Question, field_of, questions_of

NAMES = ("Robin", "Sasha", "Kim", "Noor", "Alexis", "Jamie", "Charlie", "Dana", "Eden", "Jules")
SENTENCE = "This is the answer of a simulated participant."
WRONG_WORD = "elsewhere"
Plan = Walker.Plan


def answers(page: Page, enrolment: Enrolment, plan: str, rng: Random) -> dict[str, str]:
    """Return a value for each field of the page's form.

    Names, surveys and checks are answered from the enrolment, all other steps from the form alone.
    """
    known_answers = _FROM_ENROLMENT.get((enrolment.step or {}).get("kind", ""), _no_answers)(enrolment, plan, rng)
    valid_values = {field.name: _valid_value(field, rng) for field in page.fields.values()}
    return {
        name: value
        for name, value in {**valid_values, **known_answers}.items()
        if value is not None and name in page.fields
    }


def _no_answers(enrolment: Enrolment, plan: str, rng: Random) -> dict[str, str]:
    return {}


def _name(enrolment: Enrolment, plan: str, rng: Random) -> dict[str, str]:
    return {"name": rng.choice(NAMES)}


def _code_word(enrolment: Enrolment, plan: str, rng: Random) -> dict[str, str]:
    return {"code_word": WRONG_WORD if plan == Plan.WRONG_CODE else enrolment.code_word}


def _quiz(enrolment: Enrolment, plan: str, rng: Random) -> dict[str, str]:
    assert enrolment.step is not None
    step = steps.step_object(enrolment, enrolment.step)
    assert isinstance(step, Quiz)
    is_correct = plan != Plan.WRONG_QUIZ
    return {
        question.key: next((option for option in options if (option == question.answer) == is_correct), options[0])
        for question, options in step.questions()
    }


def _survey(enrolment: Enrolment, plan: str, rng: Random) -> dict[str, str]:
    """Return answers that let the participant continue, avoiding those that screen out."""
    assert enrolment.step is not None
    return {field_of(question): _survey_answer(question, rng) for question in questions_of(enrolment.step["questions"])}


def _survey_answer(question: Question, rng: Random) -> str:
    if question.kind == "choice":
        return rng.choice([option for option in question.options if option not in question.ends])
    if question.kind == "scale":
        return str(rng.randint(1, question.points))
    if question.kind == "number":
        return _between(question.least, question.most, rng)
    return SENTENCE


_FROM_ENROLMENT: dict[str, Callable[[Enrolment, str, Random], dict[str, str]]] = {
    "name": _name,
    "survey_before": _survey,
    "survey_after": _survey,
    "instructions": _code_word,
    "quiz": _quiz,
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
