"""Analyses and their results: tables, figures and numbers by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

    from analysis.data import Data

Needs = Literal["people", "agents", "both", "any"]
Shown = Literal["text", "count", "number", "share", "p"]


@dataclass(frozen=True)
class Options:
    """Options of estimates.

    Attributes:
        level: confidence level of intervals.
        draws: bootstrap draws.
        min_group: answers and times of groups of fewer people are hidden.
    """

    seed: int = 1
    level: float = 0.95
    draws: int = 2000
    min_group: int = 5


@dataclass(frozen=True)
class Column:
    """A column of a table: its name in the CSV file, its heading, and its format.

    Attributes:
        shown: count: a whole number; number: three decimals; share: per cent with one decimal; p: a p-value.
    """

    name: str
    label: str
    shown: Shown = "text"


def text(name: str, label: str) -> Column:
    """Return a text column."""
    return Column(name, label, "text")


def count(name: str, label: str) -> Column:
    """Return a column of whole numbers."""
    return Column(name, label, "count")


def number(name: str, label: str) -> Column:
    """Return a column of numbers with three decimals."""
    return Column(name, label, "number")


def share(name: str, label: str) -> Column:
    """Return a column of shares from 0 to 1, shown in percent with one decimal."""
    return Column(name, label, "share")


def p_value(name: str = "p", label: str = "p") -> Column:
    """Return a column of p-values."""
    return Column(name, label, "p")


def estimated(label: str, of: Callable[[str, str], Column] = number) -> tuple[Column, ...]:
    """Return the columns of an estimate and its interval."""
    return of("estimate", label), of("low", "Low"), of("high", "High")


@dataclass(frozen=True)
class Table:
    """Tidy rows, one per estimate, with full precision.

    Attributes:
        name: follows the analysis' id in file names; letters, digits and underscores.
        rows: mappings or a frame; None is a missing value. Keys without a column appear only in the CSV file.
        note: a sentence below the table.
        bold, underlined: names of boolean keys of rows that mark cells: {column: key}.
    """

    name: str
    title: str
    columns: Sequence[Column]
    rows: Any
    note: str = ""
    bold: Mapping[str, str] = field(default_factory=dict)
    underlined: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The rows of the CSV file: the columns in order, then the other keys."""
        import pandas as pd

        made = self.rows if isinstance(self.rows, pd.DataFrame) else pd.DataFrame(list(self.rows))
        first = [column.name for column in self.columns]
        return made.reindex(columns=[*first, *(name for name in made.columns if name not in first)])

    def _repr_html_(self) -> str:
        from analysis.writing import html_table

        return html_table(self)


@dataclass(frozen=True)
class Figure:
    """A chart: its Vega-Lite specification with its data, and its alt text (see `charts`)."""

    name: str
    title: str
    spec: Mapping[str, Any]
    alt: str

    def svg(self) -> str:
        """Return the figure as SVG, with a title and a description for screen readers."""
        from analysis.charts import drawn

        return drawn(self)

    def _repr_html_(self) -> str:
        return self.svg()


def _by_name(found: Any) -> dict[str, Any]:
    return dict(found) if isinstance(found, Mapping) else {one.name: one for one in found}


@dataclass
class Result:
    """The result of an analysis.

    Attributes:
        tables, figures: given as sequences, stored by name.
        numbers: the main estimates by name: {estimate, se, low, high, p, n, clusters}, as far as there are such.
        n: {matches, decisions, people, clusters}; missing ones are counted over the whole dataset.
        warnings: sentences.
    """

    tables: Any = ()
    figures: Any = ()
    numbers: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    n: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tables, self.figures = _by_name(self.tables), _by_name(self.figures)


@dataclass(frozen=True)
class Analysis:
    """One analysis.

    Attributes:
        id: "general.outcomes"; the part before the point is its system.
        question: one sentence that ends with a question mark.
        method: one sentence for readers: statistic, intervals, unit.
        run: function of data and options; raises SkippedError if it does not apply.
        needs: whether people or agents must have played at least one match (for people, arriving is enough).
        columns: required columns by table; "player_*" requires at least one such column.
        games: keys of the games it applies to; empty for every game.
        applies: None, or a function that returns why the analysis does not apply (empty: it does).
    """

    id: str
    title: str
    question: str
    method: str
    run: Callable[[Data, Options], Result]
    needs: Needs = "any"
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    games: Sequence[str] = ()
    applies: Callable[[Data], str] | None = None

    @property
    def system(self) -> str:
        """The first part of the id: "general", "glee", …"""
        return self.id.split(".")[0]

    def __reduce__(self) -> Any:
        """Pickle the id alone: `run` may be a function that cannot be pickled."""
        from analysis.registry import named

        return named, (self.id,)


@dataclass(frozen=True)
class Outcome:
    """An analysis after it ran: "done", "skipped" with a reason, or "failed" with type and place."""

    analysis: Analysis
    status: Literal["done", "skipped", "failed"]
    reason: str = ""
    result: Result = field(default_factory=Result)

    @property
    def tables(self) -> dict[str, Table]:
        return self.result.tables

    @property
    def figures(self) -> dict[str, Figure]:
        return self.result.figures

    @property
    def numbers(self) -> dict[str, Mapping[str, Any]]:
        return self.result.numbers
