"""The questions of a plan, and which answers they take.

An answer is plain data: a text for single, text, long and date (ISO 8601), a list of options for multiple and
ranking (best first), a whole number for a scale, a number for number and slider, {row: option} for a matrix; None
if skipped.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from random import Random
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError

from games.words import gettext as _
from games.words import number as in_digits
from plans.conditions import Condition, Expression

MAX_LINE_LENGTH = 300
"""Maximum characters of an answer in one line."""
MAX_TEXT_LENGTH = 2000
"""Maximum characters of a long answer."""
MAX_QUESTIONS = 60
"""Maximum number of questions on one page."""
NAME = "[a-z][a-z0-9_]{0,39}"
MORE: dict[str, Any] = {"more": True}
"""Marks fields that editors show on request."""
CONDITION: dict[str, Any] = {**MORE, "condition": True}
_WORDS = ("and", "or", "not", "in", "is", "if", "else", "true", "false", "none")
Kind = Literal["single", "multiple", "scale", "matrix", "slider", "number", "date", "text", "long", "ranking"]
_KIND_TITLES: dict[str, Any] = {
    "single": "one option",
    "multiple": "several options",
    "text": "short text",
    "long": "long text",
}
FREE_TEXT: tuple[Kind, ...] = ("text", "long")
Answer = str | int | float | list[str] | dict[str, str] | None
Given = str | Sequence[str] | Mapping[str, str]
"""What a participant gave: a text, the chosen options in order, or the chosen options by row."""


class BadAnswer(ValueError):
    """Raised for an invalid answer; the message is shown to the participant."""


def _fault(words: str) -> PydanticCustomError:
    return PydanticCustomError("question", "{reason}", {"reason": words})


def _name(value: Any) -> Any:
    if value in _WORDS:
        raise _fault(_("“{name}” is a word of conditions. Please choose another name.").format(name=value))
    if not isinstance(value, str) or not re.fullmatch(NAME, value):
        raise _fault(
            _("A name starts with a lower-case letter and has at most 40 lower-case letters, digits and underscores.")
        )
    return value


def _limit(value: Any) -> Any:
    if isinstance(value, date):  # as YAML reads it
        return value.isoformat()
    return int(value) if isinstance(value, float) and value.is_integer() else value


Name = Annotated[str, BeforeValidator(_name), Field(pattern=f"^{NAME}$")]
Limit = Annotated[StrictInt | StrictFloat | str | None, BeforeValidator(_limit)]
Option = Annotated[str, Field(min_length=1, max_length=200)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, str_strip_whitespace=True)


class Row(_Model):
    """One row of a matrix."""

    name: Name = Field(title="Name", description="Ends the name of the row's column in the dataset.")
    text: str = Field(title="Text", min_length=1, max_length=1000)


class Question(_Model):
    """One question."""

    FIELDS: ClassVar[dict[Kind, tuple[str, ...]]] = {
        "single": ("options", "random_options"),
        "multiple": ("options", "random_options", "min", "max"),
        "scale": ("points", "low", "high"),
        "matrix": ("rows", "options"),
        "slider": ("min", "max", "step", "unit"),
        "number": ("min", "max", "step", "unit"),
        "date": ("min", "max"),
        "text": (),
        "long": (),
        "ranking": ("options", "random_options"),
    }
    """The fields that only some kinds have, by kind; all others belong to every kind."""

    kind: Kind = Field(title="Kind of answer", json_schema_extra={"titles": _KIND_TITLES})
    name: Name = Field(title="Name", description="Names the column in the dataset, and the answer in conditions.")
    text: str = Field(title="Question", min_length=1, max_length=1000)
    help: str = Field(
        "", title="Help", description="Small print below the question.", max_length=1000, json_schema_extra=MORE
    )
    required: bool = Field(True, title="Must be answered")
    rows: tuple[Row, ...] = Field((), title="Rows", max_length=30, validate_default=True)
    options: tuple[Option, ...] = Field(
        (),
        title="Options",
        description="One per line. In a matrix: its columns.",
        max_length=100,
        validate_default=True,
    )
    random_options: bool = Field(
        False, title="Random order of options", description="Drawn for each participant and stored with the answer."
    )
    min: Limit = Field(
        None,
        title="Minimum",
        description="For dates, such as 2000-12-31; with several options, the fewest.",
        validate_default=True,
    )
    max: Limit = Field(
        None,
        title="Maximum",
        description="For dates, such as 2000-12-31; with several options, the most.",
        validate_default=True,
    )
    step: StrictInt | StrictFloat | None = Field(
        None, title="Step", description="Between possible numbers; a slider's is 1 if empty.", gt=0
    )
    unit: str = Field("", title="Unit", description="Shown after the number.", max_length=30)
    points: int = Field(7, title="Points of the scale", ge=2, le=11)
    low: str = Field("", title="Label of the lowest point", max_length=60)
    high: str = Field("", title="Label of the highest point", max_length=60)
    show_if: Expression = Field(
        "",
        title="Show if",
        description="A condition, such as age >= 60; empty: always. Earlier answers can be named.",
        json_schema_extra=CONDITION,
    )
    valid_if: Expression = Field(
        "",
        title="Valid if",
        description="A condition on this and earlier answers, such as hours <= 24, that an answer must meet.",
        json_schema_extra=CONDITION,
    )
    message: str = Field(
        "",
        title="Message",
        description="What participants read if an answer is not valid.",
        max_length=300,
        json_schema_extra=MORE,
    )
    ends_if: Expression = Field(
        "",
        title="Screened out if",
        description="A condition on this and earlier answers, such as age < 18, that ends the study.",
        json_schema_extra=CONDITION,
    )

    @field_validator(*dict.fromkeys(name for names in FIELDS.values() for name in names))
    @classmethod
    def _check_belongs(cls, value: Any, info: ValidationInfo) -> Any:
        kind, name = info.data.get("kind"), str(info.field_name)
        if kind is None or value == cls.model_fields[name].default:
            return value
        if name not in cls.FIELDS[kind]:
            kinds = ", ".join(other for other, names in cls.FIELDS.items() if name in names)
            raise _fault(_("Only these kinds of question have this field: {kinds}.").format(kinds=kinds))
        return value

    @field_validator("options")
    @classmethod
    def _check_options(cls, options: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        kind = info.data.get("kind")
        if kind in ("single", "ranking", "matrix") and len(options) < 2:
            raise _fault(_("Please enter at least two options."))
        if kind == "multiple" and not options:
            raise _fault(_("Please enter at least one option."))
        if len(set(options)) < len(options):
            raise _fault(_("An option appears twice."))
        return options

    @field_validator("rows")
    @classmethod
    def _check_rows(cls, rows: tuple[Row, ...], info: ValidationInfo) -> tuple[Row, ...]:
        if info.data.get("kind") == "matrix" and not rows:
            raise _fault(_("A matrix needs at least one row."))
        if len({row.name for row in rows}) < len(rows):
            raise _fault(_("Two rows have the same name."))
        return rows

    @field_validator("min", "max")
    @classmethod
    def _check_limit(cls, limit: Any, info: ValidationInfo) -> Any:
        kind = info.data.get("kind")
        if limit is None:
            if kind == "slider":
                raise _fault(_("A slider needs a minimum and a maximum."))
            return limit
        if kind == "date":
            if not isinstance(limit, str) or _date(limit) is None:
                raise _fault(_("Please enter a date as year-month-day, such as 2000-12-31."))
        elif isinstance(limit, str):
            raise _fault(_("Please enter a number in digits."))
        elif kind == "multiple" and (not isinstance(limit, int) or not 0 <= limit <= len(info.data.get("options", ()))):
            raise _fault(_("Please enter how many options: a whole number, at most the number of options."))
        least = info.data.get("min") if info.field_name == "max" else None
        if least is not None and (limit < least or (kind == "slider" and limit == least)):
            raise _fault(_("The minimum is larger than the maximum."))
        return limit

    @field_validator("message")
    @classmethod
    def _check_message(cls, message: str, info: ValidationInfo) -> str:
        if message and not info.data.get("valid_if"):
            raise _fault(_("This message is never shown: “Valid if” is empty."))
        return message

    @field_validator("ends_if")
    @classmethod
    def _check_some_pass(cls, ends_if: str, info: ValidationInfo) -> str:
        if not ends_if or info.data.get("kind") != "single":
            return ends_if
        ends = Condition.parse(ends_if)
        if ends.references() == ((info.data.get("name"),),) and all(
            ends.holds({info.data["name"]: option}) for option in info.data.get("options", ())
        ):
            raise _fault(_("Every answer would end the study. Leave at least one that doesn't."))
        return ends_if

    def conditions(self) -> dict[str, Condition]:
        """Return the conditions by field: `show_if`, `valid_if`, `ends_if`, without empty ones."""
        expressions = {name: getattr(self, name) for name in ("show_if", "valid_if", "ends_if")}
        return {name: Condition.parse(text) for name, text in expressions.items() if text}

    def is_shown(self, values: Mapping[str, Any]) -> bool:
        """Return whether the question is shown, given earlier answers and results."""
        return not self.show_if or Condition.parse(self.show_if).holds(values)

    def screens_out(self, values: Mapping[str, Any]) -> bool:
        """Return whether the answers end the study."""
        return bool(self.ends_if) and Condition.parse(self.ends_if).holds(values)

    def shown_to(self, seed: int) -> Question:
        """Return the question with its options in the order of the participant with this seed."""
        if not self.random_options:
            return self
        options = list(self.options)
        Random(f"{seed}/{self.name}").shuffle(options)
        return self.model_copy(update={"options": tuple(options)})

    def columns(self) -> list[str]:
        """Return the names of its columns in the dataset: one per row of a matrix."""
        return [f"{self.name}_{row.name}" for row in self.rows] or [self.name]

    def read(self, given: Given | None, values: Mapping[str, Any]) -> Answer:
        """Return the answer that was given; None if an optional question was skipped.

        Args:
            values: earlier answers and results, which `valid_if` may name.

        Raises:
            BadAnswer
        """
        answer = self._plain(given or "")
        if answer is None:
            if self.required:
                raise BadAnswer(_("Please answer: {question}").format(question=_shortened(self.text)))
            return None
        if self.valid_if and not Condition.parse(self.valid_if).holds({**values, self.name: answer}):
            raise BadAnswer(self.message or _("Please check this answer."))
        return answer

    def _plain(self, given: Given) -> Answer:
        if self.kind == "matrix":
            return self._matrix(given if isinstance(given, Mapping) else {})
        if self.kind in ("multiple", "ranking"):
            return self._list([] if isinstance(given, str | Mapping) else list(given))
        text = given.replace("\x00", "").replace("\r\n", "\n").strip() if isinstance(given, str) else ""
        if not text:
            return None
        if self.kind in ("number", "slider"):
            return self._number(text)
        if self.kind == "single":
            if text not in self.options:
                raise BadAnswer(_("Please choose one of the answers."))
        elif self.kind == "scale":
            if not (text.isascii() and text.isdigit()) or not 1 <= int(text[:3]) <= self.points:
                raise BadAnswer(_("Please choose a point on the scale."))
            return int(text)
        elif self.kind == "date":
            return self._date(text)
        most = MAX_LINE_LENGTH if self.kind == "text" else MAX_TEXT_LENGTH
        if len(text) > most:
            raise BadAnswer(_("Please use at most {most} characters.").format(most=most))
        return " ".join(text.split("\n")) if self.kind == "text" else text

    @property
    def limits(self) -> tuple[float | None, float | None]:
        """The least and the most number, or number of answers; None where there is no such limit."""
        least, most = (limit if isinstance(limit, int | float) else None for limit in (self.min, self.max))
        return least, most

    def _number(self, text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            raise BadAnswer(_("Please enter a number in digits.")) from None
        if not math.isfinite(number):
            raise BadAnswer(_("Please enter a number in digits."))
        least, most = self.limits
        if least is not None and number < least:
            raise BadAnswer(_("Please enter a number of at least {least}.").format(least=in_digits(least)))
        if most is not None and number > most:
            raise BadAnswer(_("Please enter a number of at most {most}.").format(most=in_digits(most)))
        step = self.step or (1 if self.kind == "slider" else None)
        if step is not None:
            steps = (number - (least or 0)) / step
            if abs(steps - round(steps)) > 1e-6:
                raise BadAnswer(_("Please enter a number in steps of {step}.").format(step=in_digits(step)))
        return int(number) if number == int(number) else number

    def _date(self, text: str) -> str:
        if _date(text) is None:
            raise BadAnswer(_("Please enter a date as year-month-day, such as 2000-12-31."))
        if isinstance(self.min, str) and text < self.min:
            raise BadAnswer(_("Please enter a date no earlier than {least}.").format(least=self.min))
        if isinstance(self.max, str) and text > self.max:
            raise BadAnswer(_("Please enter a date no later than {most}.").format(most=self.max))
        return text

    def _list(self, chosen: list[str]) -> list[str] | None:
        if not chosen:
            return None
        if set(chosen) - set(self.options):
            raise BadAnswer(_("Please choose from the answers."))
        if self.kind == "ranking":
            if sorted(chosen) != sorted(self.options):
                raise BadAnswer(_("Please give every answer a place of its own."))
            return chosen
        least, most = self.limits
        if least is not None and len(chosen) < least:
            raise BadAnswer(_("Please choose at least {least} answers.").format(least=least))
        if most is not None and len(chosen) > most:
            raise BadAnswer(_("Please choose at most {most} answers.").format(most=most))
        return [option for option in self.options if option in chosen]

    def _matrix(self, chosen: Mapping[str, str]) -> dict[str, str] | None:
        answers = {row.name: chosen[row.name] for row in self.rows if chosen.get(row.name)}
        if set(answers.values()) - set(self.options):
            raise BadAnswer(_("Please choose one of the answers in each row."))
        if self.required and answers and len(answers) < len(self.rows):
            missing = next(row.text for row in self.rows if row.name not in answers)
            raise BadAnswer(_("Please answer: {question}").format(question=_shortened(missing)))
        return answers or None

    def as_data(self) -> dict[str, Any]:
        """Return the question as plain data, without defaults."""
        return self.model_dump(mode="json", exclude_defaults=True)


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) else None
    except ValueError:
        return None


def _shortened(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"


def as_text(answer: Answer) -> str:
    """Return an answer in one line; empty if skipped."""
    if isinstance(answer, Mapping):
        return "; ".join(f"{row}: {option}" for row, option in answer.items())
    if isinstance(answer, list):
        return "; ".join(answer)
    return "" if answer is None else str(answer)


def read_answers(
    questions: Sequence[Question], given: Mapping[str, Given], values: Mapping[str, Any]
) -> tuple[dict[str, Answer], dict[str, str]]:
    """Return the answers of one page by question, and the reasons for invalid ones.

    Questions that are not shown, given `values` (earlier answers and results) and this page's answers, have neither.
    """
    answers: dict[str, Answer] = {}
    problems: dict[str, str] = {}
    for question in questions:
        known = {**values, **answers}
        if not question.is_shown(known):
            continue
        try:
            answers[question.name] = question.read(given.get(question.name), known)
        except BadAnswer as error:
            problems[question.name] = str(error)
    return answers, problems


def in_order(questions: Sequence[Question], order: str, seed: str) -> list[Question]:
    """Return the questions as one participant sees them: in a random order if `order` is "random"."""
    ordered = list(questions)
    if order == "random":
        Random(seed).shuffle(ordered)
    return ordered


def faults(
    questions: Sequence[Question], *, order: str = "fixed", may_end: bool = True
) -> Iterator[tuple[int, str, str]]:
    """Yield (index, field, reason) of what does not fit together on one page.

    Args:
        may_end: whether answers to these questions may end the study.
    """
    columns: set[str] = set()
    for index, question in enumerate(questions):
        own = question.columns()
        if taken := columns.intersection(own):
            yield index, "name", _("Two questions have the column name “{name}”.").format(name=min(taken))
        columns.update(own)
        if question.ends_if and not may_end:
            yield index, "ends_if", _("Only answers before the game can end the study.")
        others = questions if order == "random" else questions[index + 1 :]
        unknown = {other.name for other in others} - {question.name}
        for field, condition in question.conditions().items():
            used = {path[0] for path in condition.references()}
            if field == "show_if" and question.name in used:
                yield index, field, _("A question cannot depend on its own answer.")
            for name in sorted(used & unknown):
                yield index, field, _("“{name}” is not known yet when this question is asked.").format(name=name)


def questions_of(descriptions: Iterable[Any]) -> list[Question]:
    """Return the questions that a plan describes as plain data."""
    return [Question.model_validate(description) for description in descriptions]
