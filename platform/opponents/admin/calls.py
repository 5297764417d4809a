"""Read-only admin page for model calls."""

from __future__ import annotations

from django.contrib import admin
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from opponents.models import Call
from opponents.services import outcome_of
from participants.admin import ReadOnlyAdmin

COLOURS = {"move": "success", "rule_break": "warning", "failed": "danger"}


@admin.register(Call)
class CallAdmin(ReadOnlyAdmin):
    list_display = [
        "at",
        "match_uid",
        "role",
        "answering",
        "endpoint",
        "model_name",
        "fallback",
        "attempt",
        "seconds",
        "tokens",
        "cost_in_dollars",
        "outcome_label",
    ]
    list_filter = ["outcome", "endpoint"]
    search_fields = ["match_uid", "model", "budget_of"]
    date_hierarchy = "at"

    @display(description=_("model"), ordering="model")
    def model_name(self, call: Call) -> str | None:
        return call.record.get("model")

    @display(description=_("fallback"))
    def fallback(self, call: Call) -> int:
        return call.record.get("rung") or 0

    @display(description=_("attempt"))
    def attempt(self, call: Call) -> int:
        return call.record.get("attempt") or 1

    @display(description=_("seconds"), ordering="latency")
    def seconds(self, call: Call) -> str:
        return f"{call.record.get('latency') or 0:.2f}"

    @display(description=_("input / output tokens"))
    def tokens(self, call: Call) -> str:
        input_tokens, output_tokens = call.record.get("input_tokens"), call.record.get("output_tokens")
        return "–" if input_tokens is None and output_tokens is None else f"{input_tokens or 0} / {output_tokens or 0}"

    @display(description=_("cost"), ordering="cost")
    def cost_in_dollars(self, call: Call) -> str:
        return "–" if call.cost is None else f"${call.cost:,.4f}"

    @display(description=_("outcome"), ordering="outcome", label=COLOURS)
    def outcome_label(self, call: Call) -> tuple[str, str]:
        outcome = outcome_of(call.record.get("error"), call.record.get("problem"))
        return outcome.value, str(outcome.label)
