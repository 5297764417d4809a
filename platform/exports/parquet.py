"""Tables as Parquet: the columns of the CSV files with real types, in row groups of bounded size.

Arrow is loaded only when such a file is written or read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

from exports.columns import Column, Kind, Table
from exports.csvsafe import plain, storable
from exports.errors import WrongValueType
from exports.folder import Folder, HashedFile
from exports.pieces import Pieces

if TYPE_CHECKING:
    import pyarrow as pa

ENDING = ".parquet"
GROUP_ROWS, GROUP_BYTES = 65_536, 16 * 1024 * 1024
"""Rows or bytes at which a row group is written."""
BATCH_ROWS, BATCH_TEXT = 2000, 4 * 1024 * 1024
"""Rows, or characters in them, at which rows are turned into columns."""


def file_of(table: Table) -> str:
    """Return the name of a table's Parquet file."""
    return f"{table.name}{ENDING}"


def schema_of(table: Table) -> pa.Schema:
    """Return the names, types and meanings of a table's columns; every column may have empty cells."""
    import pyarrow as pa

    types: Mapping[Kind, pa.DataType] = {
        "number": pa.float64(),
        "integer": pa.int64(),
        "boolean": pa.bool_(),
        "time": pa.timestamp("us", tz="UTC"),
    }
    return pa.schema(
        [
            pa.field(column.name, types.get(column.kind, pa.string()), metadata=_metadata(column))
            for column in table.columns
        ],
        metadata={"table": table.name, "meaning": table.meaning},
    )


def _metadata(column: Column) -> dict[str, str]:
    entries = {"meaning": column.meaning, "kind": column.kind, "unit": column.unit, "values": column.values}
    return {key: text for key, text in entries.items() if text}


# ---- values ------------------------------------------------------------------------------------------


def _number(value: Any) -> float | None:
    if type(value) is float or value is None:
        return value
    if isinstance(value, int | float | Decimal):
        return float(value)
    raise TypeError


def _integer(value: Any) -> int | None:
    if (type(value) is int and -(2**63) <= value < 2**63) or value is None:
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:
        return int(value)
    raise TypeError


