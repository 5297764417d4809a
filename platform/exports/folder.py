"""A dataset's files, hashed and counted while they are written, never read back."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from exports.csvsafe import encoded
from exports.errors import FolderInUse
from exports.manifest import FILE, FileEntry

PIECES = ".pieces-"
"""Prefix of folders with pieces of files, which exist only while a dataset is written."""


class HashedFile:
    """One file open for writing."""

    def __init__(self, path: Path):
        self._file: BinaryIO = path.open("wb")
        self._hash = hashlib.sha256()
        self.bytes = 0
        self.rows: int | None = None

    def write(self, data: bytes) -> None:
        self._file.write(data)
        self._hash.update(data)
        self.bytes += len(data)

    def write_row(self, data: bytes) -> None:
        """Write one record and count it."""
        self.write(data)
        self.rows = (self.rows or 0) + 1

    def close(self) -> FileEntry:
        self._file.close()
        return FileEntry(sha256=self._hash.hexdigest(), bytes=self.bytes, rows=self.rows)


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

    def open(self, name: str, *, header: bytes | None = None) -> HashedFile:
        """Open a file; with a header, its rows are counted."""
        opened = self._open[name] = HashedFile(self.path / name)
        if header is not None:
            opened.write(header)
            opened.rows = 0
        return opened

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
            self.entries[name] = opened.close()

    def seal(self, manifest: str) -> None:
        """Write the manifest, which makes the folder a dataset."""
        (self.path / FILE).write_text(manifest, encoding="utf-8", newline="")

    def __enter__(self) -> Folder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
