"""Where participants' pages send what they have counted."""

from __future__ import annotations

import time

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from quality import counts

MOST_IN_WINDOW = 60
"""Sendings of one participant within WINDOW_SECONDS that are looked at; a page sends at most one in five seconds,
and one more when it is hidden or left."""
WINDOW_SECONDS = 60


@csrf_exempt  # the token in the address is the key, as for all pages of participants
@require_POST
def take(request: HttpRequest, token: str) -> HttpResponse:
    """Keep what a page has counted; 204, or why not. Whoever sends is never held up by it."""
    length = request.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and int(length[:9]) > counts.LONGEST:
        return _refused(413, "too long")
    if _too_often(token):
        return _refused(429, "too often")
    try:
        known = counts.keep(token=token, counts=counts.read(request.body))
    except counts.NotTaken as reason:
        return _refused(422, str(reason))
    return HttpResponse(status=204) if known else _refused(404, "no such page")


def _refused(status: int, reason: str) -> HttpResponse:
    return HttpResponse(reason, status=status, content_type="text/plain; charset=utf-8")


def _too_often(token: str) -> bool:
    key = f"quality/{token[:64]}/{int(time.time() // WINDOW_SECONDS)}"
    cache.add(key, 0, timeout=2 * WINDOW_SECONDS)
    try:
        return cache.incr(key) > MOST_IN_WINDOW
    except ValueError:  # thrown out of a full cache between the two
        return False
