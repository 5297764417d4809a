"""The ledger, read-only: rows change as they are paid, never by hand."""

from __future__ import annotations

from django.contrib import admin
from unfold.decorators import display

from participants.admin import ReadOnlyAdmin
from payouts.models import LedgerRow

COLOURS = {"due": "warning", "approved": "info", "sent": "info", "confirmed": "success", "failed": "danger"}


@admin.register(LedgerRow)
class LedgerRowAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "enrolment", "reason", "amount", "currency", "status_label"]
    list_filter = ["state", "reason", "currency"]
    list_select_related = ["enrolment"]
    search_fields = ["enrolment__pseudonym"]
    date_hierarchy = "created_at"

    @display(description=LedgerRow._meta.get_field("state").verbose_name, ordering="state", label=COLOURS)
    def status_label(self, row: LedgerRow) -> tuple[str, str]:
        return row.state, row.get_state_display()
