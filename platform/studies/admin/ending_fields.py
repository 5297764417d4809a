"""What each ending pays, as fields of the set-up form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget

from payouts.rules import CAN_PAY, ENDINGS_PAY

PREFIX = "ending_"
_PAYS = {
    "nothing": _("nothing"),
    "base": _("base pay"),
    "base_and_average": _("base pay and the announced average bonus"),
    "base_and_bonus": _("base pay and the bonus of the game that was played"),
}
_WHEN = {
    "failed_code_word": _("A wrong code word"),
    "failed_quiz": _("A wrong answer to the quiz"),
    "opponent_failed": _("The opponent fails"),
    "partner_left": _("Another person leaves"),
    "no_partner": _("Too few people come"),
    "replaced": _("An agent takes the seat"),
    "screened_out": _("An answer ends the study"),
    "timed_out": _("A turn runs out of time"),
    "dropped_out": _("Somebody stays away too long"),
    "withdrew": _("Somebody leaves"),
}


def blanks_of_endings(chosen: Mapping[str, str]) -> dict[str, forms.ChoiceField]:
    """A field for each ending that can be chosen, by its name in the form, showing what the study has `chosen`."""
    return {
        PREFIX + ending: forms.ChoiceField(
            label=_WHEN[ending],
            choices=[(pays, _PAYS[pays]) for pays in can_pay],
            initial=chosen.get(ending, ENDINGS_PAY[ending]),
            required=False,
            widget=UnfoldAdminSelectWidget(),
        )
        for ending, can_pay in CAN_PAY.items()
    }


def chosen_endings(cleaned: Mapping[str, Any]) -> dict[str, str]:
    """What differs from the usual, by ending; a field that was not sent leaves the usual."""
    sent = {ending: cleaned.get(PREFIX + ending) or ENDINGS_PAY[ending] for ending in CAN_PAY}
    return {ending: pays for ending, pays in sent.items() if pays != ENDINGS_PAY[ending]}
