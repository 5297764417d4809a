"""A survey's questions as one field of a form: plain data, which the page's script shows as a list to fill in."""

from __future__ import annotations

import json
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from unfold.widgets import UnfoldAdminTextareaWidget

from surveys.questions import MOST_QUESTIONS, BadQuestions, questions_of


class SurveyWidget(UnfoldAdminTextareaWidget):
    """A text field with the words that the script needs; without the script it holds the questions as JSON."""

    def __init__(self, attrs: dict[str, Any] | None = None, *, may_end: bool = False):
        super().__init__({"rows": 3, "spellcheck": "false", **(attrs or {})})
        self.may_end = may_end

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        words = {
            "add": _("Add a question"),
            "none": _("No questions: this page is left out."),
            "question": _("Question {number}"),
            "prompt": _("What is asked"),
            "kind": _("Kind of answer"),
            "text": _("words"),
            "number": _("a number"),
            "choice": _("one of several options"),
            "scale": _("a point on a scale"),
            "options": _("Options, one per line"),
            "ends": _("Who chooses one of these does not take part: the study ends there for them"),
            "least": _("Least"),
            "most": _("Largest"),
            "points": _("Points"),
            "low": _("What 1 means"),
            "high": _("What the last point means"),
            "key": _("Column's name"),
            "required": _("has to be answered"),
            "up": _("Move up"),
            "down": _("Move down"),
            "remove": _("Remove"),
            "missing": _("“{label}” is missing."),
            "two_options": _("A choice needs at least two options."),
            "twice": _("An option is there twice."),
            "limits": _("The least number is larger than the largest."),
            "scale_points": _("A scale has 2 to 11 points."),
            "column": _("A column's name begins with a small letter: small letters, digits, underscores."),
            "column_twice": _("Two questions have this column's name."),
        }
        attrs = {**(attrs or {}), "data-survey": json.dumps(words), "data-most": MOST_QUESTIONS}
        if self.may_end:
            attrs["data-may-end"] = ""
        context: dict[str, Any] = super().get_context(name, value, attrs)
        return context


def read_survey(written: Any, *, may_end: bool = False) -> list[dict[str, Any]]:
    """The questions in the field.

    Args:
        may_end: whether answers may end the way.

    Raises:
        ValidationError: naming each question that cannot be asked.
    """
    try:
        return [question.kept() for question in questions_of(written or [], may_end=may_end)]
    except BadQuestions as error:
        raise ValidationError(error.problems) from None
