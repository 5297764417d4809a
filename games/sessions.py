"""What games share whose seats name a number at once, run after run: fouls, history, and who may see what of it.

Source: Economics Arena, section 3 and appendix B. A match is a session of runs; a run is one turn, sealed
until everybody has answered. A *foul* is a number beyond the limits, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import Field, WithJsonSchema

from games.interface import Cell, Chance, Doubt, Fact, Facts, Form, MoveData, Role, Table, Turn
from games.seats import EqualSeats, TellsOfOthers
from games.words import exact, rounded
from games.words import gettext as _

Number = Annotated[float | None, WithJsonSchema({"type": "number"})]
"""A number that a seat names. No number is legal but always a foul, so that no form or schema offers it."""


class RunsConfig(TellsOfOthers):
    """How often is played, what is seen of earlier runs, and what a number beyond the limits is."""

    runs: int = Field(1, ge=1, le=50, title="Runs", description="How many times the game is played, by the same seats.")
    history_depth: int = Field(
        0,
        ge=0,
        le=50,
        title="Depth of the history",
        description="How many of the last runs each seat sees before a run; 0: nothing, not even its own.",
    )
    fouls: Literal["count", "refuse"] = Field(
        "count",
        title="Numbers beyond the limits",
        description="count: accepted and counted as a foul. refuse: not allowed, and the limits are named.",
    )
    people_may_foul: bool = Field(
        False,
        title="People may foul",
        description="Where fouls are counted: whether a person's page sends a number beyond the limits after asking.",
    )


@dataclass(frozen=True)
class Session:
    """The runs that are over, oldest first: each seat's number in order of the seats; None: no number.

    Attributes:
        values: what the item is worth to each seat, in order of the seats; empty where nothing is sold.
    """

    runs: tuple[tuple[float | None, ...], ...] = ()
    values: tuple[float, ...] = ()


C = TypeVar("C", bound=RunsConfig)


class SealedNumbers(EqualSeats[C, Session]):
    """A game of runs in which every seat names one number from 0 to `limit`."""

    number_key: ClassVar[str]
    """The key of the number in a move."""

    def limit(self) -> float:
        """The largest number that is no foul."""
        raise NotImplementedError

    def form(self) -> Form:
        """What each seat is asked in every run."""
        raise NotImplementedError

    def remembers(self, role: Role) -> bool:
        """Each run is a fresh prompt: in a conversation the depth of the history would not bind."""
        return False

    # ---- fouls -------------------------------------------------------------------------------------

    def valid(self, number: float | None) -> bool:
        """Whether a number is no foul."""
        return number is not None and 0 <= number <= self.limit()

    def refuse(self, state: Session, role: Role, move: Any) -> str | None:
        number = getattr(move, self.number_key)
        if self.config.fouls == "count" or number is None or self.valid(number):
            return None
        return self.limits_in_words()

    def doubt(self, state: Session, role: Role, move: Any) -> Doubt | None:
        """A person's page holds back a foul; people who may foul are asked first."""
        number = getattr(move, self.number_key)
        if number is None or self.valid(number):
            return None
        if not self.config.people_may_foul:
            return Doubt(self.limits_in_words(), may_send=False)
        return Doubt(_("{limits} Any other number wins nothing in this run.").format(limits=self.limits_in_words()))

    def limits_in_words(self) -> str:
        """The limits, as a sentence for the player."""
        return _("The number must be from 0 to {limit}.").format(limit=exact(self.limit()))

    # ---- playing -----------------------------------------------------------------------------------

    def turn(self, state: Session) -> Turn | None:
        if self.over(state):
            return None
        return Turn(dict.fromkeys(self.roles(), (self.form(),)))

    def over(self, state: Session) -> bool:
        """Whether all runs were played."""
        return len(state.runs) >= self.config.runs

    def apply(self, state: Session, moves: Mapping[Role, Any], chance: Chance) -> Session:
        numbers = tuple(getattr(moves[role], self.number_key) for role in self.roles())
        return replace(state, runs=(*state.runs, numbers))

    def ends(self, state: Session, role: Role, move: Any) -> bool:
        """Whatever the number is, in the last run."""
        return len(state.runs) + 1 == self.config.runs

    def default(self, state: Session, role: Role) -> MoveData:
        """No number: a foul under every configuration."""
        return {self.number_key: None}

    # ---- the history -------------------------------------------------------------------------------

    def visible(self, state: Session) -> range:
        """The runs that each seat may see now, as indices: the last ones, or all when the game is over."""
        held = len(state.runs)
        return range(0 if self.over(state) else max(0, held - self.config.history_depth), held)

    def own(self, state: Session, role: Role) -> tuple[float | None, ...]:
        """The numbers of one seat, run by run."""
        at = self.roles().index(role)
        return tuple(numbers[at] for numbers in state.runs)

    def valid_numbers(self, state: Session, role: Role) -> list[float]:
        """One seat's numbers that were no fouls, in order of the runs."""
        return [number for number in self.own(state, role) if number is not None and self.valid(number)]

    def fouls(self, state: Session, role: Role) -> int:
        """How many of a seat's numbers were fouls."""
        return sum(not self.valid(number) for number in self.own(state, role))

    # ---- what is seen ------------------------------------------------------------------------------

    def length(self) -> str:
        runs = self.config.runs
        return _("one run") if runs == 1 else _("{runs} runs").format(runs=runs)

    def run_fact(self, state: Session) -> Fact:
        """Which run is going on, or was the last."""
        runs = self.config.runs
        run = min(len(state.runs) + 1, runs)
        return Fact("run", _("Run"), run, _("{run} of {runs}").format(run=run, runs=runs))

    def held(self, state: Session) -> str:
        """How many runs were held, in words; nothing before the second one."""
        held = len(state.runs)
        if not held or self.over(state):
            return ""
        return (_("One run has been held.") if held == 1 else _("{held} runs have been held.").format(held=held)) + " "

    def said(self, number: float | None) -> str:
        """A seat's number in the history; a foul is called not valid, whatever it was."""
        return exact(number) if number is not None and self.valid(number) else _("not valid")

    def on_a_line(self, state: Session, at: int, role: Role, mark: Fact, winners: Fact) -> Facts:
        """The run with this index as the page's number line wants it: a fact per seat, what decides, who won."""
        numbers = zip(self.roles(), state.runs[at], strict=True)
        seats = (
            Fact(
                seat,
                self.seat_name(seat, role),
                number if self.valid(number) else None,
                rounded(number) if number is not None and self.valid(number) else _("not valid"),
            )
            for seat, number in numbers
        )
        title = _("Run {run}").format(run=at + 1) if self.config.runs > 1 else _("Everybody's numbers")
        return Facts("last_run", title, (*seats, mark, winners))

    def winners_fact(self, label: str, winners: Sequence[Role], role: Role) -> Fact:
        """Who won a run, for `on_a_line`."""
        names = ", ".join(self.seat_name(seat, role) for seat in winners)
        return Fact("winners", label, f" {' '.join(winners)} ", names or _("nobody"))

    def history(
        self, state: Session, role: Role, columns: Sequence[str], cells: Callable[[int], Sequence[Cell]]
    ) -> Table:
        """The visible runs: everybody's number, then what `cells` says of the run with this index."""
        titles = (self.seat_name(seat, role) for seat in self.roles())
        return Table(
            "history",
            _("Runs so far"),
            (_("Run"), *titles, *columns),
            tuple((at + 1, *map(self.said, state.runs[at]), *cells(at)) for at in self.visible(state)),
        )
