"""The attention check and the quizzes before and after the game as steps of a participant's path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from django.dispatch import receiver
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

import games.play
from checks import code_word
from checks.models import Verdict
from checks.rules_text import part_about
from games import registry
from games.interface import Question
from participants import services as people
from participants.markdown import to_html
from participants.models import Enrolment
from participants.signals import explaining
from participants.states import State
from participants.steps import Step, StepRefused, register, told_pay
from plans.stages import place_of

CHECKS_OF_STEPS = {"instructions": "code_word", "comprehension": "comprehension", "quiz": "quiz"}
"""The check made by each kind of step."""


def _place_of(step: Mapping[str, Any]) -> str:
    """Return the name of the stage with its pass."""
    return place_of(step.get("stage", ""), step.get("passes", ()))


class _GameStep(Step):
    """Base class of steps about the participant's game; a step has {game, config, role, texts, stage}."""

    def game(self):
        amounts = self.step.get("texts", {}).get("amounts", "dollars")
        return games.play.configure(registry.get(self.step["game"]), self.step["config"], amounts=amounts)

    def instructions(self, template: str | None) -> str:
        """Return a text about the game, by default its instructions, as Markdown for this participant's role."""
        seated = all(step["kind"] != "lobby" for _position, step in people.remaining(self.enrolment))
        return self.game().instructions(self.step["role"], template, seated=seated)

    def judge(self, *, shown: Any, tries: list[Any], passed: bool, failing: State | None) -> None:
        """Store the verdict; a failed check ends the enrolment in the state `failing`, if there is one."""
        verdict = Verdict(
            enrolment=self.enrolment,
            check_name=CHECKS_OF_STEPS[self.kind],
            stage=_place_of(self.step),
            shown=shown,
            answered=tries[-1],
            passed=passed,
            tries=tries,
        )
        Verdict.objects.bulk_create([verdict], ignore_conflicts=True)  # only the first verdict counts
        if not passed and failing is not None:
            people.end(self.enrolment, failing)


@register
class Instructions(_GameStep):
    """The instructions, with the code word hidden in them.

    The step's data may add `code_word` ({tries}; none: no code word) and `examples` (Markdown, a template like the
    instructions). Wrong words are kept in `typed`.
    """

    kind = "instructions"
    title = _("How the game works")
    kept = True
    template = "participants/instructions.html"
    state = State.CONSENTED
    done_state = State.INSTRUCTED

    def context(self) -> dict[str, Any]:
        text = self.instructions(self.step.get("texts", {}).get("instructions"))
        asks_code_word = bool(self.step.get("code_word"))
        if asks_code_word:
            text = code_word.hide(text, self.enrolment.code_word)
        examples = self.step.get("examples", "")
        following = next((step["kind"] for _position, step in people.remaining(self.enrolment)), "")
        return {
            "text": to_html(text),
            "examples": to_html(self.instructions(examples)) if examples else "",
            "asks_code_word": asks_code_word,
            "tries": self._tries_left() if asks_code_word else 0,
            "tried": len(self.step.get("typed", ())),
            "starts": following in ("lobby", "match"),
            "about": told_pay(self.step),
        }

    def _tries_left(self) -> int:
        return int(self.step["code_word"]["tries"]) - len(self.step.get("typed", ()))

    def answer(self, data: Mapping[str, str]) -> None:
        if not self.step.get("code_word"):
            return
        typed = data.get("code_word", "").replace("\x00", "").strip()[:100]
        if not typed:
            raise StepRefused({"code_word": _("Please enter the word that the instructions ask you to remember.")})
        earlier, word = list(self.step.get("typed", ())), self.enrolment.code_word
        words, passed = [*earlier, typed], code_word.matches(typed, word)
        if earlier and not passed and data.get("tried", str(len(earlier))) != str(len(earlier)):
            raise StepRefused(self._wrong(earlier[-1]))  # sent twice: only the first one counts
        if not passed and self._tries_left() > 1:
            self.step = {**self.step, "typed": words}
            raise StepRefused(self._wrong(typed), stored={"typed": words})
        self.judge(shown=word, tries=words, passed=passed, failing=State.FAILED_CODE_WORD)
        self._ask_no_more()

    def _wrong(self, typed: str) -> dict[str, str]:
        left = self._tries_left()
        reason = ngettext(
            "“{typed}” is not the right word. You can find it in the text above. You have one more try.",
            "“{typed}” is not the right word. You can find it in the text above. You have {left} more tries.",
            left,
        )
        return {"code_word": reason.format(typed=typed[:40], left=left)}

    def _ask_no_more(self) -> None:
        """Take the code word out of later instructions, which ask for it if a condition leaves the earlier ones out."""
        position, steps = self.enrolment.position, self.enrolment.steps
        later = [{**step, "code_word": None} if step.get("code_word") else step for step in steps[position + 1 :]]
        if later != steps[position + 1 :]:
            self.enrolment.steps = [*steps[: position + 1], *later]


@dataclass(frozen=True)
class Asked:
    """A question with its options in this participant's order."""

    key: str
    text: str
    options: list[str]
    answer: str
    explanation: str = ""


def _as_asked(questions: Iterable[Question]) -> Iterator[Asked]:
    for question in questions:
        options = [gettext(option) for option in question.options]
        prompt, answer, explanation = map(gettext, (question.prompt, question.answer, question.explanation))
        yield Asked(question.key, prompt, options, answer, explanation)


