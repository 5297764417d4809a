"""The formats of datasets. Each receives rows, people and matches one by one and writes its own files.

A new format is a `Sink` and a line in `FORMATS`; the command, the admin and the API offer all formats listed there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from exports import glee_files, otree_wide
from exports.columns import Table
from exports.csvsafe import encoded
from exports.errors import UnknownFormat
from exports.folder import Folder
from exports.parquet import JoinedParquet, ParquetRows, file_of, write_whole
from exports.participants import Participant, PlayedMatch, Reading
from exports.pieces import Joined, JoinedText, Pieces
from exports.transcripts import TRANSCRIPTS, as_line

ALWAYS = ("excluded", "flow", "codebook")
"""Tables that every dataset has as CSV, whatever its formats."""
ABOUT_TABLES = ("flow", "codebook", "cells")
"""Tables about the dataset itself, written last."""
BATCH = 500
"""Number of rows written at once."""

Tables = Mapping[str, Table]


class Sink:
    """A format's writer for one portion of the data, which it receives in order.

    Attributes:
        tables: names of the tables whose rows it takes.
    """

    tables: Collection[str] = ()

    def __init__(self, pieces: Pieces, reading: Reading, tables: Tables):
        """Open a piece of every file of the format, even if it stays empty."""

    def row(self, table: str, values: Sequence[Any]) -> None:
        """Take a row of one of `tables`."""

    def participant(self, participant: Participant) -> None:
        """Take a participant, in the dataset or not."""

    def match(self, match: PlayedMatch, line: Mapping[str, Any]) -> None:
        """Take a match in the dataset, with its transcript."""

    def close(self) -> None:
        """Write buffered rows."""


@dataclass(frozen=True)
class Format:
    """One way of writing a dataset.

    Attributes:
        name: the name by which it is requested.
        title: a description for researchers who choose formats.
        sink: creates the writer of a portion's pieces.
        files: opens its files in the dataset's folder, to which pieces are added.
        file_names: names of all its files.
        write_table: writes a whole table about the dataset; None if the format has no such tables.
        check: raises UnknownFormat for data that the format cannot hold.
        default: whether it is written unless other formats are requested.
        own_tables: tables that only this format writes, for the codebook.
    """

    name: str
    title: str | Promise
    sink: Callable[[Pieces, Reading, Tables], Sink]
    files: Callable[[Folder, Reading, Tables], Mapping[str, Joined]]
    file_names: Callable[[Tables], Iterable[str]]
    write_table: Callable[[Folder, Table, Iterable[Any]], None] | None = None
    check: Callable[[Reading], None] = lambda reading: None
    default: bool = False
    own_tables: Callable[[Reading], Iterable[Table]] = lambda reading: ()


# ---- CSV ---------------------------------------------------------------------------------------------


class CsvSink(Sink):
    """The tables as CSV."""

    def __init__(self, pieces: Pieces, reading: Reading, tables: Tables, *, only: Collection[str] | None = None):
        self.tables = _data_tables(tables, only)
        self._pieces = pieces
        self._tables = tables
        self._files = {name: pieces.open(tables[name].file) for name in self.tables}
        self._buffers: dict[str, list[Sequence[Any]]] = {name: [] for name in self.tables}

    def row(self, table: str, values: Sequence[Any]) -> None:
        buffer = self._buffers[table]
        buffer.append(values)
        if len(buffer) >= BATCH:
            self._write(table)

    def close(self) -> None:
        for table in self.tables:
            self._write(table)

    def _write(self, table: str) -> None:
        buffer = self._buffers[table]
        self._files[table].write(self._tables[table].csv_lines(buffer))
        self._pieces.rows[self._tables[table].file] += len(buffer)
        buffer.clear()


def _data_tables(tables: Tables, only: Collection[str] | None = None) -> list[str]:
    return [name for name in tables if name not in ABOUT_TABLES and (only is None or name in only)]


def _csv_files(
    target: Folder, reading: Reading, tables: Tables, *, only: Collection[str] | None = None
) -> dict[str, Joined]:
    data_tables = [tables[name] for name in _data_tables(tables, only)]
    return {table.file: JoinedText(target.open(table.file, header=table.header)) for table in data_tables}


def _write_csv_table(target: Folder, table: Table, rows: Iterable[Any]) -> None:
    opened = target.open(table.file, header=table.header)
    for subject in rows:
        opened.write_row(table.csv_lines([table.values(subject)]))


# ---- Parquet -----------------------------------------------------------------------------------------


class ParquetSink(Sink):
    """The same tables as Parquet, with real types."""

    def __init__(self, pieces: Pieces, reading: Reading, tables: Tables):
        self.tables = _data_tables(tables)
        self._rows = {name: ParquetRows(tables[name], pieces) for name in self.tables}

    def row(self, table: str, values: Sequence[Any]) -> None:
        self._rows[table].add(values)

    def close(self) -> None:
        for rows in self._rows.values():
            rows.close()


def _parquet_files(target: Folder, reading: Reading, tables: Tables) -> dict[str, Joined]:
    data_tables = [tables[name] for name in _data_tables(tables)]
    return {file_of(table): JoinedParquet(target.open(file_of(table), header=b""), table) for table in data_tables}


# ---- transcripts -------------------------------------------------------------------------------------


class TranscriptSink(Sink):
    """Write every match as a line of JSON."""

    def __init__(self, pieces: Pieces, reading: Reading, tables: Tables):
        self._file = pieces.open(TRANSCRIPTS)
        self._pieces = pieces

    def match(self, match: PlayedMatch, line: Mapping[str, Any]) -> None:
        self._file.write(encoded(as_line(line)))
        self._pieces.rows[TRANSCRIPTS] += 1


def _text_file(target: Folder, reading: Reading, tables: Tables, *, name: str) -> dict[str, Joined]:
    return {name: JoinedText(target.open(name, header=b""))}


# ---- the published layout ----------------------------------------------------------------------------


class GleeSink(Sink):
    """Two files for every match, and a list of their hashes."""

    def __init__(self, pieces: Pieces, reading: Reading, tables: Tables):
        self._listing = pieces.open(glee_files.LISTING)
        self._pieces = pieces

    def match(self, match: PlayedMatch, line: Mapping[str, Any]) -> None:
        for line in glee_files.write_game(match, self._pieces.target) if not match.reasons else ():
            self._listing.write(line)
            self._pieces.rows[glee_files.LISTING] += 1


# ---- oTree's wide format --------------------------------------------------------------------------


class OtreeSink(Sink):
    """One row per participant, with the columns of oTree's own wide export."""

    def __init__(self, pieces: Pieces, reading: Reading, tables: Tables):
        self._table = otree_wide.wide_table(reading)
        self._file = pieces.open(self._table.file)
        self._pieces = pieces

    def participant(self, participant: Participant) -> None:
        self._file.write(self._table.csv_lines([self._table.values(participant)]))
        self._pieces.rows[self._table.file] += 1


