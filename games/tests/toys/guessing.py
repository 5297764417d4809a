"""Guessing: n seats choose a number at once, run after run; the seat closest to a share of the mean wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from statistics import fmean
from typing import Annotated, Any

from pydantic import Field

from games.interface import (
    Chance,
    Config,
    Fact,
    Facts,
    Form,
    Game,
    Move,
    MoveData,
    Payoffs,
    Question,
    Role,
    Table,
    Text,
    Turn,
    View,
)
from games.results import Ratio, Row, column
from games.scripts import random_move
from games.words import percent


class GuessingConfig(Config):
    players: Annotated[int, Field(ge=2, le=10)] = 3
    upper: Annotated[float, Field(gt=0)] = 100.0
    fraction: Annotated[float, Field(gt=0, lt=1)] = 0.5
    runs: Annotated[int, Field(ge=1, le=20)] = 3
    show_history: bool = True


class Guess(Move):
    answer: Annotated[float, Field(ge=0, title="Your number")]


@dataclass(frozen=True)
class State:
    answers: tuple[dict[str, float], ...] = ()


def _zero(game: Guessing, state: State, role: Role, rng: Random) -> MoveData:
    return {"answer": 0.0}


class Guessing(Game[GuessingConfig, State]):
    key = "guessing"
    title = "Guessing"
    summary = "Everybody names a number; the closest to a share of the mean wins."
    rules_version = 1
    scripts = {"random": random_move, "zero": _zero}
    move_types = (Guess,)

    class Results(Row):
        mean_of_last_run: Ratio = column("Mean number.")
        fraction: str = column("The share of the mean, as text.")

    def roles(self) -> tuple[Role, ...]:
        return tuple(f"player_{number}" for number in range(1, self.config.players + 1))

    def role_title(self, role: Role) -> str:
        return role.replace("_", " ").capitalize()

    def text_variables(self, role: Role) -> Mapping[str, Any]:
        return {"upper": self.config.upper, "fraction": self.config.fraction, "runs": self.config.runs}

    @classmethod
    def instruction_template(cls) -> str:
        return "Name a number from 0 to {{ upper }}. The closest to {{ fraction|percent }} of the mean wins."

    def comprehension(self, role: Role) -> tuple[Question, ...]:
        return (
            Question(
                "runs",
                "How often do you play?",
                tuple(str(self.config.runs + i) for i in range(3)),
                str(self.config.runs),
                "The rules say how often.",
            ),
        )

    def turn(self, state: State) -> Turn | None:
        if len(state.answers) == self.config.runs:
            return None
        return Turn(dict.fromkeys(self.roles(), (Form("guess", "Name a number", Guess),)))

    def refuse(self, state: State, role: Role, move: Guess) -> str | None:
        return f"At most {self.config.upper:g}." if move.answer > self.config.upper else None

    def apply(self, state: State, moves: Mapping[Role, Guess], chance: Chance) -> State:
        return replace(state, answers=(*state.answers, {role: moves[role].answer for role in self.roles()}))

    def default(self, state: State, role: Role) -> MoveData:
        return {"answer": 0.0}

    def view(self, state: State, role: Role) -> View:
        run = Text("run", f"Run {min(len(state.answers) + 1, self.config.runs)} of {self.config.runs}.")
        if not self.config.show_history:
            return (run,)
        rows = tuple(tuple(answers.values()) for answers in state.answers)
        return run, Table("history", "Answers", tuple(map(self.role_title, self.roles())), rows)

    def notices(self, before: State, moves: Mapping[Role, Guess], after: State, role: Role) -> View:
        if not self.config.show_history:
            return (Text("done", "The run is over."),)
        facts = (Fact(mover, self.role_title(mover), move.answer, f"{move.answer:g}") for mover, move in moves.items())
        return (Facts("answers", "Answers of this run", tuple(facts)),)

    def payoffs(self, state: State) -> Payoffs:
        points = dict.fromkeys(self.roles(), 0.0)
        for answers in state.answers:
            target = self.config.fraction * fmean(answers.values())
            distance = min(abs(answer - target) for answer in answers.values())
            winners = [role for role, answer in answers.items() if abs(answer - target) <= distance + 1e-9]
            for role in winners:
                points[role] += 1 / len(winners)
        return points

    def metrics(self, state: State) -> Row:
        mean = fmean(state.answers[-1].values())
        return self.Results(mean_of_last_run=mean, fraction=percent(self.config.fraction))

    def bonus_share(self, role: Role, payoff: float) -> float:
        return min(1.0, max(0.0, payoff / self.config.runs))
