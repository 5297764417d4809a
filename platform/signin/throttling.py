"""Slows down password guessing: repeated failures block sign-in for a while (django-axes)."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.signals import user_login_failed
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from recruiters.addresses import address_of

MAX_DELAY_SECONDS = 5
"""How long the answer to a sign-in is held back at most; see `config.pages`."""


class GuessLimiter:
    """Authentication backend that runs first: blocks an address after many failures, and slows a username down.

    django-axes blocks a username from one address; this backend counts all usernames of an address and all
    addresses of a username. A username is never blocked everywhere: anyone could then lock its owner out.
    """

    @sensitive_variables("credentials")
    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> None:
        if request is None:
            return
        by_address, by_name = (
            cache.get(key, 0) // settings.SIGN_IN_FAILURES for key in _counters(request, credentials)
        )
        if by_address:
            vars(request)["axes_locked_out"] = True  # where axes looks for it
            raise PermissionDenied
        vars(request)["delay_seconds"] = min(by_name, MAX_DELAY_SECONDS)


@receiver(user_login_failed)
@sensitive_variables("credentials")
def count_failure(sender: Any, credentials: Mapping[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    for key in _counters(request, credentials) if request is not None else ():
        cache.add(key, 0, timeout=2 * settings.AXES_COOLOFF_TIME.total_seconds())
        with contextlib.suppress(ValueError):  # evicted from a full cache in the meantime
            cache.incr(key)


@sensitive_variables("credentials")
def _counters(request: HttpRequest, credentials: Mapping[str, Any]) -> list[str]:
    """Return the current counters' cache keys, which contain neither addresses nor usernames."""
    window = int(time.time() // settings.AXES_COOLOFF_TIME.total_seconds())
    values = {"address": address_of(request) or "", "name": str(credentials.get("username", "")).casefold()}
    return [
        f"failed-sign-ins/{kind}/{salted_hmac('signin.throttling', value).hexdigest()[:24]}/{window}"
        for kind, value in values.items()
    ]


@sensitive_variables("credentials")
def lockout_page(
    request: HttpRequest, response: HttpResponse | None = None, credentials: Mapping[str, Any] | None = None
) -> HttpResponse:
    """Return the page shown after too many failures, which says when to try again."""
    username = (credentials or {}).get("username") or request.POST.get("username", "")
    failures = AccessAttempt.objects.filter(username=username, ip_address=address_of(request))
    last_failure = failures.order_by("-attempt_time").values_list("attempt_time", flat=True).first() or timezone.now()
    blocked_until = last_failure + settings.AXES_COOLOFF_TIME
    remaining = max(blocked_until - timezone.now(), timedelta(minutes=1))
    minutes = -(-int(remaining.total_seconds()) // 60)
    context = {
        **admin.site.each_context(request),
        "title": _("Too many attempts"),
        "until": blocked_until,
        "minutes": minutes,
    }
    page = render(request, "signin/barred.html", context, status=429)
    page["Retry-After"] = str(minutes * 60)
    page["Cache-Control"] = "no-store"
    return page
