"""Cells of game.csv: empty cells, numbers, words and decisions, in the spellings of many writers."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from analysis import formulas
from exports.published import UnreadableRecord

EMPTY_SPELLINGS = frozenset({"", "None", "nan", "NaN"})
"""Spellings of an empty cell."""

MARK = "'"
"""Prefix for text that would otherwise be read as a formula or an empty cell."""


@dataclass(frozen=True)
class Row:
    """One row of game.csv.

    Attributes:
        number: row number in a spreadsheet; the header is row 1.
        cells: text by column.
        marked: whether text that needs `MARK` has it.
        marked_within: whether text is also marked where a formula would begin after a separator.
    """

    number: int
    cells: Mapping[str, str]
    marked: bool = False
    marked_within: bool = False

    def has(self, column: str) -> bool:
        """Return whether the cell has any content."""
        return self.cells.get(column, "").strip() not in EMPTY_SPELLINGS

    def amount(self, column: str) -> float:
        """Return a finite number in any spelling: 40, 40.0, 4e1.

        Raises:
            UnreadableRecord: the cell is empty or holds something else.
        """
        cell = self.cells.get(column, "")
        try:
            amount = float(cell)
        except ValueError:
            amount = math.nan
        if not math.isfinite(amount):
            raise self.problem(f"{column} is “{_short(cell)}”, which is not a number")
        return amount

    def words(self, column: str) -> str | None:
        """Return free text exactly as written; None if the cell is empty."""
        cell = self.cells.get(column, "")
        restored = formulas.unmark_within(cell) if self.marked_within else cell
        if self.marked and cell.startswith(MARK):
            return restored[len(MARK) :]
        return None if cell in EMPTY_SPELLINGS else restored

    def choice(self, column: str, choices: Mapping[str, str]) -> str:
        """Return what the cell means according to `choices` (lower-case text → meaning).

        Raises:
            UnreadableRecord: the cell is not one of them.
        """
        cell = self.cells.get(column, "")
        meaning = choices.get(cell.strip().lower())
        if meaning is None:
            raise self.problem(f"{column} is “{_short(cell)}”; expected one of {', '.join(choices)}")
        return meaning

    def check_round(self, expected: int) -> None:
        """Check that the row belongs to round `expected`.

        Raises:
            UnreadableRecord: rows are missing or out of order.
        """
        if self.amount("round") != expected:
            raise self.problem(
                f"it belongs to round {_short(self.cells['round'])}, but round {expected} is due: rows are missing or "
                "out of order"
            )

    def problem(self, description: str) -> UnreadableRecord:
        """Return the error that names this row."""
        return UnreadableRecord(f"game.csv, row {self.number}: {description}.")


def rows(text: str, required_columns: Iterable[str], *, marked: bool, marked_within: bool) -> list[Row]:
    """Return the non-empty rows of game.csv; `marked` and `marked_within` are as in `Row`.

    Raises:
        UnreadableRecord: there is no table, or it lacks some of the columns `required_columns`.
    """
    try:
        table = list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error as error:
        raise UnreadableRecord(f"game.csv is not a table: {error}.") from None
    header = [name.strip().lower() for name in table[0]] if table else []
    if missing := [column for column in required_columns if column not in header]:
        raise UnreadableRecord(f"game.csv has no column {', '.join(missing)}.")
    game_rows = []
    for number, line in enumerate(table[1:], start=2):
        row = Row(number, dict(zip(header, line, strict=False)), marked, marked_within)
        if len(line) > len(header):
            raise row.problem("it has more cells than there are columns")
        if any(cell.strip() for cell in line):
            game_rows.append(row)
    return game_rows


def table(columns: Sequence[str], lines: Iterable[Mapping[str, str]]) -> str:
    """Return `lines` as game.csv, with `columns` in this order; missing cells are empty."""
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, columns, restval="", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(lines)
    return buffer.getvalue()


def needs_mark(text: str) -> bool:
    """Return whether text would be misread as a formula, an empty cell or marked text."""
    return text in EMPTY_SPELLINGS - {""} or text.startswith(MARK) or formulas.is_formula(text)


def with_mark(text: str) -> str:
    """Return text as a cell of a table with marked text."""
    marked = formulas.mark_within(text)
    return MARK + marked if needs_mark(text) else marked


def _short(cell: str) -> str:
    return cell if len(cell) <= 40 else cell[:39] + "…"
