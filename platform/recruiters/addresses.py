"""Where visitors come from, as far as it must be known: to slow down whoever asks too often."""

from __future__ import annotations

import time

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

_HOUR = 3600


def address_of(request: HttpRequest) -> str | None:
    """The visitor's address: the connection's own, or what the nearest trusted proxy says it was.

    With TRUSTED_PROXIES = n, the nth entry from the right of X-Forwarded-For; what stands further left
    was written by the visitor.
    """
    own = request.META.get("REMOTE_ADDR") or None
    told = [part.strip() for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if part.strip()]
    proxies = settings.TRUSTED_PROXIES
    return told[-proxies] if 0 < proxies <= len(told) else own


def counted(request: HttpRequest, what: str) -> int:
    """How often `what` has been done from this address within this hour, now included; the address is not kept."""
    secret = salted_hmac("recruiters.addresses", address_of(request) or "").hexdigest()[:24]
    key = f"{what}/{secret}/{int(time.time() // _HOUR)}"
    cache.add(key, 0, timeout=2 * _HOUR)
    try:
        return cache.incr(key)
    except ValueError:  # thrown out of a full cache between the two
        return 1
