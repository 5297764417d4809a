"""The set-up form's fields for what each ending pays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget

from plans.pay import CAN_PAY, ENDINGS_PAY

PREFIX = "ending_"
_PAY_LABELS = {
    "nothing": _("nothing"),
    "base_after_half": _("base pay once half of the game was played"),
    "base": _("base pay"),
    "base_and_average": _("base pay and the announced average bonus"),
    "base_and_bonus": _("base pay and the bonus earned in the match"),
}
_ENDING_LABELS = {
    "failed_code_word": _("Wrong code word"),
    "failed_comprehension": _("Fails the comprehension quiz"),
    "failed_quiz": _("Wrong quiz answer"),
    "opponent_failed": _("Opponent fails"),
    "our_outage": _("Our server is unavailable"),
    "partner_left": _("Another participant leaves"),
    "no_partner": _("Too few participants arrive"),
    "replaced": _("An agent takes over the seat"),
    "screened_out": _("Screened out by an answer"),
    "timed_out": _("Turn times out"),
    "dropped_out": _("Dropped out"),
    "withdrew": _("Withdrew"),
}


def ending_form_fields(chosen: Mapping[str, str]) -> dict[str, forms.ChoiceField]:
    """Return a form field for each ending whose pay can be set, showing the values in `chosen`."""
    return {
        PREFIX + ending: forms.ChoiceField(
            label=_ENDING_LABELS[ending],
            choices=[(pay, _PAY_LABELS[pay]) for pay in options],
            initial=chosen.get(ending, ENDINGS_PAY[ending]),
            required=False,
            widget=UnfoldAdminSelectWidget(),
        )
        for ending, options in CAN_PAY.items()
    }


def chosen_endings(cleaned: Mapping[str, Any]) -> dict[str, str]:
    """Return the endings whose pay differs from the default; a missing field means the default."""
    chosen = {ending: cleaned.get(PREFIX + ending) or ENDINGS_PAY[ending] for ending in CAN_PAY}
    return {ending: pay for ending, pay in chosen.items() if pay != ENDINGS_PAY[ending]}
