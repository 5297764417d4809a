"""Pages of questions as steps of a participant's path."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from participants import services as people
from participants.models import Enrolment
from participants.states import State
from participants.steps import Step, StepRefused, register
from participants.values import register_values, values_at, values_of
from plans.questions import Question, in_order, questions_of, read_answers
from surveys.models import Response
from surveys.posted import field_of, given_in, places


@dataclass(frozen=True)
class PageQuestion:
    """A question on the page, with the last refused answer and the reason.

    Attributes:
        condition: as the page's script evaluates it, if it depends on other answers of the page (`games.conditions`).
    """

    question: Question
    posted: Mapping[str, str] = field(default_factory=dict)
    error: str = ""
    condition: str = ""

    @property
    def field(self) -> str:
        return field_of(self.question)

    @property
    def value(self) -> str:
        return self.posted.get(self.field, "")

    @property
    def points(self) -> list[str]:
        return [str(point) for point in range(1, self.question.points + 1)]

    @property
    def places(self) -> list[tuple[str, int]]:
        """The places of a ranking: as posted, and as shown."""
        return [(place, int(place)) for place in places(self.question)]

    @property
    def options(self) -> list[tuple[str, str, str]]:
        """Each option with the name of its own field and the posted value."""
        fields = [field_of(self.question, i) for i in range(len(self.question.options))]
        return [
            (option, name, self.posted.get(name, ""))
            for option, name in zip(self.question.options, fields, strict=True)
        ]

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """Each row of a matrix: text, the name of its field, the posted option."""
        fields = [(row, field_of(self.question, row.name)) for row in self.question.rows]
        return [(row.text, name, self.posted.get(name, "")) for row, name in fields]


@register
class Questions(Step):
    """A page of questions, asked once.

    A step is {kind, name, title, items: as described in `plans.questions`, order: fixed or random, before_game:
    whether the first game is still to come}. Questions after it may stay unanswered by people who leave.
    """

    kind = "questions"
    template = "participants/survey.html"

    @property
    def title(self) -> str | Promise:
        default = _("A few questions first") if self.step["before_game"] else _("A few final questions")
        return self.step.get("title") or default

    @property
    def state(self) -> State:
        return State.CONSENTED if self.step["before_game"] else State.QUIZ

    @property
    def required(self) -> bool:
        return bool(self.step["before_game"])

    @cached_property
    def values(self) -> dict[str, Any]:
        """Earlier answers and results, which conditions may name."""
        return values_at(self.step, values_of(self.enrolment))

    def questions(self) -> list[Question]:
        """Return the questions as this participant sees them, also those that only show depending on the answers."""
        order, seed = self.step.get("order", "fixed"), self.enrolment.seed
        questions = questions_of(self.step["items"])
        return [question.shown_to(seed) for question in in_order(questions, order, f"{seed}/{self.step['name']}")]

    def context(self) -> dict[str, Any]:
        questions = self.questions()
        asked = []
        for question in questions:
            condition = self._condition(question, questions)
            if condition != ["value", False]:
                error = str(self.errors.get(field_of(question), ""))
                live = json.dumps(condition) if condition[0] != "value" else ""
                asked.append(PageQuestion(question, self.posted, error, live))
        return {"asked": asked, "live": any(each.condition for each in asked)}

    def _condition(self, question: Question, questions: list[Question]) -> list[Any]:
        """Return the part of `show_if` that depends on other answers of the page."""
        condition = question.conditions().get("show_if")
        if condition is None:
            return ["value", True]
        names = {path[0] for path in condition.references()} & {other.name for other in questions}
        return condition.given(self.values if names or condition.references() else {}, later=names)

    def answer(self, data: Mapping[str, str]) -> None:
        questions = self.questions()
        answers, problems = read_answers(questions, given_in(questions, data), self.values)
        if problems:
            by_name = {question.name: question for question in questions}
            raise StepRefused({field_of(by_name[name]): reason for name, reason in problems.items()})
        shown = [question for question in questions if question.name in answers]
        Response.objects.get_or_create(
            enrolment=self.enrolment,
            stage=self.step["name"],
            defaults={
                "before_game": self.step["before_game"],
                "questions": [question.as_data() for question in shown],
                "answers": answers,
            },
        )
        if any(question.screens_out({**self.values, **answers}) for question in shown):
            people.end(self.enrolment, State.SCREENED_OUT)


@register_values
def answers_of(enrolment: Enrolment) -> dict[str, Any]:
    """Return the participant's answers by the names of their questions."""
    answers: dict[str, Any] = {}
    for given in Response.objects.filter(enrolment=enrolment).order_by("pk").values_list("answers", flat=True):
        answers |= given
    return answers
