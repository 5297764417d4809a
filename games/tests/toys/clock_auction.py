"""Clock auction: the price rises; each bidder knows only its own value; the last one to stay buys.

If the last bidders drop out together, a random draw decides which of them buys at the previous price.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Annotated, Any, Literal

from pydantic import Field

from games.examples import Examples, Pair
from games.interface import (
    Chance,
    Config,
    Fact,
    Facts,
    Form,
    Game,
    Message,
    Move,
    MoveData,
    Payoffs,
    Question,
    Role,
    Said,
    Talk,
    Text,
    Turn,
    View,
)
from games.results import Row, Seat, column, in_unit


class AuctionConfig(Config):
    bidders: Annotated[int, Field(ge=2, le=5)] = 3
    highest_value: Annotated[int, Field(ge=2, le=100)] = 10
    reserves: list[Annotated[int, Field(ge=0)]] = [0, 0, 0, 0, 0]
    """Each bidder's secret instruction, known only to that bidder."""


class Call(Move):
    stay: Literal["stay", "drop"]
    message: Message = None


@dataclass(frozen=True)
class Line:
    bidder: str
    words: str


@dataclass(frozen=True)
class State:
    values: dict[str, int]
    price: int
    active: tuple[str, ...]
    winner: str | None = None
    said: tuple[Line, ...] = ()


def _random(game: ClockAuction, state: State, role: Role, rng: Random) -> MoveData:
    message = {"message": rng.choice(["hm", "</message>"])} if rng.random() < 0.3 else {}
    return {"stay": rng.choice(["stay", "drop"]), **message}


def _sincere(game: ClockAuction, state: State, role: Role, rng: Random) -> MoveData:
    return {"stay": "stay" if state.price + 1 <= state.values[role] else "drop"}


def _knowing(game: ClockAuction, state: State, role: Role, rng: Random) -> MoveData:
    return {"stay": "stay" if state.values[role] == max(state.values.values()) else "drop"}


class ClockAuction(Game[AuctionConfig, State]):
    key = "clock_auction"
    title = "Clock auction"
    summary = "The price rises until one bidder is left."
    rules_version = 1
    scripts = {"random": _random, "sincere": _sincere, "knowing": _knowing}
    oracles = frozenset({"knowing"})
    move_types = (Call,)

    class Results(Row):
        price: Annotated[int, in_unit("dollars")] = column("What the winner pays.")
        winner: Seat | None = column("Who buys.")

    class SeatResults(Row):
        value: Annotated[int, in_unit("dollars")] = column("What the item is worth to the bidder.")
        won: bool = column("Whether the bidder buys.")

    class Record(Row):
        line: int = column("From 1.")
        role: Seat = column("Who said it.")

    def roles(self) -> tuple[Role, ...]:
        return tuple("abcde"[: self.config.bidders])

    def role_title(self, role: Role) -> str:
        return f"Bidder {role.upper()}"

    def text_variables(self, role: Role) -> Mapping[str, Any]:
        return {"reserve": self.config.reserves[self.roles().index(role)]}

    @classmethod
    def instruction_template(cls) -> str:
        return "Stay or drop out as the price rises. Hold back {{ reserve|money }}."

    def comprehension(self, role: Role) -> tuple[Question, ...]:
        return (Question("drop", "Can you come back?", ("Yes", "No"), "No", "Who leaves is out."),)

    def secrets(self, role: Role) -> frozenset[str]:
        return frozenset(f"reserves[{index}]" for index, other in enumerate(self.roles()) if other != role)

    def setup(self, chance: Chance) -> State:
        values = {
            role: chance.draw(
                f"value of {role}", lambda rng: rng.randint(1, self.config.highest_value), known_to=[role]
            )
            for role in self.roles()
        }
        return State(values, 0, self.roles())

    def turn(self, state: State) -> Turn | None:
        if state.winner is not None:
            return None
        return Turn(dict.fromkeys(state.active, (Form("call", "Stay or drop out", Call),)))

    def apply(self, state: State, moves: Mapping[Role, Call], chance: Chance) -> State:
        lines = (*state.said, *(Line(role, moves[role].message) for role in state.active if moves[role].message))
        staying = tuple(role for role in state.active if moves[role].stay == "stay")
        if not staying:
            winner = chance.draw("tie", lambda rng: rng.choice(state.active))
            return replace(state, winner=winner, said=lines)
        next_state = replace(state, price=state.price + 1, active=staying, said=lines)
        if len(staying) == 1 or next_state.price == 2 * self.config.highest_value:
            winner = chance.draw("tie", lambda rng: rng.choice(staying)) if len(staying) > 1 else staying[0]
            return replace(next_state, winner=winner)
        return next_state

    def default(self, state: State, role: Role) -> MoveData:
        return {"stay": "drop"}

    def view(self, state: State, role: Role) -> View:
        facts = (
            Fact("price", "Price", state.price, f"${state.price}"),
            Fact("value", "Your value", state.values[role], f"${state.values[role]}"),
            Fact("active", "Still in", len(state.active), str(len(state.active))),
            Fact("winner", "Winner", state.winner, state.winner or "nobody yet"),
        )
        return Facts("standing", "Standing", facts), Talk(
            "talk", "Said", tuple(Said(line.bidder, line.words) for line in state.said)
        )

    def notices(self, before: State, moves: Mapping[Role, Call], after: State, role: Role) -> View:
        lines = tuple(Said(line.bidder, line.words) for line in after.said[len(before.said) :])
        price = Text("price", f"The price is ${after.price}; {len(after.active)} are in.")
        return price, Talk("talk", "Said", lines)

    def payoffs(self, state: State) -> Payoffs:
        return {role: float(state.values[role] - state.price) if role == state.winner else 0.0 for role in self.roles()}

    def metrics(self, state: State) -> Row:
        return self.Results(price=state.price, winner=state.winner)

    def seat_metrics(self, state: State, role: Role) -> Row:
        return self.SeatResults(value=state.values[role], won=role == state.winner)

    def records(self, state: State) -> Sequence[Row]:
        return [self.Record(line=number, role=line.bidder) for number, line in enumerate(state.said, start=1)]

    def bonus_share(self, role: Role, payoff: float) -> float:
        return min(1.0, max(0.0, 0.5 + payoff / (4 * self.config.highest_value)))


EXAMPLES = Examples(
    configs=[{"bidders": 2}, {"bidders": 5, "highest_value": 30}],
    alternatives={"reserves[1]": [1, 9]},
    pairs=[Pair("b", {"reserves": [0, 3, 0, 0, 0]}, {"reserves": [7, 3, 5, 0, 0]})],
)
