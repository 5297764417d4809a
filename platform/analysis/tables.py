"""Results as tables: columns, rows and charts; written as CSV, HTML and LaTeX, with formatted numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from html import escape
from typing import Any, Literal

import pandas as pd

from analysis.data import plain
from analysis.formulas import defused, encoded
from analysis.naming import KEYS, Names

Kind = Literal["text", "count", "number", "share", "p", "note"]
MAX_SHOWN = 200
"""Maximum number of rows of a table in HTML and LaTeX; the CSV file has all rows."""
PAGE, WRAPPED, GAP, MOST_TURNED = 96, 16, 2, 6
"""What an A4 page takes beside each other, in characters; from what length text is wrapped; the space between columns;
and how many rows, with the headings, a table that is turned has at most."""
MISSING = "–"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "–": "--", "−": "--", "·": r"\textperiodcentered{}", "±": r"$\pm$",
    "≥": r"$\ge$", "≤": r"$\le$", "χ": r"$\chi$", "²": r"\textsuperscript{2}", "∞": r"$\infty$", "→": r"$\to$",
    "×": r"$\times$", "δ": r"$\delta$", "α": r"$\alpha$", "μ": r"$\mu$", "σ": r"$\sigma$",
}  # fmt: skip


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


text, count, share = Column, partial(Column, kind="count"), partial(Column, kind="share")
"""Columns of text, of whole numbers, and of shares from 0 to 1, shown in percent with one decimal."""


def number(name: str, label: str, unit: str = "") -> Column:
    """Return a column of numbers with three decimals."""
    return Column(name, label, "number", unit)


NOTE = Column("note", "Note", "note")
"""The column that says why an estimate has no interval."""
COMMON = {
    column.name: column
    for column in (
        text("outcome", "Outcome"), text("factor", "Factor"), text("level", "Level"), text("role", "Role"),
        text("player", "Player"), text("model", "Model"), count("n", "n"), count("clusters", "Units"),
        count("components", "Units"), number("estimate", "Estimate"), number("se", "SE"), number("low", "Low"),
        number("high", "High"), number("sd", "SD"), number("q1", "25 %"), number("median", "Median"),
        number("q3", "75 %"), Column("p", "p", "p"), Column("p_holm", "p, Holm", "p"), Column("q", "q", "p"),
        text("method", "Method"), count("missing", "Missing"),
        NOTE,
    )
}  # fmt: skip
"""Columns that have the same label in most tables; a table names them."""
NUMBERS = ("estimate", "se", "low", "high", "p", "q", "df", "n", "clusters", "components", "method", "note")
"""What `results.json` says of an estimate."""


Mark = Literal["dots", "lines", "bars", "boxes", "strip_plot", "violins", "scatter", "heat_map", "histogram"]


@dataclass(frozen=True)
class Chart:
    """How a table is drawn. Channels name columns, whose labels, units and formats are those of the axes.

    Attributes:
        x, y, colour, facet, size: columns; by default, the mark's own (such as `estimate`) or none. Of a heat map,
            `colour` is the value; each facet is a panel.
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
        same_scale: whether all panels have the same x axis; by default, those of bars and lines.
    """

    mark: Mark
    x: str = ""
    y: str = ""
    colour: str = ""
    facet: str = ""
    size: str = ""
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
        names: the researcher's names, which replace keys in HTML and LaTeX.
    """

    name: str
    title: str
    columns: Sequence[Any]
    rows: Any
    note: str = ""
    bold: Mapping[str, str] = field(default_factory=dict)
    underlined: Mapping[str, str] = field(default_factory=dict)
    charts: Sequence[Chart] = ()
    names: Names = KEYS

    def __post_init__(self) -> None:
        kind: Kind = next((c.kind for c in self.columns if isinstance(c, Column) and c.name == "estimate"), "number")
        columns = [column if isinstance(column, Column) else COMMON[column] for column in self.columns]
        same = [replace(c, kind=kind) if c.name in ("low", "high") and c is COMMON[c.name] else c for c in columns]
        object.__setattr__(self, "columns", tuple(same))

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The rows of the CSV file: the columns in order, then the other keys."""
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

    def _repr_html_(self) -> str:
        return html_table(self)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a frame's rows as dictionaries; None is a missing value."""
    values = frame.astype("object")
    return values.where(values.notna(), None).to_dict("records")  # type: ignore[return-value]


def numbers(frame: pd.DataFrame, name: str) -> dict[str, dict[str, Any]]:
    """Return estimates by name for `Result.numbers`; see `Table.numbers`."""
    shown = [key for key in NUMBERS if key in frame]
    return {name.format_map(row): {key: row[key] for key in shown} for row in records(frame)}