def _otree_file(target: Folder, reading: Reading, tables: Tables) -> dict[str, Joined]:
    table = otree_wide.wide_table(reading)
    return {table.file: JoinedText(target.open(table.file, header=table.header))}


# ---- the list of formats -----------------------------------------------------------------------------------

BASE_FORMAT = Format(
    "",
    "",
    partial(CsvSink, only=ALWAYS),
    partial(_csv_files, only=ALWAYS),
    lambda tables: [tables[name].file for name in ALWAYS],
    write_table=_write_csv_table,
)
"""The format whose tables can replace CSV tables."""

FORMATS: dict[str, Format] = {
    output.name: output
    for output in (
        Format(
            "csv",
            _("Tables as CSV: for spreadsheets and every statistics program"),
            CsvSink,
            _csv_files,
            lambda tables: [table.file for table in tables.values()],
            write_table=_write_csv_table,
            default=True,
        ),
        Format(
            "parquet",
            _("Tables as Parquet: small and fast, with real types, for Python and R"),
            ParquetSink,
            _parquet_files,
            lambda tables: [file_of(table) for table in tables.values()],
            write_table=write_whole,
            default=True,
        ),
        Format(
            "jsonl",
            _("Transcripts as JSON lines: every match in full; everything else can be checked against them"),
            TranscriptSink,
            partial(_text_file, name=TRANSCRIPTS),
            lambda tables: [TRANSCRIPTS],
            default=True,
        ),
        Format(
            "glee",
            _("The published GLEE layout: two files per match"),
            GleeSink,
            partial(_text_file, name=glee_files.LISTING),
            lambda tables: [glee_files.TREE, glee_files.LISTING],
            check=lambda reading: glee_files.refuse_other_games(reading.shape.games),
        ),
        Format(
            "otree",
            _("oTree's wide format: one row per person, as in its file all_apps_wide"),
            OtreeSink,
            _otree_file,
            lambda tables: [f"{otree_wide.NAME}.csv"],
            check=otree_wide.refuse_collections,
            own_tables=lambda reading: [otree_wide.wide_table(reading)],
        ),
    )
}
DEFAULT_FORMATS = tuple(name for name, output in FORMATS.items() if output.default)
"""Default formats."""


def validate_formats(formats: Iterable[str]) -> tuple[str, ...]:
    """Return the requested formats in their usual order.

    Raises:
        UnknownFormat
    """
    requested = tuple(dict.fromkeys(formats))
    unknown = [name for name in requested if name not in FORMATS]
    if unknown or not requested:
        raise UnknownFormat(f"Unknown format: {', '.join(unknown) or 'none given'}. Use {', '.join(FORMATS)}.")
    return tuple(name for name in FORMATS if name in requested)


def formats_named(formats: Iterable[str]) -> list[Format]:
    """Return the formats with these names, and the tables that every dataset has."""
    chosen = [FORMATS[name] for name in formats]
    return chosen if FORMATS["csv"] in chosen else [BASE_FORMAT, *chosen]
