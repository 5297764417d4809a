"""The rules of line-ups in words, for people who choose one."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

RULES: Mapping[str, str | Promise] = {
    "product": _("everybody against everybody, in every order"),
    "combinations": _("every combination, whatever the order of the seats"),
    "subsets": _("every choice of different agents"),
    "each": _("each agent alone in all free seats"),
    "together": _("all agents together, one in each seat"),
    "population": _("all agents, each once in every position"),
    "listed": _("written by hand"),
}
