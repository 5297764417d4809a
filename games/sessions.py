"""Shared by games in which all seats choose a number at once, run after run: fouls, the history, and the views.

Source: Economics Arena, section 3 and appendix B. A match is a session of runs; a run is one turn, sealed
until everybody has answered. A *foul* is a number outside the limits, or no number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import Field, WithJsonSchema

from games.interface import (
    OBSERVER,
    Block,
    Cell,
    Chance,
    Fact,
    Facts,
    Form,
    MoveData,
    MoveWarning,
    Prospect,
    Role,
    Table,
    Text,
    Turn,
    TwoSources,
    View,
)
from games.seats import AboutOthersConfig, EqualSeats
from games.words import exact, rounded, worded_property
from games.words import gettext as _

Number = Annotated[float | None, WithJsonSchema({"type": "number"})]
"""A number that a seat chooses. No number is legal but always a foul, so no form or schema offers it."""


class RunsConfig(AboutOthersConfig, TwoSources):
    """The number of runs, how many earlier ones are shown, and what happens to a number outside the limits."""

    runs: int = Field(1, ge=1, le=50, title="Runs", description="How many times the same seats play the game.")
    history_depth: int = Field(
        0,
        ge=0,
        le=50,
        title="History depth",
        description="How many of the last runs each seat sees before a run. 0: none, not even its own numbers.",
    )
    fouls: Literal["count", "refuse"] = Field(
        "count",
        title="Numbers outside the limits",
        description="count: accepted and counted as a foul. refuse: not allowed; the refusal states the limits.",
    )
    people_may_foul: bool = Field(
        False,
        title="People may foul",
        description="If fouls are counted: whether people can send a number outside the limits after a warning.",
    )


@dataclass(frozen=True)
class Session:
    """The finished runs, oldest first: each seat's number in seat order; None: no number.

    Attributes:
        values: what the item is worth to each seat, in seat order; empty if nothing is sold.
    """

    runs: tuple[tuple[float | None, ...], ...] = ()
    values: tuple[float, ...] = ()


C = TypeVar("C", bound=RunsConfig)


def _nothing(game: Any, state: Session, role: Role) -> Sequence[Block]:
    return ()


@dataclass(frozen=True)
class RunScreen:
    """The parts of a view; `SealedNumbers` puts them together. Each is a function of (game, state, …).

    Attributes:
        status: (game, state) → one sentence on what happens now.
        outcome: (game, state, index of the run, role) → how a run ended for the role, as text.
        result: (game, state, role) → how the game ended.
        situation: (game, state, role) → the run, the seat and what is at stake.
        last_run: (game, state, index of the run, role) → everybody's numbers in a run.
        history: (game, state, role) → all runs that the role may see.
        revealed: (game, state, role) → what else is shown together with finished runs.
    """

    status: Callable[[Any, Session], Text]
    outcome: Callable[[Any, Session, int, Role], str]
    result: Callable[[Any, Session, Role], Block]
    situation: Callable[[Any, Session, Role], Block]
    last_run: Callable[[Any, Session, int, Role], Block]
    history: Callable[[Any, Session, Role], Block]
    revealed: Callable[[Any, Session, Role], Sequence[Block]] = _nothing


class SealedNumbers(EqualSeats[C, Session]):
    """A game of runs in which every seat chooses one number from 0 to `limit`."""

    system = "Economics Arena"
    number_key: ClassVar[str]
    """The key of the number in a move, and the name of its form."""
    asks: ClassVar[str]
    """The title of that form."""
    screen: ClassVar[RunScreen]

    def limit(self) -> float:
        """Return the largest number that is not a foul."""
        raise NotImplementedError

    @worded_property
    def form(self) -> Form:
        """The form for each seat in every run."""
        limits, (model,) = self.limits_text(), self.move_types
        return Form(self.number_key, _(self.asks), model, help=limits, limits=limits)

    def players_write(self) -> bool:
        """Return False: players send no words to each other."""
        return False

    def remembers(self, role: Role) -> bool:
        """Return False: a conversation would show more runs than the history allows."""
        return False

    # ---- pay -----------------------------------------------------------------------------------------

    def earned(self, state: Session, role: Role) -> float:
        """Return the role's payoff if it wins none of the runs that are left."""
        raise NotImplementedError

    def prospects(self, state: Session, role: Role) -> tuple[Prospect, ...]:
        """Return what the role has earned so far, unless it is not shown how all runs ended."""
        if len(state.runs) > self.config.history_depth and not self.over(state):
            return (Prospect("", unknown=_("It depends on how all runs end, and not all of them are shown now.")),)
        words = _("If you win nothing more") if state.runs else _("If you win nothing")
        return (self.prospect(_("For this game") if self.over(state) else words, role, self.earned(state, role)),)

    # ---- fouls -------------------------------------------------------------------------------------

    def valid(self, number: float | None) -> bool:
        """Return whether a number is not a foul."""
        return number is not None and 0 <= number <= self.limit()

    def refuse(self, state: Session, role: Role, move: Any) -> str | None:
        number = getattr(move, self.number_key)
        if self.config.fouls == "count" or number is None or self.valid(number):
            return None
        return self.limits_text()

    def warning(self, state: Session, role: Role, move: Any) -> MoveWarning | None:
        """Warn about a foul on a person's page; refuse it unless people may foul."""
        number = getattr(move, self.number_key)
        if number is None or self.valid(number):
            return None
        if not self.config.people_may_foul:
            return MoveWarning(self.limits_text(), may_send=False)
        return MoveWarning(_("{limits} Any other number wins nothing in this run.").format(limits=self.limits_text()))

    def limits_text(self) -> str:
        """Return the limits as a sentence for the player."""
        return _("The number must be from 0 to {limit}.").format(limit=exact(self.limit()))

    # ---- playing -----------------------------------------------------------------------------------

    def turn(self, state: Session) -> Turn | None:
        if self.over(state):
            return None
        return Turn(dict.fromkeys(self.roles(), (self.form,)))

    def over(self, state: Session) -> bool:
        """Return whether all runs have been played."""
        return len(state.runs) >= self.config.runs

    def apply(self, state: Session, moves: Mapping[Role, Any], chance: Chance) -> Session:
        numbers = tuple(getattr(moves[role], self.number_key) for role in self.roles())
        return replace(state, runs=(*state.runs, numbers))

    def ends(self, state: Session, role: Role, move: Any) -> bool:
        """Return whether this is the last run: any number ends it."""
        return len(state.runs) + 1 == self.config.runs

    def default(self, state: Session, role: Role) -> MoveData:
        """Return a move without a number, which is a foul under every configuration."""
        return {self.number_key: None}

    # ---- the history -------------------------------------------------------------------------------

    def visible(self, state: Session) -> range:
        """Return the indices of the runs that each seat may see now: the last ones, or all when the game is over."""
        run_count = len(state.runs)
        return range(0 if self.over(state) else max(0, run_count - self.config.history_depth), run_count)

    def own_numbers(self, state: Session, role: Role) -> tuple[float | None, ...]:
        """Return one seat's numbers, run by run."""
        seat = self.roles().index(role)
        return tuple(numbers[seat] for numbers in state.runs)

    def shown_numbers(self, state: Session, role: Role) -> list[float | None]:
        """Return one seat's numbers in the visible runs, to two decimals."""
        visible = (self.own_numbers(state, role)[run] for run in self.visible(state))
        return [None if number is None else round(number, 2) for number in visible]

    def valid_numbers(self, state: Session, role: Role) -> list[float]:
        """Return one seat's valid numbers, in order of the runs."""
        return [number for number in self.own_numbers(state, role) if number is not None and self.valid(number)]

    def fouls(self, state: Session, role: Role) -> int:
        """Return how many of a seat's numbers were fouls."""
        return sum(not self.valid(number) for number in self.own_numbers(state, role))

    # ---- what players see --------------------------------------------------------------------------

    def text_variables(self, role: Role) -> dict[str, Any]:
        return {
            "you": self.role_title(role),
            "players": self.seats(),
            "runs": self.config.runs,
            "history_depth": min(self.config.history_depth, self.config.runs - 1),
            "told_of_others": self.config.about_others(),
        }

    def progress(self, state: Session) -> tuple[float, float]:
        """Return the runs played, of all."""
        return len(state.runs), self.config.runs

    def length(self) -> str:
        runs = self.config.runs
        return _("one run") if runs == 1 else _("{runs} runs").format(runs=runs)

    def run_fact(self, state: Session) -> Fact:
        """Return the current run, or the last one when the game is over."""
        runs = self.config.runs
        run = min(len(state.runs) + 1, runs)
        return Fact("run", _("Run"), run, _("{run} of {runs}").format(run=run, runs=runs))

    def runs_over_text(self, state: Session) -> str:
        """Return a sentence on how many runs are over; empty in the first run and at the end."""
        run_count = len(state.runs)
        if not run_count or self.over(state):
            return ""
        return (_("One run is over.") if run_count == 1 else _("{held} runs are over.").format(held=run_count)) + " "

    def shown_number(self, number: float | None) -> str:
        """Return a seat's number for the history; any foul is shown as "not valid"."""
        return rounded(number) if number is not None and self.valid(number) else _("not valid")

    def number_line(self, state: Session, index: int, role: Role, mark: Fact, winners: Fact) -> Facts:
        """Return a run for the page's number line: a fact per seat, the decisive number (`mark`) and the winners."""
        numbers = zip(self.roles(), state.runs[index], strict=True)
        seats = (
            Fact(
                seat,
                self.seat_name(seat, role),
                number if self.valid(number) else None,
                rounded(number) if number is not None and self.valid(number) else _("not valid"),
            )
            for seat, number in numbers
        )
        title = _("Run {run}").format(run=index + 1) if self.config.runs > 1 else _("Everybody's numbers")
        return Facts("last_run", title, (*seats, mark, winners))

    def winners_fact(self, label: str, winners: Sequence[Role], role: Role) -> Fact:
        """Return who won a run, for `number_line`."""
        names = ", ".join(self.seat_name(seat, role) for seat in winners)
        return Fact("winners", label, f" {' '.join(winners)} ", names or _("nobody"))

    def history(
        self, state: Session, role: Role, columns: Sequence[str], cells: Callable[[int], Sequence[Cell]]
    ) -> Table:
        """Return the visible runs: everybody's number, then the run's `cells`, a function of its index."""
        titles = (self.seat_name(seat, role) for seat in self.roles())
        return Table(
            "history",
            _("Runs so far"),
            (_("Run"), *titles, *columns),
            tuple((run + 1, *map(self.shown_number, state.runs[run]), *cells(run)) for run in self.visible(state)),
        )

    def view(self, state: Session, role: Role) -> View:
        """Return the status, the last visible run and the result for the seat, then everything that all seats see."""
        visible = self.visible(state)
        blocks: list[Block] = [self.screen.status(self, state)]
        if visible:
            blocks.append(Text("outcome", self.screen.outcome(self, state, visible[-1], role)))
        if self.over(state):
            blocks.append(self.screen.result(self, state, role))
        return (*blocks, *self._runs(state, role))

    def public_view(self, state: Session) -> View:
        """Return the runs that every seat may see."""
        status = (self.screen.status(self, state),) if self.over(state) else ()
        return (*status, *self._runs(state, OBSERVER))

    def _runs(self, state: Session, role: Role) -> tuple[Block, ...]:
        """Return the situation, the last visible run, the history, and what is revealed with it."""
        visible = self.visible(state)
        last = (self.screen.last_run(self, state, visible[-1], role),) if visible else ()
        revealed = self.screen.revealed(self, state, role) if visible else ()
        return (self.screen.situation(self, state, role), *last, self.screen.history(self, state, role), *revealed)

    def notices(self, before: Session, moves: Mapping[Role, Any], after: Session, role: Role) -> View:
        """Return the run that has just ended, as far as the history may show it."""
        if not self.visible(after):
            return (self.screen.status(self, after),)
        outcome = Text("outcome", self.screen.outcome(self, after, len(after.runs) - 1, role))
        result = (self.screen.result(self, after, role),) if self.over(after) else ()
        return (outcome, *self.screen.revealed(self, after, role), *result)
