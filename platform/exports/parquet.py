"""Tables as Arrow and Parquet: the columns of the CSV files with real types.

Arrow is loaded only when such a file is written or read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

from exports.columns import Column, Kind, Table
from exports.csvsafe import plain, storable
from exports.errors import WrongValueType

if TYPE_CHECKING:
    import pyarrow as pa

ENDING = ".parquet"
_ROWS_READ = 2000
"""Rows that are read at once."""


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


def _number(value: Any) -> float:
    if isinstance(value, int | float | Decimal):
        return float(value)
    raise TypeError(value)


def _integer(value: Any) -> int:
    if type(value) is int and -(2**63) <= value < 2**63:
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:
        return int(value)
    raise TypeError(value)


def _boolean(value: Any) -> bool:
    raise TypeError(value)


def _time(value: Any) -> datetime:
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    raise TypeError(value)


_CONVERTED: Mapping[str, tuple[frozenset[type], Callable[[Any], Any]]] = {
    "number": (frozenset({float, NoneType}), _number),
    "integer": (frozenset({NoneType}), _integer),
    "boolean": (frozenset({bool, NoneType}), _boolean),
    "time": (frozenset({NoneType}), _time),
}
"""By kind: the types whose values are stored unchanged, and what converts others. Most values are of these types;
converting each would be slow."""


def converted(column: Column, values: Sequence[Any]) -> list[Any]:
    """Return values in the column's type.

    Raises:
        WrongValueType: a value is of another type.
    """
    if column.kind not in _CONVERTED:
        return [v if v is None or (type(v) is str and v.isascii()) else storable(plain(v)) for v in values]
    unchanged, convert = _CONVERTED[column.kind]
    try:
        return [v if type(v) in unchanged else convert(v) for v in values]
    except TypeError as error:
        (value,) = error.args
        raise WrongValueType(f"{column.name} holds {value!r:.80}, which is not of kind {column.kind}.") from None


def batch_of(table: Table, rows: Sequence[Sequence[Any]], schema: pa.Schema) -> pa.RecordBatch:
    """Return rows of values as columns."""
    import pyarrow as pa

    columns = zip(*rows, strict=True) if rows else ((),) * len(table.columns)
    arrays = [
        pa.array(converted(column, values), type=field.type)
        for column, values, field in zip(table.columns, columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


# ---- reading -----------------------------------------------------------------------------------------


def columns_in(path: Path) -> list[str]:
    """Return the names of a file's columns."""
    import pyarrow.parquet as pq

    return list(pq.read_schema(path).names)


def rows_in(path: Path) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a file, in batches too small to affect memory."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as opened:
        for batch in opened.iter_batches(batch_size=_ROWS_READ):
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
