"""Data that authors publish: what importers yield, and printed values beside ours."""

from __future__ import annotations

import ast
import csv
import importlib
import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from games.errors import GameError
from games.interface import Event, Json, Role
from games.play import Play

if TYPE_CHECKING:
    from analysis.data import Data

T = TypeVar("T")
FAULTY = (
    LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, MemoryError, OSError,
    SyntaxError, csv.Error, GameError,
)  # fmt: skip
"""What reading a record that is not as expected may raise."""
TOLERANCE = 1e-9
"""Relative difference up to which a published number and ours are the same."""


class UnreadableRecord(ValueError):
    """A record that cannot be read; the text tells who has the files what to fix."""


def classes_in(root: Path, names: Collection[str]) -> Iterator[ast.ClassDef]:
    """Yield the classes of these names in the Python files below `root`, which are parsed and not run."""
    for path in sorted(root.rglob("*.py")):
        try:
            tree = ast.parse(path.read_text("utf-8"))
        except FAULTY:
            continue
        yield from (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name in names)


@dataclass(frozen=True)
class Disagreement:
    """A published value that the rules do not give.

    Attributes:
        what: the value's name, such as "payoff of p1".
    """

    what: str
    published: Json
    computed: Json

    def as_line(self) -> dict[str, Json]:
        """Return it as a JSON object; numbers that JSON has not become text."""
        published = json.loads(json.dumps(self.published), parse_constant=str)
        return {"what": self.what, "published": published, "computed": self.computed}


@dataclass(frozen=True)
class Unreadable:
    """A published match that could not be read.

    Attributes:
        path: the place of its record, relative to the root.
        reason: what to fix, as a sentence.
    """

    path: str
    reason: str


@dataclass(frozen=True)
class Imported:
    """A published match as a log of our own, with results by our rules.

    Attributes:
        name: the match's name in the source.
        game: key of our game.
        config: every parameter.
        players: "human" or a model's name, by role.
        payoffs: in the game's money, by role.
        events: the log; empty for what is no match of ours and cannot be stored.
        unverified: the first thing that our rules would not have allowed; None if all is legal.
        disagreements: published results that differ from ours.
        names: names that people chose, to be removed from all exports.
        repetition: number of the repetition of the same configuration and players, from 1.
        environment: what the source calls the players who met.
    """

    name: str
    game: str
    config: Mapping[str, Json]
    players: Mapping[Role, str]
    payoffs: Mapping[Role, float | None]
    metrics: Mapping[str, Json]
    events: Sequence[Event] = ()
    seed: int = 0
    unverified: str | None = None
    disagreements: Sequence[Disagreement] = ()
    names: Sequence[str] = ()
    repetition: int | None = None
    environment: str | None = None

    def as_line(self) -> dict[str, Json]:
        """Return the match as one JSON object, without messages and names."""
        return {
            "game_id": self.name,
            "family": self.game,
            "config": dict(self.config),
            "payoffs": dict(self.payoffs),
            "metrics": dict(self.metrics),
            "players": dict(self.players),
            "unverified": self.unverified,
            "disagreements": [one.as_line() for one in self.disagreements],
        }


def imported(
    name: str,
    play: Play,
    events: Sequence[Event],
    players: Mapping[Role, str],
    found: Callable[[Play], Iterable[Disagreement]] = lambda play: (),
    **about: Any,
) -> Imported:
    """Return a play that repeats a published match.

    Args:
        found: yields what the record says otherwise.
        about: further fields.

    Raises:
        UnreadableRecord: it is not over.
        OverflowError: a payoff or metric is not finite.
    """
    if not play.finished:
        moves, waiting = sum(event.kind == "move" for event in events), ", ".join(play.waiting_for())
        raise UnreadableRecord(f"The game is not over: after {moves} moves it waits for {waiting}.")
    payoffs, metrics, config = play.payoffs(), play.metrics(), play.game.config.model_dump(mode="json")
    numbers = (value for value in (*payoffs.values(), *metrics.values()) if isinstance(value, float))
    if not all(map(math.isfinite, numbers)):
        raise OverflowError("the amounts are too large to compute with")
    about["disagreements"] = tuple(found(play))
    return Imported(name, play.game.key, config, players, payoffs, metrics, events, **about)


def read_or_said(path: str, read: Callable[[], T]) -> T | Unreadable:
    """Return what is read from a record, or why it cannot be read."""
    try:
        return read()
    except (UnreadableRecord, GameError) as error:
        return Unreadable(path, str(error))
    except FAULTY as error:
        return Unreadable(path, f"It is not as expected: {type(error).__name__}: {error}.")


def differing(what: str, published: Any, computed: Any) -> Iterator[Disagreement]:
    """Yield a disagreement if the two values differ."""
    if published != computed:
        yield Disagreement(what, published, computed)


@dataclass(frozen=True)
class Comparison:
    """A printed value beside ours.

    Attributes:
        table: the table or figure, as the paper calls it.
        what: the value's row and column.
        printed: a number, or text that must be the same.
        here: ours; None if the data do not give it.
        decimals: number of printed decimals, to which ours is rounded; None: the same within `TOLERANCE`.
        cause: why the two differ, if known.
    """

    table: str
    what: str
    printed: float | str
    here: float | str | None
    decimals: int | None = None
    cause: str = ""

    @property
    def agrees(self) -> bool:
        """Whether ours is the printed value, or rounds to it."""
        printed, here = self.printed, self.here
        if not isinstance(printed, int | float) or not isinstance(here, int | float):
            return printed == here
        if self.decimals is None:
            return math.isclose(printed, here, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        return abs(printed - here) <= 0.5 * 10.0**-self.decimals + TOLERANCE


class Analysed(Protocol):
    """The analyses of what was imported, game by game."""

    def data(self, game: str) -> Data | None:
        """Return the dataset of a game; None if no match of it was imported."""

    def rows(self, analysis: str, game: str, table: str) -> list[dict[str, Any]]:
        """Return the rows of a result's table; none if the analysis was skipped."""

    def number(self, analysis: str, game: str, name: str, key: str = "estimate") -> float | None:
        """Return a number of a result; None if there is none, or the analysis was skipped."""


@dataclass(frozen=True)
class System:
    """A published system.

    Attributes:
        read: function that yields the matches in a folder, in a fixed order; it raises OSError if that cannot be read.
        comparing: name of the module whose function `compared` yields printed values beside ours. It loads the
            libraries of the analyses.
    """

    key: str
    title: str
    read: Callable[[Path], Iterable[Imported | Unreadable]]
    comparing: str

    def compared(self, root: Path, analysed: Analysed) -> Iterator[Comparison]:
        """Yield the program's and the paper's values beside ours.

        Args:
            root: the folder that was imported.
            analysed: the analyses of what was imported from it.
        """
        found: Iterator[Comparison] = importlib.import_module(self.comparing).compared(root, analysed)
        return found
