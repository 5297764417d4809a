"""Everything: one seat fills in every kind of field that a form can have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import Field

from games.interface import Chance, Config, Form, Game, Move, MoveData, MoveWarning, Payoffs, Role, Text, Turn, View
from games.interface import Words as FreeText
from games.results import Row, column
from games.scripts import random_move


class EverythingConfig(Config):
    rounds: Annotated[int, Field(ge=1, le=5)] = 2
    planned: bool = False


class Point(Move):
    x: Annotated[int, Field(ge=-5, le=5)]
    label: FreeText | None = None


Fruit = Literal["apple", "pear", "fig"]


class All(Move):
    bid: Annotated[float | None, Field(ge=0, title="Your bid", json_schema_extra={"none": "Drop out"})]
    limit: Annotated[int | None, Field(gt=0, lt=10)] = 5
    agree: bool
    loud: bool = True
    sure: bool | None
    fruit: Fruit
    second: Fruit | None
    third: Fruit | None = "fig"
    level: Literal[1, 2, 3] = 1
    name: FreeText
    remark: Annotated[FreeText, Field(max_length=300)] | None = None
    three: Annotated[list[float], Field(min_length=3, max_length=3)]
    ranks: Annotated[list[Fruit | None], Field(max_length=3)]
    basket: Annotated[list[Fruit], Field(json_schema_extra={"uniqueItems": True})]
    numbers: list[int] = []
    words: list[FreeText] = []
    plan: dict[Fruit, Annotated[int, Field(ge=0)]]
    prices: dict[str, float] = {}
    point: Point
    home: Point | None = None
    board: dict[Literal["a", "b"], Point] = {}
    pair: tuple[int, bool]
    anything: int | FreeText
    points: list[Point] = []
    submission: dict[Fruit, bool] | FreeText


class Vote(Move):
    vote: bool


class Plan(Move):
    aim: FreeText


@dataclass(frozen=True)
class State:
    done: int = 0


class Everything(Game[EverythingConfig, State]):
    key = "everything"
    title = "Everything"
    summary = "One seat fills in every kind of field."
    rules_version = 1
    scripts = {"random": random_move}
    move_types = (All, Vote, Plan)

    class Results(Row):
        done: int = column("How often it was done.")

    def roles(self) -> tuple[Role, ...]:
        return ("clerk",)

    def role_title(self, role: Role) -> str:
        return "Clerk"

    def text_variables(self, role: Role) -> Mapping[str, Any]:
        return {}

    @classmethod
    def instruction_template(cls) -> str:
        return "Fill in everything."

    def on_pages(self) -> frozenset[str]:
        return frozenset({"plan"}) if self.config.planned else frozenset()

    def turn(self, state: State) -> Turn | None:
        if state.done == self.config.rounds:
            return None
        plan = Form("plan", "Your aim", Plan, ends_turn=False, on_request=True)
        return Turn({"clerk": (Form("all", "Everything", All), Form("vote", "Or vote", Vote), plan)})

    def apply(self, state: State, moves: Mapping[Role, Any], chance: Chance) -> State:
        return state if isinstance(moves["clerk"], Plan) else replace(state, done=state.done + 1)

    def default(self, state: State, role: Role) -> MoveData:
        return {"vote": True}

    def warning(self, state: State, role: Role, move: Any) -> MoveWarning | None:
        return MoveWarning("Nobody votes no.") if isinstance(move, Vote) and not move.vote else None

    def view(self, state: State, role: Role) -> View:
        return (Text("done", f"{state.done} done."),)

    def notices(self, before: State, moves: Mapping[Role, Any], after: State, role: Role) -> View:
        return ()

    def payoffs(self, state: State) -> Payoffs:
        return {"clerk": 0.0}

    def metrics(self, state: State) -> Row:
        return self.Results(done=state.done)

    def bonus_share(self, role: Role, payoff: float) -> float:
        return 0.5
