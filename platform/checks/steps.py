"""The attention check and the quiz as steps of a participant's path."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

import games.play
from checks import code_word
from checks.models import Verdict
from games import registry
from participants import explaining
from participants import services as people
from participants.markdown import to_html
from participants.models import Enrolment
from participants.states import State
from participants.steps import Step, StepRefused, register


class _GameStep(Step):
    """Base class of steps about the participant's game; a step has {game, config, role, texts}."""

    def game(self):
        amounts = self.step.get("texts", {}).get("amounts", "dollars")
        return games.play.configure(registry.get(self.step["game"]), self.step["config"], amounts=amounts)

    def judge(self, check: str, *, shown: Any, answered: Any, passed: bool, failing: State) -> None:
        """Store the verdict; a failed check ends the enrolment."""
        verdict = Verdict(enrolment=self.enrolment, check_name=check, shown=shown, answered=answered, passed=passed)
        Verdict.objects.bulk_create([verdict], ignore_conflicts=True)  # only the first verdict counts
        if not passed:
            people.end(self.enrolment, failing)


@register
class Instructions(_GameStep):
    """The instructions, with the code word hidden in them.

    The step's data may add `code_word` (false: no code word) and `code_word_again` (true: a second try).
    """

    kind = "instructions"
    title = _("How the game works")
    template = "participants/instructions.html"
    state = State.CONSENTED
    done_state = State.INSTRUCTED

    def context(self) -> dict[str, Any]:
        text = self.game().instructions(
            self.step["role"],
            self.step.get("texts", {}).get("instructions"),
            seated=all(step["kind"] != "lobby" for step in self.enrolment.steps[self.enrolment.position :]),
        )
        asks_code_word = self.step.get("code_word", True)
        if asks_code_word:
            text = code_word.hide(text, self.enrolment.code_word)
        return {
            "text": to_html(text),
            "asks_code_word": asks_code_word,
            "tries": 2 if self._may_try_again() else 1,
            "name": self.enrolment.display_name,
            "about": self.step,
        }

    def _may_try_again(self) -> bool:
        return self.step.get("code_word_again", False) and not self.step.get("code_word_misses")

    def answer(self, data: Mapping[str, str]) -> None:
        if not self.step.get("code_word", True):
            return
        typed = data.get("code_word", "").replace("\x00", "").strip()[:100]
        if not typed:
            raise StepRefused({"code_word": _("Please enter the word that the instructions ask you to remember.")})
        word = self.enrolment.code_word
        if not code_word.matches(typed, word) and self._may_try_again():
            raise StepRefused(
                {
                    "code_word": _(
                        "“{typed}” is not the right word. You can find it in the text above. You have one more try."
                    ).format(typed=typed[:40])
                },
                stored={"code_word_misses": 1},
            )
        self.judge(
            "code_word",
            shown=word,
            answered=typed,
            passed=code_word.matches(typed, word),
            failing=State.FAILED_CODE_WORD,
        )


@register
class Quiz(_GameStep):
    """The game's quiz; the options are shuffled once per participant."""

    kind = "quiz"
    title = _("After the game")
    template = "participants/quiz.html"
    state = State.QUIZ
    required = False

    def questions(self):
        """Yield each question with its options in this participant's order."""
        for question in self.game().quiz(self.step["role"]):
            options = list(question.options)
            Random(f"{self.enrolment.seed}/{question.key}").shuffle(options)
            yield question, options

    def context(self) -> dict[str, Any]:
        return {"questions": list(self.questions()), "stake": self.step.get("stake", "")}

    def answer(self, data: Mapping[str, str]) -> None:
        questions = list(self.questions())
        missing = {
            question.key: _("Please choose one answer.")
            for question, options in questions
            if data.get(question.key) not in options
        }
        if missing:
            raise StepRefused(missing)
        passed = all(data[question.key] == question.answer for question, _options in questions)
        self.judge(
            "quiz",
            shown={question.key: {"question": question.prompt, "options": options} for question, options in questions},
            answered={question.key: data[question.key] for question, _options in questions},
            passed=passed,
            failing=State.FAILED_QUIZ,
        )


@explaining.register
def explain_failed_checks(enrolment: Enrolment) -> list[dict[str, Any]]:
    """Explain a failed check: the question, the answer given, the correct answer and the lost pay."""
    if enrolment.state == State.FAILED_CODE_WORD:
        return [_about_code_word(verdict) for verdict in enrolment.verdicts.filter(check_name="code_word")]
    if enrolment.state == State.FAILED_QUIZ:
        quizzes = enrolment.verdicts.filter(check_name="quiz")
        return [explanation for verdict in quizzes for explanation in _about_quiz(verdict)]
    return []


def _about_code_word(verdict: Verdict) -> dict[str, Any]:
    lines = [(gettext("The word in the instructions"), verdict.shown), (gettext("You typed"), verdict.answered)]
    return {"title": gettext("What happened"), "lines": lines}


def _about_quiz(verdict: Verdict) -> list[dict[str, Any]]:
    enrolment = verdict.enrolment
    quiz_step = next((step for step in enrolment.steps if step["kind"] == Quiz.kind), None)
    if quiz_step is None:
        return []
    lost_pay = (enrolment.earnings or {}).get("lost", "")
    explanations = []
    for question, _options in Quiz(enrolment, quiz_step).questions():
        answered = verdict.answered.get(question.key)
        if answered != question.answer:
            lines = [(gettext("Your answer"), answered), (gettext("Correct answer"), question.answer)]
            if lost_pay:
                lines.append((gettext("Pay you lost"), lost_pay))
            explanations.append({"title": question.prompt, "lines": lines})
    return explanations
