"""Analyses and their results: tables, figures and numbers by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
    """A measure: its name in the CSV file, its label in tables and on axes, its format and its unit.

    Attributes:
        kind: "count" (a whole number), "number" (three decimals), "share" (percent with one decimal), "p" (a p-value),
            "text", or "note" (a letter, explained below the table; the column is left out if there is nothing to note).
    """

    name: str
    label: str
    kind: Kind = "text"
    unit: str = ""

    @property
    def heading(self) -> str:
        """The label with the unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


def text(name: str, label: str) -> Column:
    """Return a column of text."""
    return Column(name, label)


def count(name: str, label: str) -> Column:
    """Return a column of whole numbers."""
    return Column(name, label, "count")


def number(name: str, label: str, unit: str = "") -> Column:
    """Return a column of numbers with three decimals."""
    return Column(name, label, "number", unit)


def share(name: str, label: str) -> Column:
    """Return a column of shares from 0 to 1, shown in percent with one decimal."""
    return Column(name, label, "share")


NOTE = Column("note", "Note", "note")
"""The column that says why an estimate has no interval."""
COMMON = {
    column.name: column
    for column in (
        text("outcome", "Outcome"), text("factor", "Factor"), text("level", "Level"), text("role", "Role"),
        text("player", "Player"), text("model", "Model"), count("n", "n"), count("clusters", "Units"),
        count("components", "Units"), number("estimate", "Estimate"), number("se", "SE"), number("low", "Low"),
        number("high", "High"), number("sd", "SD"), number("q1", "25 %"), number("median", "Median"),
        number("q3", "75 %"), Column("p", "p", "p"), Column("p_holm", "p, Holm", "p"), count("missing", "Missing"),
        NOTE,
    )
}  # fmt: skip
"""Columns that have the same label in most tables; a table names them."""
NUMBERS = ("estimate", "se", "low", "high", "p", "df", "n", "clusters", "components", "method", "note")
"""What `results.json` says of an estimate."""


Mark = Literal["dots", "lines", "bars", "boxes", "strip_plot", "violins", "scatter", "heat_map", "histogram"]


@dataclass(frozen=True)
class Chart:
    """How a table is drawn. Channels name columns, whose labels, units and formats are those of the axes.

    Attributes:
        x, y, colour, facet, size, label: columns; by default, the mark's own (such as `estimate`) or none. Of a heat
            map, `colour` is the value; each facet is a panel; labels stand beside points.
        low, high: the columns with the ends of intervals, drawn where rows have them.
        se: the column with standard errors, if intervals of one standard error are drawn instead.
        rows: the rows to draw, mappings or a frame, which may have more columns; by default, the table's.
        name, title: the figure's; by default, the table's.
        players: categories whose colours are those of their positions here, such as the dataset's players.
        titles, formats: of axes by channel, where a column's label or format does not serve.
        order: the order of categories by channel; by default, as they occur.
        most: the maximum numbers of categories by channel; the title says if there are more.
        line: where on the axis of the values a line is drawn, such as one for "no difference".
        lines: further lines by name: a place on the x axis of a strip plot or histogram, or a scatter plot's corners.
        domain: range of the axis of the values; by default, theirs, or from `zero`.
        step, points: whether a line is a step function, and whether its points are marked.
        stacked: whether bars are stacked by colour.
        centre: middle of a heat map's scale from blue to orange; without it, the scale is viridis.
        bins: number of bars of a histogram.
        columns: number of panels side by side.
        same_scale: whether all panels have the same x axis; by default, those of bars and lines.
    """

    mark: Mark
    x: str = ""
    y: str = ""
    colour: str = ""
    facet: str = ""
    size: str = ""
    label: str = ""
    low: str = "low"
    high: str = "high"
    se: str = ""
    rows: Any = None
    name: str = ""
    title: str = ""
    players: Sequence[str] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    order: Mapping[str, Sequence[str]] = field(default_factory=dict)
    most: Mapping[str, int] = field(default_factory=dict)
    line: float | None = None
    lines: Mapping[str, Any] = field(default_factory=dict)
    domain: tuple[float, float] | None = None
    zero: bool = False
    log_x: bool = False
    step: bool = False
    points: bool = True
    stacked: bool = False
    centre: float | None = None
    bins: int = 20
    columns: int = 2
    same_scale: bool | None = None


