"""The first steps of every path: consent and choosing a name."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from participants.keeping import Own
from participants.markdown import to_html
from participants.signals import answers, returning_over_quota
from participants.states import State
from participants.steps import Step, StepRefused, register

NO_PLACE_LEFT = "full"
"""The error key of a refusal because no place is left."""
_ALLOWED_BETWEEN_LETTERS = frozenset(" .'’-")


@register
class Consent(Step):
    """The consent page.

    A step is {kind, text (Markdown), others: {told, words} about the other players, behaviour: the notice that page
    use is recorded, demo: whether this is a demonstration}; without the notice, nothing is recorded.
    """

    kind = "consent"
    title = _("Before you begin")
    kept = True
    template = "participants/consent.html"
    state = State.ARRIVED
    done_state = State.CONSENTED

    def context(self) -> dict[str, Any]:
        behaviour = self.step.get("behaviour", "")
        about_others = self.step.get("others", {}).get("words", "")
        return {
            "text": to_html(self.step["text"]),
            "others": "" if about_others in self.step["text"] else about_others,  # the default text already says this
            "behaviour": "" if behaviour in self.step["text"] else behaviour,
            "facts": self.step.get("facts", ()),
            "demo": self.step.get("demo", False),
            "return_instructions": next(answers(returning_over_quota, self.enrolment), None)
            if NO_PLACE_LEFT in self.errors
            else None,
        }

    def answer(self, data: Mapping[str, str]) -> None:
        if data.get("agree") != "yes":
            raise StepRefused(
                {"agree": _("To take part, please tick the box. If you don't want to, choose “Leave the study” below.")}
            )


@register
class Name(Step):
    """The page on which participants choose a name.

    A step is {kind, reserved: words that are not allowed as names, visible: whether the other players see the name}.
    """

    kind = "name"
    title = _("Your name in the game")
    kept = True
    template = "participants/name.html"
    state = State.CONSENTED

    def context(self) -> dict[str, Any]:
        return {"name": Own.of(self.enrolment.display_name), "shown": self.step.get("visible", False)}

    def answer(self, data: Mapping[str, str]) -> None:
        self.enrolment.display_name = checked_name(data.get("name", ""), reserved=self.step.get("reserved", ()))


def checked_name(name: str, *, reserved: tuple[str, ...] | list[str]) -> str:
    """Return the cleaned display name, one that can later be removed from messages without cutting other words.

    Raises:
        StepRefused: the name is too short, too long, not a name, or reserved by the game.
    """
    name = " ".join(name.split())
    if sum(map(str.isalpha, name)) < 2:
        raise StepRefused({"name": _("Please choose a name with at least two letters.")})
    if len(name) > 30:
        raise StepRefused({"name": _("Please choose a name with at most 30 characters.")})
    if not _looks_like_name(name):
        raise StepRefused(
            {"name": _("Please use only letters, spaces, periods, apostrophes and hyphens, and start with a letter.")}
        )
    if name.casefold() in {word.casefold() for word in reserved}:
        raise StepRefused({"name": _("That word is used by the game. Please choose another name.")})
    return name


def _looks_like_name(name: str) -> bool:
    """Return whether `name` is made of letters of any script, with spaces, periods, apostrophes and hyphens between."""
    kinds = [unicodedata.category(character)[0] for character in name]
    return kinds[0] == "L" and all(
        kind in "LM" or character in _ALLOWED_BETWEEN_LETTERS for kind, character in zip(kinds, name, strict=True)
    )
