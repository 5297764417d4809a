"""Files in pieces: each portion of a dataset writes its own pieces, which are joined in order.

There is one writer of tables: it takes rows in batches of bounded size, and writes each batch to the table's CSV file
and, as an Arrow batch, to its Parquet file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from exports.columns import Table
from exports.parquet import ENDING, batch_of, schema_of

BATCH_ROWS, BATCH_TEXT = 2000, 4 * 1024 * 1024
"""Rows, or characters in them, at which a batch is written."""


class Pieces:
    """What one portion writes.

    Args:
        files: the names of its files, each with the table that it holds; None: lines.

    Attributes:
        rows: the number of rows or lines by file.
    """

    def __init__(self, folder: Path, files: Mapping[str, Table | None]):
        self.folder = folder
        self.rows = dict.fromkeys(files, 0)
        self._open = {name: (folder / name).open("wb") for name in files}
        self._tables = {
            table.name: _Batches(
                table, {name: self._open[name] for name, of in files.items() if of is table}, self.rows
            )
            for table in files.values()
            if table is not None
        }

    def __contains__(self, name: str) -> bool:
        return name in self._open

    def row(self, table: str, row: Any) -> None:
        """Write a row of a table, if one of the files holds it."""
        if (batches := self._tables.get(table)) is not None:
            batches.add(row)

    def line(self, name: str, line: bytes) -> None:
        """Write a line of a file without a table."""
        self._open[name].write(line)
        self.rows[name] += 1

    def __enter__(self) -> Pieces:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            for batches in self._tables.values():
                batches.close()
        for opened in self._open.values():
            opened.close()


class _Batches:
    """The rows of one table, for all of its files."""

    def __init__(self, table: Table, files: Mapping[str, BinaryIO], rows: dict[str, int]):
        self._table, self._files, self._rows = table, files, rows
        self._batch: list[Sequence[Any]] = []
        self._text_columns = [i for i, column in enumerate(table.columns) if column.kind in ("text", "json")]
        self._text = 0
        self._stream: Any = None
        self._schema: Any = None

    def add(self, row: Any) -> None:
        values = self._table.values(row)
        self._batch.append(values)
        for i in self._text_columns:
            if type(value := values[i]) is str:
                self._text += len(value)
        if len(self._batch) >= BATCH_ROWS or self._text >= BATCH_TEXT:
            self._write()

    def close(self) -> None:
        if self._batch:
            self._write()
        if self._stream is not None:
            self._stream.close()

    def _write(self) -> None:
        for name, file in self._files.items():
            if name.endswith(ENDING):
                self._write_arrow(file)
            else:
                file.write(self._table.csv_lines(self._batch))
            self._rows[name] += len(self._batch)
        self._batch, self._text = [], 0

    def _write_arrow(self, file: BinaryIO) -> None:
        import pyarrow as pa

        if self._stream is None:
            self._schema = schema_of(self._table)
            self._stream = pa.ipc.new_stream(file, self._schema)
        self._stream.write_batch(batch_of(self._table, self._batch, self._schema))
