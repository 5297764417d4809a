"""Data for a role to read: a tool for models and a block on people's pages, from one description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from games.interface import Block, Cell, Chart, Move, Series, Table, Tool


class NoArguments(Move):
    """The arguments of a tool that takes none."""


@dataclass(frozen=True)
class Lookup:
    """Rows of named values.

    Attributes:
        tool: name of the tool, such as "get_previous_pricing_data".
        help: what it returns, for the model.
        key: key of the block on the page; its chart's is "<key>_chart".
        title: title of the block.
        columns: the page's column titles, by the tool's key.
        rows: in chronological order, if any; each with every column.
        newest_first: whether the page shows the last row first.
        series: (column of x, columns of y) for a line chart.
    """

    tool: str
    help: str
    key: str
    title: str
    columns: Mapping[str, str]
    rows: Sequence[Mapping[str, Cell]]
    newest_first: bool = False
    series: tuple[str, tuple[str, ...]] | None = None

    def as_tool(self) -> Tool:
        """Return a tool that returns the rows as a list of objects."""
        answer = [{name: row[name] for name in self.columns} for row in self.rows]
        return Tool(self.tool, self.help, NoArguments, lambda _asked: answer, block=self.key)

    def as_blocks(self) -> tuple[Block, ...]:
        """Return a table that people can sort and filter, and a chart if it is a series."""
        rows = tuple(tuple(row[name] for name in self.columns) for row in self.rows)
        titles = tuple(self.columns.values())
        table = Table(self.key, self.title, titles, rows, sortable=True, newest_first=self.newest_first)
        return (*self._chart(), table)

    def _chart(self) -> tuple[Chart, ...]:
        if self.series is None or len(self.rows) < 2:
            return ()
        x_column, y_columns = self.series
        lines = tuple(Series(self.columns[y_column], self._points(x_column, y_column)) for y_column in y_columns)
        y_column = self.columns[y_columns[0]] if len(y_columns) == 1 else ""
        return (Chart(f"{self.key}_chart", self.title, self.columns[x_column], y_column, lines),)

    def _points(self, x_column: str, y_column: str) -> tuple[tuple[float, float], ...]:
        def is_number(value: Cell) -> bool:
            return isinstance(value, int | float) and not isinstance(value, bool)

        found = ((row[x_column], row[y_column]) for row in self.rows)
        return tuple((float(x), float(y)) for x, y in found if is_number(x) and is_number(y))  # type: ignore[arg-type]
