"""Pages of a researcher's own as steps of a participant's path."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from participants.markdown import to_html
from participants.states import State
from participants.steps import Step, StepRefused, register


@register
class Page(Step):
    """A page to read or watch.

    A step is {kind, name, title, text (Markdown), image, video, seconds, before_game}: `image` and `video` as in
    `Media.as_shown`, each optional; `seconds` is for how long the page stays at least. After the last game, people
    who leave without it have still finished.
    """

    kind = "page"
    template = "participants/page.html"
    kept = True

    @property
    def title(self) -> str | Promise:
        return self.step.get("title") or _("Please read this")

    @property
    def state(self) -> State:
        return State.CONSENTED if self.required else State.QUIZ

    @property
    def required(self) -> bool:
        return bool(self.step.get("before_game", True))

    def seconds_left(self) -> int:
        visit = self.enrolment.visit(self.enrolment.position)
        shown = (timezone.now() - visit.shown_at).total_seconds() if visit else 0.0
        return max(0, math.ceil(self.step.get("seconds", 0) - shown))

    def context(self) -> dict[str, Any]:
        return {
            "text": to_html(self.step.get("text", "")),
            "image": self.step.get("image"),
            "video": self.step.get("video"),
            "wait": self.seconds_left(),
        }

    def answer(self, data: Mapping[str, str]) -> None:
        if left := self.seconds_left():
            words = ngettext("You can continue in {left} second.", "You can continue in {left} seconds.", left)
            raise StepRefused({"": words.format(left=left)})
