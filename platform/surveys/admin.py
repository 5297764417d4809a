"""Survey responses in the admin, read-only."""

from __future__ import annotations

from django.contrib import admin
from django.utils.html import format_html_join
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from participants.admin import ReadOnlyAdmin
from plans.questions import as_text
from surveys.models import Response


@admin.register(Response)
class ResponseAdmin(ReadOnlyAdmin):
    list_display = ["at", "enrolment", "stage"]
    list_filter = ["before_game"]
    list_select_related = ["enrolment"]
    search_fields = ["enrolment__pseudonym"]
    fields = ["enrolment", "stage", "at", "answered"]

    @display(description=_("answers"))
    def answered(self, response: Response) -> str:
        """Return each question with its answer as text."""
        return format_html_join(
            "",
            "<p><strong>{}</strong><br>{}</p>",
            (
                (question["text"], as_text(response.answers.get(question["name"])) or "–")
                for question in response.questions
            ),
        )
