"""The dataset as a download for researchers."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import BinaryIO

from asgiref.sync import sync_to_async
from django.contrib.admin.views.decorators import staff_member_required
from django.core.exceptions import PermissionDenied
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.views.decorators.http import require_POST

from audit import services as audit
from audit.deeds import Deed
from collecting.models import Collection
from exports.dataset import export
from rights.parts import may, visible
from rights.roles import Role
from studies.models import Study

_BLOCK = 256 * 1024


@require_POST
@staff_member_required
def dataset(request: HttpRequest, slug: str) -> HttpResponse:
    """Export a study and send it as a zip."""
    return _sent(request, get_object_or_404(visible(request.user, Study.objects.all()), slug=slug))


@require_POST
@staff_member_required
def dataset_of_collection(request: HttpRequest, slug: str) -> HttpResponse:
    """Export a collection and send it as a zip."""
    return _sent(request, get_object_or_404(visible(request.user, Collection.objects.all()), slug=slug))


def _sent(request: HttpRequest, made: Study | Collection) -> HttpResponse:
    if not may(request.user, made, role=Role.EDITOR):
        raise PermissionDenied
    name = f"{made.slug}-{timezone.now():%Y%m%d-%H%M}"
    packed = _packed(made, name)
    audit.record(deed=Deed.EXPORTED, who=request.user, target=made)
    size = packed.seek(0, 2)
    packed.seek(0)
    pieces = _pieces_async(packed) if isinstance(request, ASGIRequest) else _pieces(packed)
    response = StreamingHttpResponse(pieces, content_type="application/zip")
    response["Content-Length"] = str(size)
    response["Content-Disposition"] = f'attachment; filename="{name}.zip"'
    response["Content-Encoding"] = "identity"  # packed already; keeps the length that is announced
    response["Cache-Control"] = "no-store"
    return response


def _packed(made: Study | Collection, name: str) -> BinaryIO:
    """The dataset as a zip in a nameless temporary file, which whoever sends it closes."""
    packed = tempfile.TemporaryFile()  # noqa: SIM115
    try:
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / name
            export(made, target)
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
                for path in sorted(target.iterdir()):
                    archive.write(path, f"{name}/{path.name}")
    except BaseException:
        packed.close()
        raise
    return packed


def _pieces(packed: BinaryIO) -> Iterator[bytes]:
    with packed:
        while block := packed.read(_BLOCK):
            yield block


async def _pieces_async(packed: BinaryIO) -> AsyncIterator[bytes]:
    """The same for the event loop of the web server, which would otherwise gather everything first."""
    try:
        while block := await sync_to_async(packed.read, thread_sensitive=False)(_BLOCK):
            yield block
    finally:
        packed.close()
