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
from exports.csvsafe import compact_json, encoded
from exports.errors import UnknownFormat
from exports.folder import Folder
from exports.parquet import JoinedParquet, ParquetRows, file_of, write_whole
from exports.participants import Participant, Played, Reading
from exports.pieces import Joined, JoinedText, Pieces
from exports.tables import Table
from exports.transcripts import TRANSCRIPTS, transcript

ALWAYS = ("excluded", "flow", "codebook")
"""Tables that every dataset has as CSV, in whatever formats it is written."""
ABOUT = ("flow", "codebook", "cells")
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
        """A row of one of `tables`."""

    def participant(self, participant: Participant) -> None:
        """A participant, in the dataset or not."""

    def match(self, match: Played) -> None:
        """A match in the dataset."""

    def close(self) -> None:
        """Write buffered rows."""


@dataclass(frozen=True)
class Format:
    """One way of writing a dataset.

    Attributes:
        name: as it is asked for.
        title: what a researcher chooses it for.
        sink: makes what writes its pieces.
        files: begins its files in the dataset's folder: what pieces of each name are added to.
        names: of all its files.
        about: writes a whole table about the dataset; None: not in this format.
        refuse: raises UnknownFormat for what it has no place for.
        usual: whether it is written if nothing is said.
        own: tables that only this format writes, for the codebook.
    """

    name: str
    title: str | Promise
    sink: Callable[[Pieces, Reading, Tables], Sink]
    files: Callable[[Folder, Reading, Tables], Mapping[str, Joined]]
    names: Callable[[Tables], Iterable[str]]
    about: Callable[[Folder, Table, Iterable[Any]], None] | None = None
    refuse: Callable[[Reading], None] = lambda reading: None
    usual: bool = False
    own: Callable[[Reading], Iterable[Table]] = lambda reading: ()


# ---- CSV ---------------------------------------------------------------------------------------------


class CsvSink(Sink):
    """The tables as CSV."""

    def __init__(self, pieces: Pieces, reading: Reading, tables: Tables, *, only: Collection[str] | None = None):
        self.tables = _data(tables, only)
        self._pieces = pieces
        self._tables = tables
        self._files = {name: pieces.open(tables[name].file) for name in self.tables}
        self._held: dict[str, list[Sequence[Any]]] = {name: [] for name in self.tables}

    def row(self, table: str, values: Sequence[Any]) -> None:
        held = self._held[table]
        held.append(values)
        if len(held) >= BATCH:
            self._write(table)

    def close(self) -> None:
        for table in self.tables:
            self._write(table)

    def _write(self, table: str) -> None:
        held = self._held[table]
        self._files[table].write(self._tables[table].written(held))
        self._pieces.rows[self._tables[table].file] += len(held)
        held.clear()


def _data(tables: Tables, only: Collection[str] | None = None) -> list[str]:
    return [name for name in tables if name not in ABOUT and (only is None or name in only)]


def _csv_files(
    target: Folder, reading: Reading, tables: Tables, *, only: Collection[str] | None = None
) -> dict[str, Joined]:
    made = [tables[name] for name in _data(tables, only)]
    return {table.file: JoinedText(target.open(table.file, header=table.header)) for table in made}


def _csv_whole(target: Folder, table: Table, rows: Iterable[Any]) -> None:
    opened = target.open(table.file, header=table.header)
    for about in rows:
        opened.write_row(table.row(about))


# ---- Parquet -----------------------------------------------------------------------------------------


class ParquetSink(Sink):
    """The same tables with real types."""

    def __init__(self, pieces: Pieces, reading: Reading, tables: Tables):
        self.tables = _data(tables)
        self._rows = {name: ParquetRows(tables[name], pieces) for name in self.tables}

    def row(self, table: str, values: Sequence[Any]) -> None:
        self._rows[table].add(values)

    def close(self) -> None:
        for rows in self._rows.values():
            rows.close()


def _parquet_files(target: Folder, reading: Reading, tables: Tables) -> dict[str, Joined]:
    made = [tables[name] for name in _data(tables)]
    return {file_of(table): JoinedParquet(target.open(file_of(table), header=b""), table) for table in made}


# ---- transcripts -------------------------------------------------------------------------------------