def _boolean(value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise TypeError


def _time(value: Any) -> datetime | None:
    if value is None or isinstance(value, datetime):
        return value and value.astimezone(UTC)
    raise TypeError


def _text(value: Any) -> str | None:
    return None if value is None else storable(plain(value))


_CONVERTED: Mapping[str, Callable[[Any], Any]] = {
    "number": _number,
    "integer": _integer,
    "boolean": _boolean,
    "time": _time,
}
_UNCHANGED_TYPES: Mapping[str, frozenset[type]] = {
    "number": frozenset({float, NoneType}),
    "integer": frozenset({NoneType}),
    "boolean": frozenset({bool, NoneType}),
    "time": frozenset({NoneType}),
}
"""Types whose values a column stores unchanged. Most values are of these types; converting each would be slow."""


def converted(column: Column, values: Sequence[Any]) -> list[Any]:
    """Return values in the column's type.

    Raises:
        WrongValueType: a value is of another type.
    """
    convert = _CONVERTED.get(column.kind, _text)
    try:
        if convert is _text:
            return [v if v is None or (type(v) is str and v.isascii()) else _text(v) for v in values]
        unchanged = _UNCHANGED_TYPES[column.kind]
        return [v if type(v) in unchanged else convert(v) for v in values]
    except TypeError:
        invalid = next(value for value in values if not _fits(convert, value))
        raise WrongValueType(f"{column.name} holds {invalid!r:.80}, which is not of kind {column.kind}.") from None


def _fits(convert: Callable[[Any], Any], value: Any) -> bool:
    try:
        convert(value)
    except TypeError:
        return False
    return True


def batch_of(table: Table, rows: Sequence[Sequence[Any]], schema: pa.Schema) -> pa.RecordBatch:
    """Return rows of values as columns."""
    import pyarrow as pa

    columns = zip(*rows, strict=True) if rows else ((),) * len(table.columns)
    arrays = [
        pa.array(converted(column, values), type=field.type)
        for column, values, field in zip(table.columns, columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


# ---- writing -----------------------------------------------------------------------------------------


class ParquetRows:
    """A portion's rows of one table, as a stream of Arrow batches."""

    def __init__(self, table: Table, pieces: Pieces):
        self._table, self._pieces = table, pieces
        self._file = pieces.open(file_of(table))
        self._schema: pa.Schema | None = None
        self._writer: Any = None
        self._buffer: list[Sequence[Any]] = []
        self._text_columns = [i for i, column in enumerate(table.columns) if column.kind in ("text", "json")]
        self._text = 0

    def add(self, values: Sequence[Any]) -> None:
        self._buffer.append(values)
        for i in self._text_columns:
            if type(value := values[i]) is str:
                self._text += len(value)
        if len(self._buffer) >= BATCH_ROWS or self._text >= BATCH_TEXT:
            self._write()

    def close(self) -> None:
        if self._buffer:
            self._write()
        if self._writer is not None:
            self._writer.close()

    def _write(self) -> None:
        import pyarrow as pa

        if self._writer is None:
            self._schema = schema_of(self._table)
            self._writer = pa.ipc.new_stream(self._file, self._schema)
        self._writer.write_batch(batch_of(self._table, self._buffer, self._schema))
        self._pieces.rows[file_of(self._table)] += len(self._buffer)
        self._buffer, self._text = [], 0


class JoinedParquet:
    """A Parquet file to which streams of Arrow batches are added."""

    def __init__(self, file: HashedFile, table: Table):
        self._file = file
        self._table = table
        self._buffer: list[pa.RecordBatch] = []

    def add(self, piece: Path, rows: int) -> None:
        import pyarrow as pa

        if rows == 0:
            return
        with pa.ipc.open_stream(piece.read_bytes()) as batches:
            for batch in batches:
                self.add_batch(batch)

    def add_batch(self, batch: pa.RecordBatch) -> None:
        self._buffer.append(batch)
        self._file.rows = (self._file.rows or 0) + batch.num_rows
        if (
            sum(buffered.num_rows for buffered in self._buffer) >= GROUP_ROWS
            or sum(buffered.nbytes for buffered in self._buffer) > GROUP_BYTES
        ):
            self._write()

    def close(self) -> None:
        if self._buffer:
            self._write()
        self._writer.close()

    def _write(self) -> None:
        import pyarrow as pa

        self._writer.write_table(pa.Table.from_batches(self._buffer), row_group_size=GROUP_ROWS)
        self._buffer = []

    @cached_property
    def _writer(self) -> Any:
        """Writer, created on first use because other processes start in the meantime."""
        import pyarrow.parquet as pq

        return pq.ParquetWriter(_Sink(self._file), schema_of(self._table), compression="zstd", use_dictionary=True)


class _Sink:
    """A hashed file that Arrow can write to."""

    closed = False

    def __init__(self, file: HashedFile):
        self._file = file

    def write(self, data: Any) -> int:
        self._file.write(bytes(data))
        return len(data)

    def tell(self) -> int:
        return self._file.bytes

    def flush(self) -> None: ...

    def close(self) -> None: ...

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False


def write_whole(target: Folder, table: Table, rows: Iterable[Any]) -> None:
    """Write a whole small table."""
    joined = JoinedParquet(target.open(file_of(table), header=b""), table)
    values = [table.values(subject) for subject in rows]
    joined.add_batch(batch_of(table, values, schema_of(table)))
    joined.close()


# ---- reading -----------------------------------------------------------------------------------------


def errors() -> tuple[type[Exception], ...]:
    """Return the exceptions that reading a damaged file may raise."""
    import pyarrow as pa

    return (pa.ArrowException,)


def columns_in(path: Path) -> list[str]:
    """Return the names of a file's columns."""
    import pyarrow.parquet as pq

    return list(pq.read_schema(path).names)


def rows_in(path: Path) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a file, in batches too small to affect memory."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as opened:
        for batch in opened.iter_batches(batch_size=BATCH_ROWS):
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
