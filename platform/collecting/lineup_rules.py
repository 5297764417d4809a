"""The line-up rules as choices in a form."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

RULES: Mapping[str, str | Promise] = {
    "product": _("every agent against every other (and itself, if ticked below), in every order"),
    "combinations": _("every combination (of an agent with itself, too, if ticked below), ignoring the order of seats"),
    "subsets": _("every ordered choice of different agents"),
    "each": _("each agent alone in all free seats"),
    "together": _("all agents together, one per seat"),
    "population": _("all agents together, each once in every position"),
    "listed": _("custom line-ups"),
}
