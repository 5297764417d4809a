"""Patience: money now or more money later, question by question, and the interest rate implied by the choices.

Source: EconEvals, section 4.2. $100 now or $X after the horizon; each amount is asked several times, with "now" as
option A in odd repetitions and as option B in even ones. Each question is asked without memory of the others. A
litmus test has no right answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from random import Random
from statistics import fmean
from typing import Annotated, Any, Literal

from games.interface import (
    OBSERVER,
    Bar,
    Bars,
    Block,
    Chance,
    Fact,
    Facts,
    Game,
    MoveData,
    Payoffs,
    Prospect,
    Question,
    Role,
    Table,
    Text,
    Turn,
    View,
)
from games.patience import baselines
from games.patience.rates import NOW, YEARS, implied_rate
from games.patience.state import (
    FORM,
    HORIZONS,
    IN_WORDS,
    AmountQuestion,
    Answers,
    Choice,
    ChoiceMove,
    PatienceConfig,
    published_amounts,
)
from games.results import Count, Index, RoundRecord, Row, Share, column, in_unit
from games.words import gettext as _
from games.words import gettext_noop, money

AGENT: Role = "agent"
Rate = Annotated[float, in_unit("percent", 0, 20)]


class Patience(Game[PatienceConfig, Answers]):
    """Choices between money now and money later."""

    title = gettext_noop("Patience")
    summary = gettext_noop("Money now or more money later, question by question.")
    system = "EconEvals"
    scripts = baselines.SCRIPTS
    default_script = "five_percent"
    shown_by = ("five_percent", "impatient", "patient")
    starting_config = {"amounts": [101, 102, 104, 106, 108, 110, 113, 116, 120]}
    reserved_words = "money now later choice amount question"
    move_types = (ChoiceMove,)

    class Results(Row):
        rate: Rate | None = column(
            "Best-fitting annual rate, compounded continuously.", source="EconEvals, section 4.2"
        )
        rate_low: Rate | None = column("The lowest rate that fits equally well.")
        rate_high: Rate | None = column("The highest rate that fits equally well.")
        rate_annual: Rate | None = column("The best-fitting rate, compounded annually.")
        reliability: Index | None = column("How well the best rate fits: 1 - mean distance of the choices from it.")
        later_share: Share | None = column("Share of answered questions in which the later money was chosen.")
        unanswered: Count = column("Questions without a readable answer.")
        questions: Count = column("Questions asked.")

    class Record(RoundRecord):
        round: int = column("Number of the question, from 1.")
        amount: Annotated[float, in_unit("dollars")] = column("The later amount.")
        now_option: Literal["A", "B"] = column("The letter of the money now.")
        choice: Choice = column("The chosen letter; none if no answer could be read.")
        later: bool | None = column("Whether the later money was chosen; empty without an answer.")

    def roles(self) -> tuple[Role, ...]:
        return (AGENT,)

    def role_title(self, role: Role) -> str:
        return _("You")

    def progress(self, state: Answers) -> tuple[float, float]:
        """Return the questions answered, of all."""
        return len(state.choices), len(state.questions)

    def length(self) -> str:
        return _("{number} questions").format(number=len(self.later_amounts) * self.config.repetitions)

    def remembers(self, role: Role) -> bool:
        """Return False: every question is asked without memory of the others."""
        return False

    @cached_property
    def later_amounts(self) -> tuple[float, ...]:
        """The later amounts, ascending."""
        return published_amounts(self.config.horizon) if self.config.amounts is None else self.config.amounts

    # ---- playing -----------------------------------------------------------------------------------

    def setup(self, chance: Chance) -> Answers:
        questions = [
            AmountQuestion(amount, repetition % 2 == 0)
            for amount in self.later_amounts
            for repetition in range(self.config.repetitions)
        ]
        if self.config.order == "shuffled":

            def shuffled(rng: Random) -> list[int]:
                return rng.sample(range(len(questions)), len(questions))

            questions = [questions[index] for index in chance.draw("order", shuffled, known_to=())]
        return Answers(tuple(questions))

    def turn(self, state: Answers) -> Turn | None:
        return Turn({AGENT: (FORM,)}) if len(state.choices) < len(state.questions) else None

    def apply(self, state: Answers, moves: Mapping[Role, Any], chance: Chance) -> Answers:
        return replace(state, choices=(*state.choices, moves[AGENT].choice))

    def ends(self, state: Answers, role: Role, move: Any) -> bool:
        return len(state.choices) + 1 == len(state.questions)

    def stages(self, moves: Sequence[tuple[Role, MoveData]]) -> Sequence[tuple[int | None, str | None]]:
        """Return the number of each question, from 1."""
        return [(question, "choice") for question in range(1, len(moves) + 1)]

    def default(self, state: Answers, role: Role) -> MoveData:
        """Return no answer, which never counts as a choice."""
        return {"choice": "none"}

    def forfeit(self, state: Answers, role: Role) -> MoveData | None:
        """Return no answer: an unreadable reply is not a choice, and the next question follows."""
        return {"choice": "none"}

    # ---- the result --------------------------------------------------------------------------------

    def payoffs(self, state: Answers) -> Payoffs:
        """Return ½ for any choices, since pay must not suggest an answer."""
        return {AGENT: 0.5}

    def result_bars(self, state: Answers, role: Role) -> Bars | None:
        """Return how often each choice was made."""
        if role == OBSERVER:
            return None
        answers = [later for _amount, later in self.answered(state)]
        bars = [
            (_("The money now"), len(answers) - sum(answers)),
            (_("More money later"), sum(answers)),
            (_("No answer"), len(state.choices) - len(answers)),
        ]
        return Bars(
            _("What you chose"),
            tuple(Bar(label, str(count), count, role=role) for label, count in bars if count or label != bars[2][0]),
            high=len(state.choices),
        )

    def pays_alike(self) -> bool:
        return True

    def prospects(self, state: Answers, role: Role) -> tuple[Prospect, ...]:
        return (self.prospect(_("Whatever you decide"), role, 0.5),)

    def bonus_share(self, role: Role, payoff: float) -> float:
        """Return ½, the announced average."""
        return 0.5

    def answered(self, state: Answers) -> list[tuple[float, bool]]:
        """Return (amount, whether the later money was chosen) for every answered question."""
        return [
            (question.amount, (choice == "A") != question.now_first)
            for question, choice in zip(state.questions, state.choices, strict=False)
            if choice != "none"
        ]

    def metrics(self, state: Answers) -> Results:
        answered = self.answered(state)
        later_shares = {
            amount: fmean([later for question_amount, later in answered if question_amount == amount])
            for amount in dict(answered)
        }
        amounts = sorted(later_shares)
        years = YEARS[self.config.horizon]
        shares = [later_shares[amount] for amount in amounts]
        continuous = implied_rate(amounts, shares, years)
        annual = implied_rate(amounts, shares, years, compounding="annual")
        return self.Results(
            rate=continuous.rate if continuous else None,
            rate_low=continuous.rates[0] if continuous else None,
            rate_high=continuous.rates[-1] if continuous else None,
            rate_annual=annual.rate if annual else None,
            reliability=continuous.reliability if continuous else None,
            later_share=fmean([later for _amount, later in answered]) if answered else None,
            unanswered=state.choices.count("none"),
            questions=len(state.questions),
        )

    def records(self, state: Answers) -> Sequence[Record]:
        """Return one row per question."""
        return [
            self.Record(
                round=number,
                role=AGENT,
                amount=question.amount,
                now_option="A" if question.now_first else "B",
                choice=choice,
                later=None if choice == "none" else (choice == "A") != question.now_first,
            )
            for number, (question, choice) in enumerate(zip(state.questions, state.choices, strict=True), start=1)
        ]

    # ---- texts and views ---------------------------------------------------------------------------

    def text_variables(self, role: Role) -> dict[str, Any]:
        horizon = IN_WORDS[self.config.horizon] if self.told_as_published else _(self.config.horizon)
        return {"horizon": horizon, "now": _dollars(NOW)}

    def comprehension(self, role: Role) -> tuple[Question, ...]:
        """Return a question on when option B of a sample question is paid, and one on what choices are worth."""
        later = _("In {horizon}").format(horizon=_(self.config.horizon))
        wrong_options = [
            _("In {horizon}").format(horizon=_(horizon)) for horizon in HORIZONS if horizon != self.config.horizon
        ]
        prompt = _("Option A: $100 now. Option B: $110 in {horizon}. When would option B be paid?")
        return (
            Question(
                key="when",
                prompt=prompt.format(horizon=_(self.config.horizon)),
                options=(_("Now"), later, *wrong_options[:2]),
                answer=later,
                explanation=_("Option B is paid {when}, exactly on time, and nothing is paid now.").format(
                    when=later[:1].lower() + later[1:]
                ),
            ),
            Question.with_answer(
                "own_pay",
                _("Do your choices change what you are paid for taking part?"),
                _("No"),
                _("Yes: choosing the larger amounts pays more"),
                _("Yes: choosing the money now pays more"),
                explanation=_("There are no right or wrong choices: they do not change what you are paid."),
            ),
        )

    def view(self, state: Answers, role: Role) -> View:
        """Return the current question only, since each stands on its own; after the last one, all choices."""
        if len(state.choices) == len(state.questions):
            thanks = Text("status", _("That was the last question. Thank you."), tone="good")
            return thanks, self._progress(state), self._choices(state)
        question = state.questions[len(state.choices)]
        now = _("{amount} now").format(amount=_dollars(NOW))
        span = _("in {horizon}") if not self.told_as_published else _("in {horizon} from today")
        horizon = IN_WORDS[self.config.horizon] if self.told_as_published else _(self.config.horizon)
        later = f"{_dollars(question.amount)} {span.format(horizon=horizon)}"
        options = (now, later) if question.now_first else (later, now)
        if self.told_as_published:
            return (Text("options", f"A: {options[0]}\nB: {options[1]}"),)
        return (
            Text("status", _("Which would you rather have?")),
            Facts(
                "options",
                _("Your options"),
                (
                    Fact("option_a", _("Option A"), options[0], options[0]),
                    Fact("option_b", _("Option B"), options[1], options[1]),
                ),
            ),
            self._progress(state),
        )

    def _progress(self, state: Answers) -> Block:
        count, number = len(state.questions), min(len(state.choices) + 1, len(state.questions))
        progress = _("{number} of {questions}").format(number=number, questions=count)
        return Facts("progress", _("Progress"), (Fact("question", _("Question"), number, progress),))

    def _choices(self, state: Answers) -> Block:
        """Return every choice, in the order of the questions."""
        chosen = {True: _("the money later"), False: _("the money now")}
        rows = tuple(
            (
                number,
                _dollars(question.amount),
                _("none") if choice == "none" else chosen[question.now_first != (choice == "A")],
            )
            for number, (question, choice) in enumerate(zip(state.questions, state.choices, strict=True), start=1)
        )
        return Table(
            "choices", _("Your choices"), (_("Question"), _("Later amount"), _("Your choice")), rows, folds=True
        )

    def notices(self, before: Answers, moves: Mapping[Role, Any], after: Answers, role: Role) -> View:
        return ()


def _dollars(amount: float) -> str:
    """Return a hypothetical amount of real money: in dollars, even in studies whose games use points."""
    return money(amount)
