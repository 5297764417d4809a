"""Analyses and their results: tables, figures and numbers by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from analysis.data import Data
from analysis.naming import Names
from analysis.options import Options
from analysis.tables import Table

if TYPE_CHECKING:
    from analysis.charts import Figure

Needs = Literal["people", "agents", "both", "any"]


def _named(items: Any) -> dict[str, Any]:
    return dict(items) if isinstance(items, Mapping) else {item.name: item for item in items}


@dataclass
class Result:
    """The result of an analysis.

    Attributes:
        tables, figures: given as sequences, stored by name; `draw` adds those of the tables' charts.
        numbers: the main estimates by name, each with those of estimate, se, low, high, p, n and clusters that exist.
        n: numbers of matches, decisions, people and clusters; by default, those of the whole dataset.
        warnings: sentences for the report.
    """

    tables: Any = ()
    figures: Any = ()
    numbers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    n: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tables, self.figures = _named(self.tables), _named(self.figures)

    def draw(self, names: Names) -> None:
        """Draw the tables' charts, before the other figures; readers see these names."""
        from analysis import charts

        self.tables = {key: replace(table, names=names) for key, table in self.tables.items()}
        drawn = (charts.drawn(table, chart) for table in self.tables.values() for chart in table.charts)
        self.figures = {figure.name: figure for figure in drawn} | self.figures
        self.warnings = [names(warning) for warning in self.warnings]


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


def analysis(
    id: str, title: str, question: str, method: str, **about: Any
) -> Callable[[Callable[[Data, Options], Result]], Analysis]:
    """Return the decorator that makes a function the analysis described here; see `Analysis`."""
    return lambda run: Analysis(id, title, question, method, run, **about)


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
    def numbers(self) -> Mapping[str, Mapping[str, Any]]:
        return self.result.numbers
