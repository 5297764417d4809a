"""The results of attention checks and quizzes in the admin, read-only."""

from __future__ import annotations

from django.contrib import admin
from unfold.decorators import display

from checks.models import Verdict
from participants.admin import ReadOnlyAdmin


@admin.register(Verdict)
class VerdictAdmin(ReadOnlyAdmin):
    list_display = ["at", "enrolment", "check_name", "stage", "outcome"]
    list_filter = ["check_name", "passed"]
    list_select_related = ["enrolment"]
    search_fields = ["enrolment__pseudonym"]

    @display(description=Verdict._meta.get_field("passed").verbose_name, ordering="passed", boolean=True)
    def outcome(self, verdict: Verdict) -> bool:
        return verdict.passed
