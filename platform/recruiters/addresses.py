"""Visitors' IP addresses, used only to slow down those who send too many requests."""

from __future__ import annotations

import time

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

_HOUR = 3600


def address_of(request: HttpRequest) -> str | None:
    """Return the visitor's address: the connection's own or the one reported by the trusted proxies.

    With TRUSTED_PROXIES = n this is the nth entry from the right of X-Forwarded-For. Visitors can forge
    entries further left.
    """
    connection_address = request.META.get("REMOTE_ADDR") or None
    forwarded = [entry.strip() for entry in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if entry.strip()]
    proxies = settings.TRUSTED_PROXIES
    return forwarded[-proxies] if 0 < proxies <= len(forwarded) else connection_address


def counted(request: HttpRequest, event: str) -> int:
    """Count one more `event` from this address; return the count of this hour. The address itself is not stored."""
    secret = salted_hmac("recruiters.addresses", address_of(request) or "").hexdigest()[:24]
    key = f"{event}/{secret}/{int(time.time() // _HOUR)}"
    cache.add(key, 0, timeout=2 * _HOUR)
    try:
        return cache.incr(key)
    except ValueError:  # evicted from a full cache in between
        return 1
