"""Images and videos as browsers ask for them: cached for good, and in parts (Safari plays no video otherwise)."""

from __future__ import annotations

import re

from django.db.models import BinaryField
from django.db.models.functions import Substr
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from pages.models import Media

MAX_PART = 1024 * 1024
"""How many bytes one answer to a request for a part has at most; players ask for the rest."""


@require_safe
def media(request: HttpRequest, sha256: str) -> HttpResponse:
    """Return the file with this hash, or the part of it that the `Range` header asks for."""
    file = Media.objects.filter(sha256=sha256).only("mime_type", "size").first()
    if file is None:
        raise Http404
    etag = f'"{sha256}"'
    if etag in request.headers.get("If-None-Match", ""):
        response = HttpResponse(status=304)
    elif "Range" in request.headers and request.headers.get("If-Range", etag) == etag:
        response = _part(file, request.headers["Range"])
    else:
        response = HttpResponse(_bytes(file, 0, file.size) if request.method == "GET" else b"")
        response["Content-Length"] = str(file.size)
    response["Content-Type"] = file.mime_type
    response["Accept-Ranges"] = "bytes"
    response["ETag"] = etag
    response["Cache-Control"] = "public, max-age=31536000, immutable"
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _part(file: Media, asked: str) -> HttpResponse:
    match = re.fullmatch(r"bytes=(\d{0,12})-(\d{0,12})", asked.strip(), re.ASCII)
    if match is None or not any(match.groups()):
        return HttpResponse(_bytes(file, 0, file.size))  # several parts, or none: the whole file is a valid answer
    first, last = match.groups()
    start = int(first) if first else max(0, file.size - int(last))
    end = min(file.size, int(last) + 1 if first and last else file.size, start + MAX_PART)
    if start >= end:
        response = HttpResponse(status=416)
        response["Content-Range"] = f"bytes */{file.size}"
        return response
    response = HttpResponse(_bytes(file, start, end), status=206)
    response["Content-Range"] = f"bytes {start}-{end - 1}/{file.size}"
    return response


def _bytes(file: Media, start: int, end: int) -> bytes:
    """Return a part of the file, without reading the rest."""
    part = Substr("data", start + 1, end - start, output_field=BinaryField())
    return bytes(Media.objects.filter(pk=file.pk).values_list(part, flat=True).get())
