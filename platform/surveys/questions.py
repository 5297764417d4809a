"""Survey questions as researchers write them, and the parsing of answers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from django.utils.text import Truncator, slugify
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

MAX_ANSWER_LENGTH = 2000
"""Maximum characters of a text answer."""
MAX_QUESTIONS = 60
MAX_GENERATED_KEY_LENGTH = 30
Kind = Literal["text", "number", "choice", "scale"]
Answer = str | float | int | None


class BadQuestions(ValueError):
    """Raised for invalid questions; `problems` lists the reasons."""

    def __init__(self, problems: Sequence[str]):
        super().__init__(" ".join(problems))
        self.problems = list(problems)


class BadAnswer(ValueError):
    """Raised for an invalid answer; the message is shown to the participant."""


class Question(BaseModel):
    """One question.

    Attributes:
        key: the name of its column in the dataset; generated from the question if empty.
        options: the options of a choice.
        ends: the options that screen a participant out.
        least, most: the limits of a number.
        points: the number of points of a scale from 1; `low` and `high` label its ends.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, str_strip_whitespace=True)

    key: Annotated[str, Field(pattern=r"^([a-z][a-z0-9_]{0,39})?$")] = ""
    kind: Kind
    prompt: Annotated[str, Field(min_length=1, max_length=1000)]
    required: bool = True
    options: tuple[Annotated[str, Field(min_length=1, max_length=200)], ...] = ()
    ends: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    points: Annotated[int, Field(ge=2, le=11)] = 7
    low: Annotated[str, Field(max_length=60)] = ""
    high: Annotated[str, Field(max_length=60)] = ""

    @model_validator(mode="after")
    def _check_answerable(self) -> Self:
        if self.kind == "choice" and len(self.options) < 2:
            raise PydanticCustomError("options", _("A choice needs at least two options."))
        if len(set(self.options)) < len(self.options):
            raise PydanticCustomError("options", _("An option appears twice."))
        if set(self.ends) - set(self.options):
            raise PydanticCustomError("ends", _("An answer that ends the study is not one of the options."))
        if self.ends and set(self.ends) == set(self.options):
            raise PydanticCustomError("ends", _("Every answer would end the study. Leave at least one that doesn't."))
        if self.least is not None and self.most is not None and self.least > self.most:
            raise PydanticCustomError("limits", _("The minimum is larger than the maximum."))
        return self

    def read(self, text: str) -> Answer:
        """Return the answer in the posted text; None if an optional question was skipped.

        Raises:
            BadAnswer
        """
        text = text.replace("\x00", "").replace("\r\n", "\n").strip()
        if not text:
            if self.required:
                raise BadAnswer(_("Please answer: {question}").format(question=Truncator(self.prompt).chars(80)))
            return None
        if self.kind == "number":
            return self._number(text)
        if self.kind == "choice":
            if text not in self.options:
                raise BadAnswer(_("Please choose one of the answers."))
            return text
        if self.kind == "scale":
            if not (text.isascii() and text.isdigit()) or not 1 <= int(text[:3]) <= self.points:
                raise BadAnswer(_("Please choose a point on the scale."))
            return int(text)
        if len(text) > MAX_ANSWER_LENGTH:
            raise BadAnswer(_("Please use at most {most} characters.").format(most=MAX_ANSWER_LENGTH))
        return text

    def screens_out(self, answer: Answer) -> bool:
        """Return whether this answer screens the participant out."""
        return answer in self.ends

    def _number(self, text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            raise BadAnswer(_("Please enter a number in digits.")) from None
        if not math.isfinite(number):
            raise BadAnswer(_("Please enter a number in digits."))
        if self.least is not None and number < self.least:
            raise BadAnswer(_("Please enter a number of at least {least}.").format(least=f"{self.least:g}"))
        if self.most is not None and number > self.most:
            raise BadAnswer(_("Please enter a number of at most {most}.").format(most=f"{self.most:g}"))
        return int(number) if number == int(number) else number

    def as_data(self) -> dict[str, Any]:
        """Return the question as plain data, without defaults."""
        return self.model_dump(mode="json", exclude_defaults=True) | {"key": self.key, "kind": self.kind}


def questions_of(descriptions: Any, *, may_end: bool = True) -> list[Question]:
    """Return the questions described by plain data, each with a unique key.

    Args:
        may_end: whether answers to these questions may end the study.

    Raises:
        BadQuestions: naming each question by its number, from 1.
    """
    if not isinstance(descriptions, list):
        raise BadQuestions([_("A survey is a list of questions.")])
    if len(descriptions) > MAX_QUESTIONS:
        raise BadQuestions([_("A survey can have at most {most} questions.").format(most=MAX_QUESTIONS)])
    questions, problems = [], []
    for number, data in enumerate(descriptions, start=1):
        try:
            questions.append(Question.model_validate(data))
        except ValidationError as error:
            problems.append(_("Question {number}: {reason}").format(number=number, reason=_describe(error)))
    keys = [question.key for question in questions if question.key]
    problems += [
        _("Question {number}: only answers before the game can end the study.").format(number=number)
        for number, question in enumerate(questions, start=1)
        if question.ends and not may_end
    ]
    problems += [
        _("Two questions have the column name “{key}”.").format(key=key)
        for key in dict.fromkeys(keys)
        if keys.count(key) > 1
    ]
    if problems:
        raise BadQuestions(problems)
    return _with_keys(questions)


def key_from(prompt: str) -> str:
    """Return a column name generated from the question's first words, in lower-case ASCII letters."""
    words = re.findall("[a-z0-9]+", slugify(prompt).replace("_", "-"))
    while words and not words[0][0].isalpha():
        words = words[1:]
    name = ""
    for word in words:
        if name and len(name) + 1 + len(word) > MAX_GENERATED_KEY_LENGTH:
            break
        name = f"{name}_{word}" if name else word[:MAX_GENERATED_KEY_LENGTH]
    return name or "question"


def _describe(error: ValidationError) -> str:
    """Return the first problem, worded like the form's labels."""
    problem = error.errors()[0]
    field = str(problem["loc"][0]) if problem["loc"] else ""
    if field == "key":
        return _(
            "the column name must start with a lower-case letter and have at most 40 lower-case letters, digits "
            "and underscores."
        )
    if field == "prompt":
        return _("please enter the question, in at most 1,000 characters.")
    if field == "points":
        return _("a scale must have 2 to 11 points.")
    if field == "options":
        return _("an option can have at most 200 characters.")
    if field in ("low", "high"):
        return _("the label of a scale's end can have at most 60 characters.")
    if field in ("least", "most"):
        return _("the minimum and maximum must be numbers.")
    return f"{field}: {problem['msg']}" if field else problem["msg"]


def _with_keys(questions: Sequence[Question]) -> list[Question]:
    used_keys = {question.key for question in questions}
    completed = []
    for question in questions:
        if question.key:
            completed.append(question)
            continue
        generated = key_from(question.prompt)
        key = next(
            name
            for i in range(1, len(questions) + 2)
            if (name := generated if i == 1 else f"{generated}_{i}") not in used_keys
        )
        used_keys.add(key)
        completed.append(question.model_copy(update={"key": key}))
    return completed


def read_answers(questions: Sequence[Question], posted: Mapping[str, str]) -> tuple[dict[str, Answer], dict[str, str]]:
    """Return the answers by key, and the reasons for invalid ones by field name."""
    answers: dict[str, Answer] = {}
    problems: dict[str, str] = {}
    for question in questions:
        try:
            answers[question.key] = question.read(posted.get(field_of(question), ""))
        except BadAnswer as error:
            problems[field_of(question)] = str(error)
    return answers, problems


def field_of(question: Question) -> str:
    """Return the name of the question's field on the page."""
    return f"question_{question.key}"