class _Quizzing(_GameStep):
    """Base class of steps that ask about the game."""

    def questions(self) -> Iterator[Asked]:
        """Yield the questions with their options in this participant's order."""
        for asked in self._asked():
            Random(f"{self.enrolment.seed}/{asked.key}").shuffle(asked.options)
            yield asked

    def _asked(self) -> Iterator[Asked]:
        """Yield the questions with their options in the game's own order."""
        raise NotImplementedError

    def chosen(self, questions: list[Asked], data: Mapping[str, str]) -> dict[str, str]:
        """Return the chosen options by question.

        Raises:
            StepRefused: a question was not answered.
        """
        missing = {
            asked.key: _("Please choose one answer.") for asked in questions if data.get(asked.key) not in asked.options
        }
        if missing:
            raise StepRefused(missing)
        return {asked.key: data[asked.key] for asked in questions}


def _as_shown(questions: list[Asked]) -> dict[str, Any]:
    return {asked.key: {"question": asked.text, "options": asked.options} for asked in questions}


@register
class Comprehension(_Quizzing):
    """Questions about the rules before the game; those that were missed are explained and asked again.

    The step's data add `questions` ({text, options, answer, explanation} each; none: the game's own), `tries`,
    and `failed`: whether the last wrong try lets the participant "continue" or "end"s the study. Earlier tries are
    kept in `tried`.
    """

    kind = "comprehension"
    title = _("Do you know the rules?")
    template = "participants/comprehension.html"
    state = State.INSTRUCTED

    def _asked(self) -> Iterator[Asked]:
        own = self.step.get("questions")
        if own is None:
            yield from _as_asked(self.game().comprehension(self.step["role"]))
            return
        for number, asked in enumerate(own, start=1):
            options = list(asked["options"])
            yield Asked(f"q{number}", asked["text"], options, asked["answer"], asked.get("explanation", ""))

    @property
    def tried(self) -> list[dict[str, str]]:
        return list(self.step.get("tried", ()))

    def open_questions(self) -> list[Asked]:
        """Return the questions that have not been answered correctly."""
        right = {
            asked.key for asked in self.questions() for chosen in self.tried if chosen.get(asked.key) == asked.answer
        }
        return [asked for asked in self.questions() if asked.key not in right]

    def context(self) -> dict[str, Any]:
        rules = self.instructions(self.step.get("texts", {}).get("instructions"))
        last = self.tried[-1] if self.tried else {}
        return {
            "questions": [
                (
                    asked,
                    last.get(asked.key),
                    self.errors.get(asked.key),
                    self._explanation(asked, rules) if last else "",
                )
                for asked in self.open_questions()
            ],
            "rules": to_html(rules),
            "tried": len(self.tried),
            "tries": self.step["tries"] - len(self.tried),
            "ends": self.step["failed"] == "end",
        }

    def _explanation(self, asked: Asked, rules: str) -> str:
        return to_html(asked.explanation or part_about(rules, asked.text, asked.answer))

    def answer(self, data: Mapping[str, str]) -> None:
        if data.get("tried", str(len(self.tried))) != str(len(self.tried)):
            raise StepRefused({})  # sent twice: only the first one counts
        questions = self.open_questions()
        chosen = self.chosen(questions, data)
        tries = [*self.tried, chosen]
        passed = all(chosen[asked.key] == asked.answer for asked in questions)
        if not passed and len(tries) < self.step["tries"]:
            raise StepRefused(
                {"": _("Not every answer was right. Please read why, and answer again.")}, stored={"tried": tries}
            )
        self.judge(
            shown=_as_shown(list(self.questions())),
            tries=tries,
            passed=passed,
            failing=State.FAILED_COMPREHENSION if self.step["failed"] == "end" else None,
        )


@register
class Quiz(_Quizzing):
    """The game's quiz after it, answered once."""

    kind = "quiz"
    title = _("After the game")
    template = "participants/quiz.html"
    state = State.QUIZ
    required = False

    def _asked(self) -> Iterator[Asked]:
        return _as_asked(self.game().quiz(self.step["role"]))

    def context(self) -> dict[str, Any]:
        return {"questions": list(self.questions()), "stake": self.step.get("stake", "")}

    def answer(self, data: Mapping[str, str]) -> None:
        questions = list(self.questions())
        chosen = self.chosen(questions, data)
        passed = all(chosen[asked.key] == asked.answer for asked in questions)
        self.judge(shown=_as_shown(questions), tries=[chosen], passed=passed, failing=State.FAILED_QUIZ)


_EXPLAINED = {
    State.FAILED_CODE_WORD: Instructions.kind,
    State.FAILED_COMPREHENSION: Comprehension.kind,
    State.FAILED_QUIZ: Quiz.kind,
}
"""The kind of step that ended the study in each state."""


@receiver(explaining)
def explain_failed_checks(enrolment: Enrolment, **_signal: Any) -> list[dict[str, Any]]:
    """Explain a failed check: the question, the answer given and the correct answer."""
    kind = _EXPLAINED.get(State(enrolment.state))
    if kind is None:
        return []
    failed = enrolment.verdicts.filter(check_name=CHECKS_OF_STEPS[kind], passed=False)
    return [explanation for verdict in failed for explanation in _about(verdict, kind)]


def _about(verdict: Verdict, kind: str) -> Iterator[dict[str, Any]]:
    enrolment = verdict.enrolment
    if kind == Instructions.kind:
        lines = [(gettext("The word in the instructions"), verdict.shown), (gettext("You typed"), verdict.answered)]
        yield {"title": gettext("What happened"), "lines": lines}
        return
    steps = {_place_of(step): step for step in enrolment.steps if step["kind"] == kind}
    if verdict.stage not in steps:
        return
    for asked in (Quiz if kind == Quiz.kind else Comprehension)(enrolment, steps[verdict.stage]).questions():
        answered = verdict.answered.get(asked.key, asked.answer)  # what is not asked again was right before
        if answered != asked.answer:
            lines = [(gettext("Your answer"), answered), (gettext("Correct answer"), asked.answer)]
            yield {"title": asked.text, "lines": lines}
