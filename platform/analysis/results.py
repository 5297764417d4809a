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
Kind = Literal["text", "count", "number", "share", "p", "note"]


@dataclass(frozen=True)
class Options:
    """Options of the analyses.

    Attributes:
        seed: random seed.
        level: confidence level of intervals.
        draws: number of bootstrap draws.
        min_group: minimum number of people in a group; answers and times of smaller groups are hidden.
    """

    seed: int = 1
    level: float = 0.95
    draws: int = 2000
    min_group: int = 5


@dataclass(frozen=True)
class Column:
    """A column of a table: its name in the CSV file, its heading, and its format.

    Attributes:
        kind: "count" (a whole number), "number" (three decimals), "share" (percent with one decimal), "p" (a p-value)
            "text", or "note" (a letter, explained below the table; the column is left out if there is nothing to note).
    """

    name: str
    label: str
    kind: Kind = "text"


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


NOTE = Column("note", "Note", "note")
"""The column that says why an estimate has no interval."""


def estimate_columns(label: str, make_column: Callable[[str, str], Column] = number) -> tuple[Column, ...]:
    """Return the columns of an estimate and its interval."""
    return make_column("estimate", label), make_column("low", "Low"), make_column("high", "High")


@dataclass(frozen=True)
class Table:
    """A table in tidy form: one row per estimate, with full precision.

    Attributes:
        name: second part of the file names, after the analysis's id; letters, digits and underscores.
        rows: mappings or a data frame; None is a missing value. Keys without a column appear only in the CSV file.
        note: a sentence below the table.
        bold, underlined: {column: key}, where the row's boolean value under the key says whether to mark the cell.
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

        frame = self.rows if isinstance(self.rows, pd.DataFrame) else pd.DataFrame(list(self.rows))
        first = [column.name for column in self.columns]
        return frame.reindex(columns=[*first, *(name for name in frame.columns if name not in first)])

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
        from analysis.charts import rendered_svg

        return rendered_svg(self)

    def _repr_html_(self) -> str:
        return self.svg()


def _named(items: Any) -> dict[str, Any]:
    return dict(items) if isinstance(items, Mapping) else {item.name: item for item in items}


@dataclass
class Result:
    """The result of an analysis.

    Attributes:
        tables, figures: given as sequences, stored by name.
        numbers: the main estimates by name, each with those of estimate, se, low, high, p, n and clusters that exist.
        n: numbers of matches, decisions, people and clusters; by default, those of the whole dataset.
        warnings: sentences for the report.
    """

    tables: Any = ()
    figures: Any = ()
    numbers: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    n: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tables, self.figures = _named(self.tables), _named(self.figures)


@dataclass(frozen=True)
class Analysis:
    """An analysis.

    Attributes:
        id: such as "general.outcomes"; the part before the dot is its system.
        question: the question that it answers, shown in the report.
        method: the statistics, intervals and units, shown in the report.
        run: function of data and options; it raises SkippedError if the analysis does not apply.
        needs: whether people or agents must have played at least one match (for people, arriving is enough).
        columns: required columns by table; "player_*" requires at least one such column.
        games: keys of the games to which it applies; empty for all games.
        applies: function that returns why the analysis does not apply to the data, or "" if it does; or None.
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
        """Pickle only the id, because `run` may be a function that cannot be pickled."""
        from analysis.registry import get_analysis

        return get_analysis, (self.id,)


@dataclass(frozen=True)
class Outcome:
    """The outcome of running an analysis: "done", "skipped" with a reason, or "failed" with the error's location."""

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
