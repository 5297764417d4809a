"""Surveys as steps of a participant's path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.translation import gettext_lazy as _

from participants import services as people
from participants.states import State
from participants.steps import Step, StepRefused, register
from surveys.models import Response
from surveys.questions import Answer, Question, field_of, questions_of, read_answers


@dataclass(frozen=True)
class PageQuestion:
    """A question on the page, with the last refused answer and the reason."""

    question: Question
    field: str
    value: str
    error: str

    @property
    def points(self) -> list[str]:
        return [str(point) for point in range(1, self.question.points + 1)]


class Survey(Step):
    """A survey page. A step is {kind, questions: as described in `surveys.questions`}."""

    survey: ClassVar[Response.Survey]
    template = "participants/survey.html"

    def questions(self) -> list[Question]:
        return questions_of(self.step["questions"])

    def context(self) -> dict[str, Any]:
        return {
            "asked": [
                PageQuestion(question, field, self.posted.get(field, ""), str(self.errors.get(field, "")))
                for question in self.questions()
                for field in [field_of(question)]
            ]
        }

    def answer(self, data: Mapping[str, str]) -> None:
        questions = self.questions()
        answers, problems = read_answers(questions, data)
        if problems:
            raise StepRefused(problems)
        self.store(questions, answers)

    def store(self, questions: list[Question], answers: dict[str, Answer]) -> None:
        """Store the answers, once."""
        Response.objects.get_or_create(
            enrolment=self.enrolment,
            survey=self.survey,
            defaults={"questions": [question.as_data() for question in questions], "answers": answers},
        )


@register
class SurveyBefore(Survey):
    """Questions before the instructions; an answer may screen the participant out."""

    kind = "survey_before"
    survey = Response.Survey.BEFORE
    title = _("A few questions first")
    state = State.CONSENTED

    def store(self, questions: list[Question], answers: dict[str, Answer]) -> None:
        super().store(questions, answers)
        if any(question.screens_out(answers[question.key]) for question in questions):
            people.end(self.enrolment, State.SCREENED_OUT)


@register
class SurveyAfter(Survey):
    """Questions after the game and its quiz."""

    kind = "survey_after"
    survey = Response.Survey.AFTER
    title = _("A few final questions")
    state = State.QUIZ
    required = False
