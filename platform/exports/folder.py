"""A dataset's files, hashed and counted while they are written, never read back."""

from __future__ import annotations

import hashlib
import io
import shutil
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

from analysis.formulas import encoded
from exports.columns import Table
from exports.errors import FolderInUse
from exports.manifest import FILE, FileEntry
from exports.parquet import ENDING, schema_of

if TYPE_CHECKING:
    import pyarrow as pa

GROUP_ROWS, GROUP_BYTES = 65_536, 16 * 1024 * 1024
"""Rows or bytes at which a row group is written."""
_BLOCK = 1024 * 1024

PIECES = ".pieces-"
"""Prefix of folders with pieces of files, which exist only while a dataset is written."""


class HashedFile(io.RawIOBase):
    """One file open for writing, to which Arrow can write too."""

    def __init__(self, path: Path):
        self._file: BinaryIO = path.open("wb")
        self._hash = hashlib.sha256()
        self.bytes = 0
        self.rows: int | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._file.write(data)
        self._hash.update(data)
        self.bytes += len(data)
        return len(data)

    def tell(self) -> int:
        return self.bytes

    def add(self, piece: Path, rows: int) -> None:
        """Add a piece with so many rows."""
        with piece.open("rb") as opened:
            while block := opened.read(_BLOCK):
                self.write(block)
        self.rows = (self.rows or 0) + rows

    def finish(self) -> FileEntry:
        """Close the file and return its entry in the manifest."""
        self._file.close()
        return FileEntry(sha256=self._hash.hexdigest(), bytes=self.bytes, rows=self.rows)


class ParquetFile(HashedFile):
    """A Parquet file to which streams of Arrow batches are added, in row groups of bounded size."""

    def __init__(self, path: Path, table: Table):
        super().__init__(path)
        self._table = table
        self._batches: list[pa.RecordBatch] = []

    def add(self, piece: Path, rows: int) -> None:
        import pyarrow as pa

        self.rows = (self.rows or 0) + rows
        if rows == 0:
            return
        with pa.ipc.open_stream(piece.read_bytes()) as batches:
            for batch in batches:
                self._batches.append(batch)
                held = sum(each.num_rows for each in self._batches), sum(each.nbytes for each in self._batches)
                if held[0] >= GROUP_ROWS or held[1] > GROUP_BYTES:
                    self._write_group()

    def finish(self) -> FileEntry:
        if self._batches:
            self._write_group()
        self._writer.close()
        return super().finish()

    def _write_group(self) -> None:
        import pyarrow as pa

        self._writer.write_table(pa.Table.from_batches(self._batches), row_group_size=GROUP_ROWS)
        self._batches = []

    @cached_property
    def _writer(self) -> Any:
        """Writer, created on first use because other processes start in the meantime."""
        import pyarrow.parquet as pq

        return pq.ParquetWriter(self, schema_of(self._table), compression="zstd", use_dictionary=True)


class Folder:
    """The folder of a dataset. The manifest is written last: a folder without one is not a dataset.

    Raises:
        FolderInUse: it is not empty and may not be overwritten, or it is not a folder.
    """

    def __init__(self, path: Path, *, names: list[str], overwrite: bool):
        self.path = path
        if path.exists() and not path.is_dir():
            raise FolderInUse(f"{path} is not a folder.")
        if path.is_dir() and any(path.iterdir()):
            if not overwrite:
                raise FolderInUse(f"{path} is not empty; choose another folder or use --overwrite.")
            for leftover in path.glob(f"{PIECES}*"):
                shutil.rmtree(leftover)  # left by an export that was killed
            for name in [FILE, *names]:
                if (path / name).is_dir():
                    shutil.rmtree(path / name)
                else:
                    (path / name).unlink(missing_ok=True)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FolderInUse(f"Cannot create {path}: {error.strerror}.") from None
        self._open: dict[str, HashedFile] = {}
        self.entries: dict[str, FileEntry] = {}

    def open(self, name: str) -> HashedFile:
        """Open a file."""
        opened = self._open[name] = HashedFile(self.path / name)
        return opened

    def open_for_pieces(self, files: Mapping[str, Table | None]) -> None:
        """Open files whose rows are counted, each with the table that it holds; None: lines."""
        for name, table in files.items():
            if table is not None and name.endswith(ENDING):
                self._open[name] = ParquetFile(self.path / name, table)
            else:
                self.open(name).write(b"" if table is None else table.header)
            self._open[name].rows = 0

    def join(self, pieces: Path, rows: Mapping[str, int]) -> None:
        """Add pieces to the open files, each with so many rows, and remove them."""
        for name, count in rows.items():
            self._open[name].add(pieces / name, count)
        shutil.rmtree(pieces)

    def write(self, name: str, text: str) -> None:
        """Write a whole small file."""
        self.open(name).write(encoded(text))

    @property
    def bytes(self) -> int:
        """Bytes written so far to the open files."""
        return sum(opened.bytes for opened in self._open.values())

    def close(self) -> None:
        """Close every file and store its hash."""
        while self._open:
            name, opened = self._open.popitem()
            self.entries[name] = opened.finish()

    def seal(self, manifest: str) -> None:
        """Write the manifest, which makes the folder a dataset."""
        (self.path / FILE).write_text(manifest, encoding="utf-8", newline="")

    def __enter__(self) -> Folder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
