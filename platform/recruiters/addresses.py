"""Visitors' IP addresses, used only to slow down those who send too many requests."""

from __future__ import annotations

import time
from contextlib import suppress

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

_HOUR, _MINUTE = 3600, 60
FAILURES_PER_MINUTE = 300
"""Links that admit no one, opened from one address, after which the address has to wait for the next minute. A
lecture hall full of typing errors stays below it, and a program that guesses codes does not get far."""


def address_of(request: HttpRequest) -> str | None:
    """Return the visitor's address: the connection's own or the one reported by the trusted proxies.

    With TRUSTED_PROXIES = n this is the nth entry from the right of X-Forwarded-For. Visitors can forge
    entries further left.
    """
    connection_address = request.META.get("REMOTE_ADDR") or None
    forwarded = [entry.strip() for entry in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if entry.strip()]
    proxies = settings.TRUSTED_PROXIES
    return forwarded[-proxies] if 0 < proxies <= len(forwarded) else connection_address


def counted(request: HttpRequest, event: str, *, seconds: int = _HOUR) -> int:
    """Count one more `event` from this address; return the count in this hour, or in this window of `seconds`."""
    key = _key(request, event, seconds)
    for _attempt in range(2):
        with suppress(ValueError):  # nothing counted yet
            return cache.incr(key)
        if cache.add(key, 1, timeout=2 * seconds):
            break
    return 1


def count_failure(request: HttpRequest) -> None:
    """Count a link that admitted no one because it is unknown or forged."""
    counted(request, "failures", seconds=_MINUTE)


def failed_too_often(request: HttpRequest) -> bool:
    return int(cache.get(_key(request, "failures", _MINUTE)) or 0) >= FAILURES_PER_MINUTE


def _key(request: HttpRequest, event: str, seconds: int) -> str:
    """Return the key of the address's current count; the address itself is not stored."""
    secret = salted_hmac("recruiters.addresses", address_of(request) or "").hexdigest()[:24]
    return f"{event}/{secret}/{int(time.time() // seconds)}"