# ---- writing -------------------------------------------------------------------------------------------


def formatted(value: Any, kind: str) -> str:
    """Return a value formatted for readers."""
    value = plain(value)
    if value is None or value == "":
        return MISSING if kind != "text" or value is None else ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float) or kind == "text":
        return str(value)
    if kind == "count":
        return f"{value:,.0f}"
    if kind == "p":
        return "< .001" if value < 0.001 else f"{value:.3f}".removeprefix("0")
    if kind == "share":
        return f"{100 * value:.1f} %"
    return f"{value:,.3f}".replace("-", "−") if f"{value:.3f}" not in ("-0.000", "0.000") else "0.000"


def csv_bytes(table: Table) -> bytes:
    """Return all rows at full precision as CSV (RFC 4180, UTF-8); text that looks like a formula is escaped."""
    frame = table.frame.copy()
    for name in frame.columns:
        if frame[name].dtype == object or str(frame[name].dtype) in ("str", "string", "category"):
            frame[name] = [_cell(value) for value in frame[name]]
        elif str(frame[name].dtype) in ("bool", "boolean"):
            frame[name] = frame[name].map({True: "TRUE", False: "FALSE"})
    frame.columns = [defused(str(name)) for name in frame.columns]
    text: str = frame.to_csv(index=False, lineterminator="\r\n")
    return encoded(text)


def _cell(value: Any) -> Any:
    value = plain(value)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return defused(value) if isinstance(value, str) else value


@dataclass(frozen=True)
class _Cell:
    text: str
    right: bool = False
    bold: bool = False
    underlined: bool = False


_Grid = Sequence[Sequence[_Cell]]
"""The rows of a table as shown, the first with the headings."""