@dataclass(frozen=True)
class Table:
    """A result in tidy form: one row per estimate, with full precision. Its table, files and figure all come from here.

    Attributes:
        name: second part of the file names, after the analysis's id; letters, digits and underscores.
        columns: `Column`s, or names of `COMMON` ones; `low`, `high` and `se` have the format of the estimate. Keys of
            rows without a column appear only in the CSV file.
        rows: a data frame, or mappings; None is a missing value.
        note: a sentence below the table.
        bold, underlined: {column: key}, where the row's boolean value under the key says whether to mark the cell.
        charts: how the result is drawn, if it is.
    """

    name: str
    title: str
    columns: Sequence[Any]
    rows: Any
    note: str = ""
    bold: Mapping[str, str] = field(default_factory=dict)
    underlined: Mapping[str, str] = field(default_factory=dict)
    charts: Sequence[Chart] = ()

    def __post_init__(self) -> None:
        kind: Kind = next((c.kind for c in self.columns if isinstance(c, Column) and c.name == "estimate"), "number")
        columns = [column if isinstance(column, Column) else COMMON[column] for column in self.columns]
        same = [replace(c, kind=kind) if c.name in ("low", "high") and c is COMMON[c.name] else c for c in columns]
        object.__setattr__(self, "columns", tuple(same))

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The rows of the CSV file: the columns in order, then the other keys."""
        import pandas as pd

        frame = self.rows if isinstance(self.rows, pd.DataFrame) else pd.DataFrame(list(self.rows))
        first = [column.name for column in self.columns]
        return frame.reindex(columns=[*first, *(name for name in frame.columns if name not in first)])

    @property
    def records(self) -> list[dict[str, Any]]:
        """The rows as dictionaries; None is a missing value."""
        return records(self.frame)

    def column(self, name: str) -> Column | None:
        """Return the column of this name; None if it is only in the CSV file or drawn."""
        return next((column for column in self.columns if column.name == name), None)

    def numbers(self, name: str, where: Any = slice(None)) -> dict[str, dict[str, Any]]:
        """Return the rows' estimates for `Result.numbers`.

        Args:
            name: the estimates' names, a format of a row's keys, such as "{key}: {level}".
            where: which rows; by default, all.
        """
        return numbers(self.frame[where], name)

    @cached_property
    def figures(self) -> list[Figure]:
        """The figures of the table's charts."""
        from analysis.charts import drawn

        return [drawn(self, chart) for chart in self.charts]

    def _repr_html_(self) -> str:
        from analysis.writing import html_table

        return html_table(self)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a frame's rows as dictionaries; None is a missing value."""
    values = frame.astype("object")
    return values.where(values.notna(), None).to_dict("records")  # type: ignore[return-value]


def numbers(frame: pd.DataFrame, name: str) -> dict[str, dict[str, Any]]:
    """Return estimates by name for `Result.numbers`; see `Table.numbers`."""
    shown = [key for key in NUMBERS if key in frame]
    return {name.format_map(row): {key: row[key] for key in shown} for row in records(frame)}


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
        tables, figures: given as sequences, stored by name; the figures of tables' charts come first.
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
        self.tables = _named(self.tables)
        drawn = (figure for table in self.tables.values() for figure in table.figures)
        self.figures = {figure.name: figure for figure in drawn} | _named(self.figures)


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
    def numbers(self) -> Mapping[str, Mapping[str, Any]]:
        return self.result.numbers
