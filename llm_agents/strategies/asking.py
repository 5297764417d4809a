"""How a study asks its models, apart from the order of messages: wording, persona, full or short forms."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from games import texts
from games.interface import Fact, Facts, Form, Role, Text, View
from games.play import Play
from games.strategies import MOVE, Question, Remark, Strategy
from games.words import gettext as _
from llm_agents.parsing import last_object, shortened_forms, with_remarks
from llm_agents.prompting import ABOUT_MARKS, format_help, render, task
from llm_agents.settings import Settings
from llm_agents.strategies.prompts import (
    CorrectionVariables,
    QuestionVariables,
    SystemVariables,
    fill_in,
    persona_of,
    template_in_force,
)

COUNTERS = ("round", "period", "run")
"""Keys under which games show their progress."""


@dataclass(frozen=True)
class Asking:
    """The wording for one role at one point of a match.

    Attributes:
        settings: the study's persona, own texts around rules and questions, and choice of short forms.
        template: the study's own instruction text, or None.
        strategy: how the turn is worded for the model.
        question: the strategy's question being asked.
        reported: the model's own answer to an earlier question, which this one shows.
    """

    play: Play
    role: Role
    settings: Settings
    template: str | None
    strategy: Strategy
    question: Question = MOVE
    reported: str = ""

    def system(self) -> str:
        """Return the rules, and what the marks around players' words mean."""
        text, game = self._fill_in("system", SystemVariables(**self._common)), self.play.game
        return text if game.told_as_published and not game.players_write() else f"{text}\n\n{_(ABOUT_MARKS)}"

    def question_text(self, play: Play, forms: Sequence[Form], news: str) -> str:
        """Return the question asked at a point of the match where `forms` were open, after the news at that point."""
        variables = self._variables_at("question", play, forms)
        question_words = self.question.words(play.game, play.state, self.role) if self.question.words else ""
        news = "\n\n".join(part for part in (news, question_words) if part)
        return self._fill_in("question", QuestionVariables(**self._common, **variables, news=news))

    def forms(self, open_now: Sequence[Form]) -> tuple[Form, ...]:
        """Return the open forms that this question is about."""
        if self.question.form:
            return tuple(form for form in open_now if form.name == self.question.form)
        notes_too = not self.strategy.modules
        return tuple(
            form
            for form in open_now
            if (form.ends_turn or notes_too) and (not form.on_request or form.name in self.strategy.shows)
        )

    def remarks(self, play: Play) -> tuple[Remark, ...]:
        """Return the keys asked for beside the move."""
        if self.strategy.remarks is None or self.question.purpose != "move":
            return ()
        return self.strategy.remarks(play.game, play.state, self.role)

    def worded_forms(self, play: Play, open_now: Sequence[Form]) -> list[Form]:
        """Return the forms as the model is asked to fill them in: short ones, with remarks."""
        forms = self.forms(open_now)
        return with_remarks(shortened_forms(forms) if self.settings.short else forms, self.remarks(play))

    @property
    def stands_alone(self) -> bool:
        """Whether this is one of several questions, each preceded by what its strategy recalls."""
        return bool(self.strategy.modules)

    def news(self) -> str:
        """Return what is shown before a single question."""
        own_view = self.question.view
        news = render(
            self.play.view(self.role) if own_view is None else own_view(self.play.game, self.play.state, self.role)
        )
        if not self.reported or not self.play.game.told_as_published:
            return news
        report = {key: value for key, value in last_object(self.reported).items() if key != "reasoning"}
        return f"{_('Your status, as you reported it:')} {json.dumps(report, ensure_ascii=False)}\n\n{news}"

    def correction(self, reason: str) -> str:
        """Return the correction for an answer that was not a legal move."""
        variables = self._variables_at("correction", self.play, self.play.forms(self.role))
        news = render(self.play.view(self.role))
        return self._fill_in("correction", CorrectionVariables(**self._common, **variables, news=news, reason=reason))

    def _fill_in(self, name: str, variables: SystemVariables) -> str:
        return fill_in(name, self._template(name), variables)

    def _template(self, name: str) -> str:
        return template_in_force(name, self.settings, reasons=self.strategy.reasons)

    @cached_property
    def _common(self) -> dict[str, Any]:
        game = self.play.game
        return {
            "game": _(game.title),
            "role": game.role_title(self.role),
            "persona": persona_of(self.settings.persona, game=_(game.title), role=game.role_title(self.role)),
            "rules": game.instructions(self.role, self.template).strip(),
        }

    def _variables_at(self, name: str, play: Play, forms: Sequence[Form]) -> dict[str, Any]:
        """Return the variables at a point of the match; costly views are made only for a template that uses them."""
        worded_forms = self.worded_forms(play, forms)
        view = play.view(self.role) if texts.used_variables(self._template(name)) & {"round", "known"} else ()
        return {
            "round": round_words(view),
            "known": render(view),
            "question": task(worded_forms),
            "format_help": format_help(worded_forms, reasoning=self.strategy.reasons),
        }


def round_words(view: View) -> str:
    """Return the game's progress as its view shows it; empty if it does not."""
    for block in view:
        if isinstance(block, Text) and block.key in COUNTERS:
            return block.body
        for fact in block.facts if isinstance(block, Facts) else ():
            if fact.key in COUNTERS and _is_from_game(fact):
                return fact.shown
    return ""


def _is_from_game(fact: Fact) -> bool:
    return isinstance(fact.value, str | int | float)