def html_table(table: Table, max_rows: int = MAX_SHOWN) -> str:
    """Return the table as HTML with a caption and at most `max_rows` rows; turned or split if it is too wide."""
    grids, legend = _grids(table, max_rows)
    title = escape(table.names(table.title))
    parts = []
    for part, grid in enumerate(grids):
        head, *body = ("".join(_html_cell(cell, at, row) for at, cell in enumerate(cells))
                       for row, cells in enumerate(grid))  # fmt: skip
        rows = "\n".join(f"<tr>{cells}</tr>" for cells in body)
        rows = rows or f'<tr><td colspan="{len(grid[0])}">No rows.</td></tr>'
        parts.append(f"<table><caption>{title}{', continued' if part else ''}</caption>\n"
                     f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>")  # fmt: skip
    notes = " ".join(note for note in (_truncation_note(table, max_rows), table.names(table.note), legend) if note)
    footer = f'<p class="note">{escape(notes)}</p>' if notes else ""
    region = f'<div class="table" role="region" aria-label="{title}" tabindex="0">'
    return f"{region}{chr(10).join(parts)}</div>{footer}\n"


def _html_cell(cell: _Cell, at: int, row: int) -> str:
    content = escape(cell.text)
    content = f"<strong>{content}</strong>" if cell.bold else content
    content = f"<u>{content}</u>" if cell.underlined else content
    right = ' class="right"' if cell.right else ""
    if row == 0:
        return f'<th scope="col"{right}>{content}</th>'
    return f'<th scope="row">{content}</th>' if at == 0 else f"<td{right}>{content}</td>"


def html_page(table: Table, stamp: str = "") -> str:
    """Return the table as an HTML page; `stamp` is the warning shown on every page, if any."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(table.title)}</title>'
        "<style>body{font-family:system-ui,sans-serif}table{border-collapse:collapse}caption{text-align:left;"
        "font-weight:600;padding:.4em 0}td,th{padding:.25em .7em;text-align:left;font-weight:400;border-bottom:1px "
        "solid #ddd}thead th{border-bottom:2px solid #333;font-weight:600}.right{text-align:right;"
        "font-variant-numeric:tabular-nums}</style></head><body>\n"
        + (f"<p><strong>{escape(stamp)}</strong></p>\n" if stamp else "")
        + f"{html_table(table)}</body></html>\n"
    )


def latex_table(table: Table) -> str:
    """Return the table as LaTeX for the package booktabs; turned or split if it is too wide."""
    grids, legend = _grids(table, MAX_SHOWN)
    truncated = _truncation_note(table, MAX_SHOWN)
    lines = [f"% {tex(truncated)}" if truncated else "", r"\begin{table}", r"\centering", r"\small",
             rf"\caption{{{tex(table.names(table.title))}}}"]  # fmt: skip
    for part, (head, *body) in enumerate(grids):
        columns = "".join(_latex_column(column) for column in zip(head, *body, strict=True))
        lines += [r"\par\medskip" if part else "", rf"\begin{{tabular}}{{{columns}}}", r"\toprule", _latex_row(head),
                  r"\midrule", *map(_latex_row, body), r"\bottomrule", r"\end{tabular}"]  # fmt: skip
    if notes := " ".join(note for note in (table.names(table.note), legend) if note):
        lines.append(rf"\par\smallskip\footnotesize {tex(notes)}")
    return "\n".join(line for line in [*lines, r"\end{table}"] if line) + "\n"


def _latex_column(cells: Sequence[_Cell]) -> str:
    if any(cell.right for cell in cells):
        return "r"
    return f"p{{{_width(cells)}ex}}" if max(len(cell.text) for cell in cells) > WRAPPED else "l"


def _latex_row(cells: Sequence[_Cell]) -> str:
    contents = []
    for cell in cells:
        content = tex(cell.text)
        content = rf"\textbf{{{content}}}" if cell.bold else content
        contents.append(rf"\underline{{{content}}}" if cell.underlined else content)
    return " & ".join(contents) + r" \\"


def tex(text: str) -> str:
    """Return text escaped for LaTeX."""
    return "".join(_TEX.get(sign, sign) for sign in " ".join(text.split()))


def _truncation_note(table: Table, max_rows: int) -> str:
    number = len(table.frame)
    return f"The first {max_rows:,} of {number:,} rows; the CSV file has all." if number > max_rows else ""


def _grids(table: Table, max_rows: int) -> tuple[list[_Grid], str]:
    """Return the table as shown, as one or several grids that fit a page, and the notes by their letters."""
    columns, letters = _columns_and_letters(table, max_rows)
    is_right = [column.kind not in ("text", "note") for column in columns]
    grid = [[_Cell(table.names(column.heading), right)
                    for column, right in zip(columns, is_right, strict=True)]]  # fmt: skip
    for row in table.frame.head(max_rows).to_dict("records"):
        grid.append([_Cell(_content(table, row, column, letters), right, _marked(table.bold, column, row),
                           _marked(table.underlined, column, row))
                     for column, right in zip(columns, is_right, strict=True)])  # fmt: skip
    return _fitting(grid, is_right.index(True) if True in is_right else 1), " ".join(
        f"{letter}: no interval, because {note}." for note, letter in letters.items()
    )


def _fitting(grid: _Grid, keys: int) -> list[_Grid]:
    """Return a grid that is too wide turned, if it has few rows, or split, with its first columns in each part."""
    widths = [_width(column) for column in zip(*grid, strict=True)]
    if sum(widths) <= PAGE or len(widths) < 3:
        return [grid]
    turned = [[replace(cell, right=at > 0) for at, cell in enumerate(cells)] for cells in zip(*grid, strict=True)]
    if 1 < len(grid) <= MOST_TURNED and sum(_width(column) for column in zip(*turned, strict=True)) <= PAGE:
        return [turned]
    while keys > 1 and sum(widths[:keys]) > PAGE / 2:
        keys -= 1
    parts: list[list[int]] = [[]]
    used = sum(widths[:keys])
    for at in range(keys, len(widths)):
        if parts[-1] and used + widths[at] > PAGE:
            parts.append([])
            used = sum(widths[:keys])
        parts[-1].append(at)
        used += widths[at]
    return [[[cells[at] for at in (*range(keys), *part)] for cells in grid] for part in parts]


def _width(cells: Sequence[_Cell]) -> int:
    """Return the width of a column in characters with the space beside it; text is wrapped, numbers are not."""
    whole = max(len(cell.text) for cell in cells[1:] or cells)
    words = max((len(word) for cell in cells for word in cell.text.split()), default=0)
    return GAP + max(words, whole if any(cell.right for cell in cells) else min(whole, WRAPPED))


def _columns_and_letters(table: Table, max_rows: int) -> tuple[list[Column], dict[str, str]]:
    """Return the columns to show, and a letter for each note in the rows shown."""
    shown = table.frame.head(max_rows)
    noted = [value for column in table.columns if column.kind == "note" for value in shown[column.name] if plain(value)]
    letters = {value: _LETTERS[index] for index, value in enumerate(dict.fromkeys(noted))}
    return [column for column in table.columns if column.kind != "note" or letters], letters


def _content(table: Table, row: Mapping[Any, Any], column: Column, letters: Mapping[str, str]) -> str:
    if column.kind == "note":
        return letters.get(row[column.name], "")
    content = formatted(row[column.name], column.kind)
    return table.names(content) if column.kind == "text" else content


def _marked(marks: Mapping[str, str], column: Column, row: Mapping[Any, Any]) -> bool:
    return column.name in marks and plain(row.get(marks[column.name])) is True
