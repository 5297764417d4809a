"""Files in pieces: each portion of a dataset writes its own pieces, which are joined in order."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from exports.folder import HashedFile

_BLOCK = 1024 * 1024


class Pieces:
    """What one portion writes.

    Attributes:
        folder: folder of the pieces.
        target: the dataset's own folder, for files that belong to a single match.
    """

    def __init__(self, folder: Path, target: Path):
        self.folder, self.target = folder, target
        self.rows: dict[str, int] = {}
        self._open: list[BinaryIO] = []

    def open(self, name: str) -> BinaryIO:
        """Open this portion's piece of the file `name`; it is closed with all others."""
        opened = (self.folder / name).open("wb")
        self._open.append(opened)
        self.rows[name] = 0
        return opened

    def close(self) -> None:
        for opened in self._open:
            opened.close()
        self._open = []


class Joined(Protocol):
    """A file of the dataset to which pieces are added in order."""

    def add(self, piece: Path, rows: int) -> None: ...

    def close(self) -> None: ...


@dataclass
class JoinedText:
    """Pieces one after another, below the header that is already in the file."""

    file: HashedFile

    def add(self, piece: Path, rows: int) -> None:
        with piece.open("rb") as opened:
            while block := opened.read(_BLOCK):
                self.file.write(block)
        self.file.rows = (self.file.rows or 0) + rows

    def close(self) -> None:
        """Do nothing: the folder closes the file."""


def join(folder: Path, rows: Mapping[str, int], files: Mapping[str, Joined]) -> None:
    """Add a portion's pieces to the files and remove them."""
    for name, count in rows.items():
        files[name].add(folder / name, count)
    shutil.rmtree(folder)