class TranscriptSink(Sink):
    """Write every match as a line of JSON."""

    def __init__(self, pieces: Pieces, reading: Reading, tables: Tables):
        self._file = pieces.open(TRANSCRIPTS)
        self._pieces = pieces

    def match(self, match: Played) -> None:
        self._file.write(encoded(compact_json(transcript(match)) + "\n"))
        self._pieces.rows[TRANSCRIPTS] += 1


def _text_file(target: Folder, reading: Reading, tables: Tables, *, name: str) -> dict[str, Joined]:
    return {name: JoinedText(target.open(name, header=b""))}


# ---- the published layout ----------------------------------------------------------------------------


class GleeSink(Sink):
    """Two files for every match, and a list of their hashes."""

    def __init__(self, pieces: Pieces, reading: Reading, tables: Tables):
        self._listing = pieces.open(glee_files.LISTING)
        self._pieces = pieces

    def match(self, match: Played) -> None:
        for line in glee_files.write_game(match, self._pieces.target) if not match.reasons else ():
            self._listing.write(line)
            self._pieces.rows[glee_files.LISTING] += 1


# ---- the wide form of oTree --------------------------------------------------------------------------


class OtreeSink(Sink):
    """A row for everybody, with the columns of oTree's own wide export."""

    def __init__(self, pieces: Pieces, reading: Reading, tables: Tables):
        self._table = otree_wide.wide_table(reading)
        self._file = pieces.open(self._table.file)
        self._pieces = pieces

    def participant(self, participant: Participant) -> None:
        self._file.write(self._table.row(participant))
        self._pieces.rows[self._table.file] += 1


def _otree_file(target: Folder, reading: Reading, tables: Tables) -> dict[str, Joined]:
    table = otree_wide.wide_table(reading)
    return {table.file: JoinedText(target.open(table.file, header=table.header))}


# ---- what there is -----------------------------------------------------------------------------------

BASICS = Format(
    "",
    "",
    partial(CsvSink, only=ALWAYS),
    partial(_csv_files, only=ALWAYS),
    lambda tables: [tables[name].file for name in ALWAYS],
    about=_csv_whole,
)
"""The format whose tables can replace CSV tables."""

FORMATS: dict[str, Format] = {
    made.name: made
    for made in (
        Format(
            "csv",
            _("Tables as CSV: for spreadsheets and every statistics program"),
            CsvSink,
            _csv_files,
            lambda tables: [table.file for table in tables.values()],
            about=_csv_whole,
            usual=True,
        ),
        Format(
            "parquet",
            _("Tables as Parquet: small and fast, with real types, for Python and R"),
            ParquetSink,
            _parquet_files,
            lambda tables: [file_of(table) for table in tables.values()],
            about=write_whole,
            usual=True,
        ),
        Format(
            "jsonl",
            _("Transcripts as JSON lines: every match in full; everything else can be checked against them"),
            TranscriptSink,
            partial(_text_file, name=TRANSCRIPTS),
            lambda tables: [TRANSCRIPTS],
            usual=True,
        ),
        Format(
            "glee",
            _("The published GLEE layout: two files per match"),
            GleeSink,
            partial(_text_file, name=glee_files.LISTING),
            lambda tables: [glee_files.TREE, glee_files.LISTING],
            refuse=lambda reading: glee_files.refuse_other_games(reading.shape.games),
        ),
        Format(
            "otree",
            _("oTree's wide format: one row per person, as in its file all_apps_wide"),
            OtreeSink,
            _otree_file,
            lambda tables: [f"{otree_wide.NAME}.csv"],
            refuse=otree_wide.refuse_collections,
            own=lambda reading: [otree_wide.wide_table(reading)],
        ),
    )
}
USUAL = tuple(name for name, made in FORMATS.items() if made.usual)
"""Default formats."""


def checked(formats: Iterable[str]) -> tuple[str, ...]:
    """Return the requested formats in their usual order.

    Raises:
        UnknownFormat
    """
    asked = tuple(dict.fromkeys(formats))
    unknown = [name for name in asked if name not in FORMATS]
    if unknown or not asked:
        raise UnknownFormat(f"Unknown format: {', '.join(unknown) or 'none given'}. Use {', '.join(FORMATS)}.")
    return tuple(name for name in FORMATS if name in asked)


def named(formats: Iterable[str]) -> list[Format]:
    """Return the formats with these names, and the tables that every dataset has."""
    chosen = [FORMATS[name] for name in formats]
    return chosen if FORMATS["csv"] in chosen else [BASICS, *chosen]
