"""The first steps of every way: agreeing to take part, and choosing a name."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from participants.markdown import to_html
from participants.states import State
from participants.steps import Step, StepRefused, register

_BETWEEN = frozenset(" .'’-")


@register
class Consent(Step):
    """step: {kind, text (Markdown), others: {told, words} about the other players,
    behaviour: what is said of counting how pages are used by hand; without it that is not counted}.
    """

    kind = "consent"
    title = _("Before you begin")
    template = "participants/consent.html"
    state = State.ARRIVED
    done_state = State.CONSENTED

    def context(self) -> dict[str, Any]:
        behaviour = self.step.get("behaviour", "")
        others = self.step.get("others", {}).get("words", "")
        return {
            "text": to_html(self.step["text"]),
            "others": "" if others in self.step["text"] else others,  # the default text says it itself
            "behaviour": "" if behaviour in self.step["text"] else behaviour,
            "facts": self.step.get("facts", ()),
        }

    def answer(self, data: Mapping[str, str]) -> None:
        if data.get("agree") != "yes":
            raise StepRefused(
                {"agree": _("Please tick the box if you want to take part; otherwise leave the study below.")}
            )


@register
class Name(Step):
    """step: {kind, reserved: words that players' names must not be, shown: whether the other players read it}."""

    kind = "name"
    title = _("Your name in the game")
    template = "participants/name.html"
    state = State.CONSENTED

    def context(self) -> dict[str, Any]:
        return {"name": self.enrolment.display_name, "shown": self.step.get("shown", False)}

    def answer(self, data: Mapping[str, str]) -> None:
        self.enrolment.display_name = checked_name(data.get("name", ""), reserved=self.step.get("reserved", ()))


def checked_name(name: str, *, reserved: tuple[str, ...] | list[str]) -> str:
    """A display name that can later be cut out of messages without cutting other words.

    Raises:
        StepRefused: too short, too long, not a name, or one of the game's own words.
    """
    name = " ".join(name.split())
    if sum(map(str.isalpha, name)) < 2:
        raise StepRefused({"name": _("Please choose a name of at least two letters.")})
    if len(name) > 30:
        raise StepRefused({"name": _("Please choose a name of at most 30 letters.")})
    if not _reads_as_name(name):
        raise StepRefused(
            {"name": _("Please use letters only, beginning with one; spaces, points and hyphens may follow.")}
        )
    if name.casefold() in {word.casefold() for word in reserved}:
        raise StepRefused({"name": _("That word is used by the game itself; please choose another name.")})
    return name


def _reads_as_name(name: str) -> bool:
    """Letters of any script with their marks, beginning with a letter; spaces, points and hyphens between."""
    kinds = [unicodedata.category(sign)[0] for sign in name]
    return kinds[0] == "L" and all(kind in "LM" or sign in _BETWEEN for kind, sign in zip(kinds, name, strict=True))
