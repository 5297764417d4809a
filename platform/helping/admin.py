"""The log of messages between participants and researchers."""

from __future__ import annotations

from django.contrib import admin

from helping.models import Message
from participants.admin import ReadOnlyAdmin
from studies.admin.records import by_study


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    list_display = ["at", "enrolment", "audience", "author", "text", "answered_at", "read_at"]
    list_select_related = ["enrolment", "author"]
    list_filter = ["audience", by_study("enrolment__placement__version__study")]
    search_fields = ["text", "enrolment__pseudonym"]
    date_hierarchy = "at"
