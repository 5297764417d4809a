"""The checks as steps on a participant's way."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from django.utils.translation import gettext_lazy as _

import games.play
from checks import code_word
from checks.models import Verdict
from games import registry
from participants import services as people
from participants.markdown import to_html
from participants.states import State
from participants.steps import Step, StepRefused, register


class _AboutGame(Step):
    """A step that is about the game which the participant plays: {game, config, role, texts}."""

    def game(self):
        return games.play.configure(registry.get(self.step["game"]), self.step["config"])

    def judge(self, check: str, *, shown: Any, answered: Any, passed: bool, failing: State) -> None:
        """Write the verdict; failing ends the way."""
        Verdict.objects.get_or_create(
            enrolment=self.enrolment,
            check_name=check,
            defaults={"shown": shown, "answered": answered, "passed": passed},
        )
        if not passed:
            people.end(self.enrolment, failing)


@register
class Instructions(_AboutGame):
    """The rules, with the code word hidden in them. Adds to the step's data `code_word`: false to ask for none."""

    kind = "instructions"
    title = _("How the game works")
    template = "participants/instructions.html"
    state = State.CONSENTED
    done_state = State.INSTRUCTED

    def context(self) -> dict[str, Any]:
        text = self.game().instructions(self.step["role"], self.step.get("texts", {}).get("instructions"))
        asked = self.step.get("code_word", True)
        if asked:
            text = code_word.hide(text, self.enrolment.code_word)
        return {"text": to_html(text), "asks_code_word": asked, "name": self.enrolment.display_name, "about": self.step}

    def answer(self, data: Mapping[str, str]) -> None:
        if not self.step.get("code_word", True):
            return
        typed = data.get("code_word", "").replace("\x00", "").strip()[:100]
        if not typed:
            raise StepRefused({"code_word": _("Please type the word that the instructions ask you to remember.")})
        word = self.enrolment.code_word
        self.judge(
            "code_word",
            shown=word,
            answered=typed,
            passed=code_word.matches(typed, word),
            failing=State.FAILED_CODE_WORD,
        )


@register
class Quiz(_AboutGame):
    """The game's own questions, options shuffled once per participant."""

    kind = "quiz"
    title = _("One question")
    template = "participants/quiz.html"
    state = State.QUIZ

    def questions(self):
        """(question, options in this participant's order) for each question."""
        for question in self.game().quiz(self.step["role"]):
            options = list(question.options)
            Random(f"{self.enrolment.seed}/{question.key}").shuffle(options)
            yield question, options

    def context(self) -> dict[str, Any]:
        return {"questions": list(self.questions())}

    def answer(self, data: Mapping[str, str]) -> None:
        asked = list(self.questions())
        missing = {
            question.key: _("Please choose one answer.")
            for question, options in asked
            if data.get(question.key) not in options
        }
        if missing:
            raise StepRefused(missing)
        passed = all(data[question.key] == question.answer for question, _options in asked)
        self.judge(
            "quiz",
            shown={question.key: {"question": question.prompt, "options": options} for question, options in asked},
            answered={question.key: data[question.key] for question, _options in asked},
            passed=passed,
            failing=State.FAILED_QUIZ,
        )
