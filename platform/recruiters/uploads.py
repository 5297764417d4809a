"""Read CSV files that researchers upload, and report errors by line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

LARGEST = 2 * 1024 * 1024
"""Maximum file size in bytes."""


@dataclass(frozen=True)
class Problem:
    """An error in one line of a file; line 0 stands for the whole file."""

    line: int
    reason: str


class BadFile(ValueError):
    """An invalid file; nothing was imported."""

    def __init__(self, problems: Sequence[Problem]):
        super().__init__(" ".join(problem.reason for problem in problems))
        self.problems = list(problems)


def text_of(data: bytes) -> str:
    """Return the text of an uploaded file. Raise BadFile for an invalid file."""
    if len(data) > LARGEST:
        raise BadFile([Problem(0, _("The file is larger than {most} MB.").format(most=LARGEST // 1024**2))])
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        message = _("The file is not encoded in UTF-8. In your spreadsheet program, save it as “CSV UTF-8”.")
        raise BadFile([Problem(0, message)]) from None


@dataclass(frozen=True)
class Table:
    """An uploaded CSV file.

    Attributes:
        names: of the columns, in lower case.
        header_line: the line that names them.
        rows: (line number, cells) of each line that is not empty.
    """

    names: list[str]
    header_line: int
    rows: Iterator[tuple[int, list[str]]]


def table_of(data: bytes) -> Table:
    """Return the table in an uploaded file. Raise BadFile for an invalid file, also while its rows are read."""
    rows = _rows_of(text_of(data))
    header_line, header = next(rows, (0, []))
    if header and header[0].strip().casefold().startswith("sep="):
        header_line, header = next(rows, (0, []))
    names = [name.strip().casefold() for name in header]
    return Table(names, header_line, (row for row in rows if any(cell.strip() for cell in row[1])))


def _rows_of(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, cells); the delimiter is the most frequent one in the header line."""
    lines = [line for line in text.splitlines()[:2] if not line.casefold().startswith("sep=")]
    delimiter = max(",;\t", key=(lines[0] if lines else "").count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        try:
            cells = next(reader, None)
        except csv.Error:
            message = _("From here on, the file is not valid CSV. Is a quotation mark missing?")
            raise BadFile([Problem(reader.line_num, message)]) from None
        if cells is None:
            return
        yield reader.line_num, cells
