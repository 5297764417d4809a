"""Packing a dataset into a single zip and downloading it."""

from __future__ import annotations

import shutil
import tempfile
import time
import zipfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from io import BufferedRandom
from pathlib import Path
from typing import BinaryIO

from asgiref.sync import sync_to_async
from django.core.files import File
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse

from collecting.models import Collection
from exports.dataset import Progress, export
from exports.formats import DEFAULT_FORMATS
from exports.manifest import Manifest
from exports.parquet import ENDING
from exports.times import Times
from studies.models import Study

_BLOCK = 256 * 1024
_FOLDER_PREFIX = "parley-dataset-"
"""Prefix of the temporary folders."""
_LEFTOVER_AGE = 24 * 3600
"""Age in seconds above which such a folder must come from a killed process."""


def pack_dataset(
    parent: Study | Collection,
    name: str,
    formats: Iterable[str] = DEFAULT_FORMATS,
    *,
    excluded: bool = False,
    times: Times = "exact",
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> tuple[BufferedRandom, Manifest]:
    """Return the dataset as a zip in an unnamed temporary file, which the caller closes.

    Args:
        excluded, times, on_progress: as for `export`.

    Raises:
        ExportError: as for `export`.
    """
    _delete_leftovers()
    pack = tempfile.TemporaryFile()  # noqa: SIM115
    try:
        with tempfile.TemporaryDirectory(prefix=_FOLDER_PREFIX) as folder:
            target = Path(folder) / name
            manifest = export(parent, target, formats, excluded=excluded, times=times, on_progress=on_progress)
            with zipfile.ZipFile(pack, "w", zipfile.ZIP_DEFLATED) as archive:
                for path in sorted(target.rglob("*")):
                    if path.is_file():
                        archive.write(path, f"{name}/{path.relative_to(target)}", _compression(path))
        pack.seek(0)
    except BaseException:
        pack.close()
        raise
    return pack, manifest


def _delete_leftovers() -> None:
    """Remove what killed processes left behind: it may contain data of people who have been erased since."""
    for leftover in Path(tempfile.gettempdir()).glob(f"{_FOLDER_PREFIX}*"):
        try:
            if leftover.stat().st_mtime < time.time() - _LEFTOVER_AGE:
                shutil.rmtree(leftover)
        except OSError:  # another process was faster, or it belongs to another user
            continue


def _compression(path: Path) -> int:
    """Return how a file is stored: uncompressed if it is already compressed."""
    return zipfile.ZIP_STORED if path.suffix == ENDING else zipfile.ZIP_DEFLATED


def zip_response(request: HttpRequest, pack: BinaryIO | File, name: str) -> StreamingHttpResponse:
    """Return the zip as a response, in pieces."""
    size = pack.seek(0, 2)
    pack.seek(0)
    pieces = _pieces_async(pack) if isinstance(request, ASGIRequest) else _pieces(pack)
    response = StreamingHttpResponse(pieces, content_type="application/zip")
    response["Content-Length"] = str(size)
    response["Content-Disposition"] = f'attachment; filename="{name}.zip"'
    response["Content-Encoding"] = "identity"  # already compressed; keeps the announced length
    response["Cache-Control"] = "no-store"
    return response


def _pieces(pack: BinaryIO | File) -> Iterator[bytes]:
    with pack:
        while block := pack.read(_BLOCK):
            yield block


async def _pieces_async(pack: BinaryIO | File) -> AsyncIterator[bytes]:
    """Yield the same pieces for the web server's event loop, which would otherwise collect everything first."""
    try:
        while block := await sync_to_async(pack.read, thread_sensitive=False)(_BLOCK):
            yield block
    finally:
        pack.close()
