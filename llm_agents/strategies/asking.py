"""How a study asks its models, apart from the order of the messages: wording, persona, full or short forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from games.interface import Fact, Facts, Form, Role, Text, View
from games.play import Play
from llm_agents.parsing import as_asked
from llm_agents.prompting import ABOUT_WORDS, format_help, render, task
from llm_agents.strategies.prompts import (
    PLAIN,
    REASONED,
    CorrectionVariables,
    Prompts,
    QuestionVariables,
    SystemVariables,
    filled,
)

COUNTERS = ("round", "period", "run")
"""Keys under which games show where they stand."""


@dataclass(frozen=True)
class Asking:
    """The wording of one study.

    Attributes:
        template: the study's own instruction text, or None.
        persona: who the model is to be, or nothing.
        prompts: the study's own texts around rules and questions.
        short: ask for short forms, where there are any.
        reasons: ask for step-by-step reasoning before the move.
    """

    template: str | None = None
    persona: str = ""
    prompts: Prompts = field(default_factory=Prompts)
    short: bool = False
    reasons: bool = False

    def text(self, name: str) -> str:
        """The template in force: the study's own, or the strategy's."""
        own: str | None = getattr(self.prompts, name)
        if own is not None:
            return own
        usual: str = getattr(REASONED if self.reasons else PLAIN, name)
        return usual

    def system(self, play: Play, role: Role) -> str:
        """The rules, and what the marks around players' words mean."""
        written = filled("system", self.text("system"), SystemVariables(**self._common(play, role)))
        return f"{written}\n\n{ABOUT_WORDS}"

    def question(self, play: Play, role: Role, forms: Sequence[Form], view: View, news: str) -> str:
        """What is asked now, after what is new."""
        return filled(
            "question",
            self.text("question"),
            QuestionVariables(**self._common(play, role), **self._now(forms, view), news=news),
        )

    def correction(self, play: Play, role: Role, reason: str) -> str:
        """What is said about an answer that was no legal move."""
        view = play.view(role)
        variables = CorrectionVariables(
            **self._common(play, role), **self._now(play.forms(role), view), news=render(view), reason=reason
        )
        return filled("correction", self.text("correction"), variables)

    def _common(self, play: Play, role: Role) -> dict[str, Any]:
        return {
            "game": play.game.title,
            "role": play.game.role_title(role),
            "persona": self.persona.strip(),
            "rules": play.game.instructions(role, self.template).strip(),
        }

    def _now(self, forms: Sequence[Form], view: View) -> dict[str, Any]:
        asked = as_asked(forms) if self.short else forms
        return {
            "round": round_words(view),
            "known": render(view),
            "question": task(asked),
            "format_help": format_help(asked, reasons=self.reasons),
        }


def round_words(view: View) -> str:
    """Where the game stands, as its view says it; nothing where it does not say."""
    for block in view:
        if isinstance(block, Text) and block.key in COUNTERS:
            return block.body
        for fact in block.facts if isinstance(block, Facts) else ():
            if fact.key in COUNTERS and _by_the_house(fact):
                return fact.shown
    return ""


def _by_the_house(fact: Fact) -> bool:
    return isinstance(fact.value, str | int | float)
