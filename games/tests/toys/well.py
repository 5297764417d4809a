"""Well: one seat pumps water period by period from a well of unknown flow; it can measure it and take notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Annotated, Any

from pydantic import Field

from games.examples import Examples
from games.interface import (
    Chance,
    Chart,
    Config,
    Form,
    Game,
    Json,
    Move,
    MoveData,
    MoveWarning,
    Payoffs,
    Role,
    Said,
    Series,
    Talk,
    Text,
    Tool,
    Turn,
    View,
    Words,
)
from games.results import Row, Share, column


class WellConfig(Config):
    periods: Annotated[int, Field(ge=1, le=300)] = 100
    highest_flow: Annotated[int, Field(ge=1)] = 20


class Pump(Move):
    amount: Annotated[int, Field(ge=0)]


class Note(Move):
    note: Annotated[Words, Field(max_length=200)]


class Plan(Move):
    plan: Annotated[Words, Field(max_length=200)]


class Nothing(Move):
    pass


class Period(Move):
    period: Annotated[int, Field(ge=1)]


@dataclass(frozen=True)
class State:
    flow: int
    yields: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


def _random(game: Well, state: State, role: Role, rng: Random) -> MoveData:
    if rng.random() < 0.2 and len(state.notes) < 50:
        return {"note": f"got {state.yields[-1:]}"}
    return {"amount": rng.randint(0, 2 * game.config.highest_flow)}


def _cautious(game: Well, state: State, role: Role, rng: Random) -> MoveData:
    return {"amount": 1}


class Well(Game[WellConfig, State]):
    key = "well"
    title = "Well"
    summary = "Pump as much as the well gives, but no more."
    rules_version = 1
    scripts = {"random": _random, "cautious": _cautious}
    move_types = (Pump, Note, Plan)

    class Results(Row):
        score: Share = column("The yield, of what flowed in.")

    def roles(self) -> tuple[Role, ...]:
        return ("keeper",)

    def role_title(self, role: Role) -> str:
        return "Keeper"

    def remembers(self, role: Role) -> bool:
        return False

    def text_variables(self, role: Role) -> Mapping[str, Any]:
        return {"periods": self.config.periods}

    @classmethod
    def instruction_template(cls) -> str:
        return "Pump for {{ periods }} periods. If you pump more than flows in, you get nothing."

    def setup(self, chance: Chance) -> State:
        return State(chance.draw("flow", lambda rng: rng.randint(1, self.config.highest_flow), known_to=[]))

    def turn(self, state: State) -> Turn | None:
        if len(state.yields) == self.config.periods:
            return None
        note = Form("note", "Keep a note", Note, ends_turn=False)
        plan = Form("plan", "Plan ahead", Plan, ends_turn=False, on_request=True)
        return Turn({"keeper": (Form("pump", "Pump", Pump), note, plan)})

    def apply(self, state: State, moves: Mapping[Role, Any], chance: Chance) -> State:
        move = moves["keeper"]
        if isinstance(move, Note):
            return replace(state, notes=(*state.notes, move.note))
        if isinstance(move, Plan):
            return state
        return replace(state, yields=(*state.yields, move.amount if move.amount <= state.flow else 0))

    def default(self, state: State, role: Role) -> MoveData:
        return {"amount": 0}

    def forfeit(self, state: State, role: Role) -> MoveData | None:
        return {"amount": 0}

    def warning(self, state: State, role: Role, move: Any) -> MoveWarning | None:
        if isinstance(move, Pump) and move.amount > self.config.highest_flow:
            return MoveWarning("The well never gives as much.", may_send=move.amount <= 2 * self.config.highest_flow)
        return None

    def view(self, state: State, role: Role) -> View:
        points = tuple((float(number), float(litres)) for number, litres in enumerate(state.yields, start=1))
        return (
            Text("period", f"Period {len(state.yields) + 1}"),
            Chart("yields", "Yields", "Period", "Litres", (Series("you", points),), mark=float(len(state.yields))),
            Talk("notes", "Your notes", tuple(Said("you", note) for note in state.notes)),
        )

    def notices(self, before: State, moves: Mapping[Role, Any], after: State, role: Role) -> View:
        if before.yields == after.yields:
            return ()
        return (Text("yield", f"You got {after.yields[-1]}."),)

    def payoffs(self, state: State) -> Payoffs:
        return {"keeper": float(sum(state.yields))}

    def metrics(self, state: State) -> Row:
        return self.Results(score=sum(state.yields) / (state.flow * self.config.periods))

    def bonus_share(self, role: Role, payoff: float) -> float:
        return min(1.0, max(0.0, payoff / (self.config.periods * self.config.highest_flow)))

    def tools(self, state: State, role: Role) -> tuple[Tool, ...]:
        def yield_of(arguments: Period) -> Json:
            past = state.yields
            return past[arguments.period - 1] if arguments.period <= len(past) else None

        return (
            Tool("get_yields", "All yields so far.", Nothing, lambda _arguments: list(state.yields), block="yields"),
            Tool("get_yield", "The yield of one period, null if it has not been.", Period, yield_of),
            Tool("get_period_number", "The current period.", Nothing, lambda _arguments: len(state.yields) + 1),
            Tool("read_notes", "Your notes.", Nothing, lambda _arguments: list(state.notes), block="notes"),
        )


EXAMPLES = Examples(
    configs=[{"periods": 5}],
    reveals=lambda game, before, moves, after, role: before.yields != after.yields,
)
