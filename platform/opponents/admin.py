"""Every call of a model, to be read."""

from __future__ import annotations

from django.contrib import admin
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from opponents.models import Call
from participants.admin import ReadOnlyAdmin


@admin.register(Call)
class CallAdmin(ReadOnlyAdmin):
    list_display = ["at", "match_uid", "role", "answering", "model", "seconds", "tokens", "outcome"]
    search_fields = ["match_uid", "record__model"]
    date_hierarchy = "at"

    @display(description=_("model"))
    def model(self, call: Call) -> str | None:
        return call.record.get("model")

    @display(description=_("seconds"))
    def seconds(self, call: Call) -> str:
        return f"{call.record.get('latency') or 0:.2f}"

    @display(description=_("tokens in / out"))
    def tokens(self, call: Call) -> str:
        sent, received = call.record.get("input_tokens"), call.record.get("output_tokens")
        return "–" if sent is None and received is None else f"{sent or 0} / {received or 0}"

    @display(description=_("outcome"), label={"legal": "success", "refused": "warning", "failed": "danger"})
    def outcome(self, call: Call) -> tuple[str, str]:
        if call.record.get("error"):
            return "failed", str(_("no answer"))
        if call.record.get("problem"):
            return "refused", str(_("no legal move"))
        return "legal", str(_("move"))
