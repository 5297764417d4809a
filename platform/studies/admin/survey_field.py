"""A survey's questions as one form field: JSON that the page's script shows as a list to edit."""

from __future__ import annotations

import json
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from unfold.widgets import UnfoldAdminTextareaWidget

from plans.questions import MAX_QUESTIONS, BadQuestions, questions_of


class SurveyWidget(UnfoldAdminTextareaWidget):
    """A text field with the script's labels; without the script it shows the questions as JSON."""

    def __init__(self, attrs: dict[str, Any] | None = None, *, may_end: bool = False):
        super().__init__({"rows": 3, "spellcheck": "false", **(attrs or {})})
        self.may_end = may_end

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        labels = {
            "add": _("Add a question"),
            "none": _("No questions: participants skip this page."),
            "question": _("Question {number}"),
            "text": _("Question text"),
            "kind": _("Answer type"),
            "long": _("text"),
            "number": _("number"),
            "single": _("multiple choice"),
            "scale": _("rating scale"),
            "options": _("Options, one per line"),
            "ends": _("Participants who choose this are screened out"),
            "min": _("Minimum"),
            "max": _("Maximum"),
            "points": _("Points"),
            "low": _("Label of point 1"),
            "high": _("Label of the last point"),
            "name": _("Column name"),
            "required": _("required"),
            "up": _("Move up"),
            "down": _("Move down"),
            "remove": _("Remove"),
            "missing": _("Fill in “{label}”."),
            "two_options": _("Enter at least two options, one per line."),
            "twice": _("Remove the duplicate option."),
            "limits": _("The minimum is larger than the maximum. Swap them."),
            "scale_points": _("Enter 2 to 11 points."),
            "column": _(
                "Use lowercase letters, digits and underscores for the column name, starting with a letter, "
                "such as trust_in_others."
            ),
            "column_twice": _("Two questions have this column name. Rename one."),
        }
        attrs = {**(attrs or {}), "data-survey": json.dumps(labels), "data-most": MAX_QUESTIONS}
        if self.may_end:
            attrs["data-may-end"] = ""
        context: dict[str, Any] = super().get_context(name, value, attrs)
        return context


def read_survey(data: Any, *, may_end: bool = False) -> list[dict[str, Any]]:
    """Return the questions in the field.

    Args:
        may_end: whether answers may screen participants out.

    Raises:
        ValidationError: naming each invalid question.
    """
    try:
        return [question.as_data() for question in questions_of(data or [], may_end=may_end)]
    except BadQuestions as error:
        raise ValidationError(error.problems) from None
