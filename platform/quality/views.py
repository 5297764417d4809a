"""The addresses to which participants' pages send their counts."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from threading import Lock

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from quality import behaviour, counts

MAX_IN_WINDOW = 60
"""Maximum number of messages that a web server accepts from one participant within WINDOW_SECONDS.

A page sends a message when it is hidden or left, at most every fifteen seconds while it is in use, and otherwise every
five minutes."""
WINDOW_SECONDS = 60


@csrf_exempt  # the token in the address is the key, as for all pages of participants
@require_POST
def receive_counts(request: HttpRequest, token: str) -> HttpResponse:
    """Store a page's counts; return 204, or the reason for a refusal. The page does not wait for the answer."""
    return _respond(
        request, token, counts.MAX_BYTES, lambda body: counts.store(token=token, counts=counts.read(body)), _window
    )


@csrf_exempt
@require_POST
def receive_behaviour(request: HttpRequest, token: str) -> HttpResponse:
    """Store a page's input behaviour if the person agreed to it; return 204, or the reason for a refusal."""
    return _respond(
        request,
        token,
        behaviour.MAX_BYTES,
        lambda body: behaviour.store(token=token, message=behaviour.read(body)),
        _behaviour_window,
    )


def _respond(
    request: HttpRequest, token: str, max_bytes: int, store: Callable[[bytes], bool], window: _Window
) -> HttpResponse:
    length = request.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and int(length[:9]) > max_bytes:
        return _refused(413, "too long")
    if window.too_often(token):
        return _refused(429, "too often")
    try:
        is_stored = store(request.body)
    except counts.MessageRefused as reason:
        return _refused(422, str(reason))
    return HttpResponse(status=204) if is_stored else _refused(404, "no such page")


def _refused(status: int, reason: str) -> HttpResponse:
    return HttpResponse(reason, status=status, content_type="text/plain; charset=utf-8")


class _Window:
    """Number of messages per token in the current window, counted by each web server on its own to save time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._window = 0
        self._received: Counter[str] = Counter()

    def too_often(self, token: str) -> bool:
        now = int(time.monotonic() // WINDOW_SECONDS)
        with self._lock:
            if now != self._window:
                self._window, self._received = now, Counter()
            self._received[token[:64]] += 1
            return self._received[token[:64]] > MAX_IN_WINDOW


_window, _behaviour_window = _Window(), _Window()
