"""Columns, described once: a table is a class whose attributes are columns, and a row is anything with their values.

Codebook, metadata, README and every format are made from the same classes, and the verification compares by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import attrgetter
from types import NoneType, SimpleNamespace
from typing import Any, Literal, NamedTuple, get_args

from exports.csvsafe import cell, compact_json, line, lines
from exports.times import Times, cut

Kind = Literal["identifier", "choice", "text", "number", "integer", "boolean", "time", "json"]
Reader = Callable[[Any], Any]
Row = SimpleNamespace
"""A row made of named values, for tables whose rows are not objects with a name of their own."""
_PLAIN_TYPES = frozenset({int, float, NoneType})


# ---- tables ------------------------------------------------------------------------------------------------


def _unread(_row: Any) -> Any:
    raise NotImplementedError


@dataclass(frozen=True)
class Column:
    """One column: `read` takes the row and returns the value, None for an empty cell."""

    name: str
    kind: Kind
    meaning: str
    read: Reader = _unread
    unit: str = ""
    values: str = ""


@dataclass(frozen=True)
class Table:
    """A table: what a row is, and its columns in order, for CSV files, Parquet files and the codebook."""

    name: str
    meaning: str
    columns: Sequence[Column]

    @property
    def file(self) -> str:
        return f"{self.name}.csv"

    @property
    def header(self) -> bytes:
        return line(column.name for column in self.columns)

    @cached_property
    def _readers(self) -> tuple[Reader, ...]:
        return tuple(column.read for column in self.columns)

    def values(self, row: Any) -> list[Any]:
        """Return the values of a row, column by column."""
        return [read(row) for read in self._readers]

    @staticmethod
    def csv_lines(rows: Iterable[Sequence[Any]]) -> bytes:
        """Return rows of values as lines of CSV; the writer leaves None empty and writes numbers as `cell` does."""
        return lines(
            [v if type(v) in _PLAIN_TYPES or (type(v) is str and v[:1].isalnum()) else cell(v) for v in values]
            for values in rows
        )


# ---- describing a table as a class -------------------------------------------------------------------------


class Design(NamedTuple):
    """What the columns of a dataset depend on: its games, the study or collection, and how exact times are.

    Attributes:
        shape, source: an `exports.shape.Shape` and an `exports.sources.Source`, which are made of columns themselves.
    """

    shape: Any
    source: Any
    times: Times = "exact"


@dataclass(frozen=True)
class Described:
    """A column of a class. Its name is the attribute's, without an underscore at the end.

    Attributes:
        values: the values that occur, if need be a function of the design.
        of: where a row has the value, as a path of attributes or a function; by default, an attribute of that name.
    """

    kind: Kind
    meaning: str
    unit: str = ""
    values: str | Callable[[Design], str] = ""
    of: str | Reader = ""

    def reader(self, name: str) -> Reader:
        """Return what reads the column `name` from a row."""
        read = self.of if callable(self.of) else attrgetter(self.of or name)
        return partial(_as_json, read) if self.kind == "json" else read

    def column(self, name: str, design: Design | None = None) -> Column:
        """Return the column in a dataset of this design; without one, as far as it is the same in all."""
        read, values = self.reader(name), self.values
        if not isinstance(values, str):
            values = values(design) if design else ""
        column = Column(name, self.kind, self.meaning, read, self.unit, values)
        if self.kind == "time" and design and (times := design.times) != "exact":
            return replace(column, read=lambda row: cut(read(row), times), values=f"cut to the {times}")
        return column


@dataclass(frozen=True)
class Spread:
    """A mapping in each row whose entries are columns of their own, which depend on the games and the design.

    Attributes:
        columns: returns the columns, named as the keys of the mapping.
        prefixes: of the columns' names; a later one is used where a name would otherwise be another column's.
        of: the row's attribute that is the mapping; by default, the one named like this.
    """

    columns: Callable[[Design], Iterable[Column]]
    prefixes: tuple[str, ...]
    of: str = ""


def _as_json(read: Reader, row: Any) -> str | None:
    value = read(row)
    return value if value is None or isinstance(value, str) else compact_json(value)


def _entry(of: str, key: str, row: Any) -> Any:
    entries: Mapping[str, Any] = getattr(row, of)
    return entries.get(key)


column = SimpleNamespace(**{kind: partial(Described, kind) for kind in get_args(Kind)})
"""What describes a column of each kind: `column.integer("Messages in the match.", "messages")`."""


def spread(columns: Callable[[Design], Iterable[Column]], *prefixes: str, of: str = "") -> Any:
    """Return a `Spread` as an attribute of a table's class."""
    return Spread(columns, prefixes or ("",), of)


def described_in(rows: type) -> dict[str, Described]:
    """Return the columns of a table's class that every dataset has, by name."""
    return {name.rstrip("_"): own for name, own in vars(rows).items() if isinstance(own, Described)}


def table_of(rows: type, design: Design, name: str = "") -> Table:
    """Return the table that a class describes, in a dataset of this design; its name is the class's in small letters.

    The text of the class says what a row is.
    """
    columns: list[Column] = []
    taken = set(described_in(rows))
    for attribute, own in vars(rows).items():
        if isinstance(own, Described):
            columns.append(own.column(attribute.rstrip("_"), design))
        elif isinstance(own, Spread):
            for entry in own.columns(design):
                names = [f"{prefix}{entry.name}" for prefix in own.prefixes]
                free = next((each for each in reversed(names) if each not in taken), names[0])
                taken.add(free)
                columns.append(replace(entry, name=free, read=partial(_entry, own.of or attribute, entry.name)))
    return Table(name or rows.__name__.lower(), " ".join(str(rows.__doc__).split()), columns)


def readers(rows: type, header: Sequence[str]) -> list[tuple[str, Reader]]:
    """Return what each column of a file must hold, given the row; None where nothing fills it.

    Args:
        header: the columns of the file.
    """
    fixed = described_in(rows)
    return [
        (name, fixed[name].reader(name) if name in fixed else _first_entry(list(_places(rows, name))))
        for name in header
    ]


def _places(rows: type, name: str) -> Iterator[tuple[str, str]]:
    """Yield (attribute, key) of the entries that a column may show, the likeliest first."""
    for attribute, own in vars(rows).items():
        for prefix in own.prefixes if isinstance(own, Spread) else ():
            if name.startswith(prefix):
                yield own.of or attribute, name.removeprefix(prefix)


def _first_entry(places: Sequence[tuple[str, str]]) -> Reader:
    def read(row: Any) -> Any:
        for attribute, key in places:
            entries = getattr(row, attribute)
            if key in entries:
                return entries[key]
        return None

    return read
