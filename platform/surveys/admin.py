"""Survey responses in the admin, read-only."""

from __future__ import annotations

from django.contrib import admin
from django.utils.html import format_html_join
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from participants.admin import ReadOnlyAdmin
from surveys.models import Response


@admin.register(Response)
class ResponseAdmin(ReadOnlyAdmin):
    list_display = ["at", "enrolment", "survey"]
    list_filter = ["survey"]
    list_select_related = ["enrolment"]
    search_fields = ["enrolment__pseudonym"]
    fields = ["enrolment", "survey", "at", "answered"]

    @display(description=_("answers"))
    def answered(self, response: Response) -> str:
        """Return each question with its answer as text."""
        return format_html_join(
            "",
            "<p><strong>{}</strong><br>{}</p>",
            (
                (question["prompt"], "–" if (answer := response.answers.get(question["key"])) is None else answer)
                for question in response.questions
            ),
        )
