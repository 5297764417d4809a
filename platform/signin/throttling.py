"""Guessing passwords is slow: after some failures a name is barred from an address for a while (django-axes)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables


def address_of(request: HttpRequest) -> str | None:
    """The visitor's address: the connection's own, or what the nearest trusted proxy says it was.

    With TRUSTED_PROXIES = n, the nth entry from the right of X-Forwarded-For; what stands further left
    was written by the visitor.
    """
    own = request.META.get("REMOTE_ADDR") or None
    told = [part.strip() for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if part.strip()]
    proxies = settings.TRUSTED_PROXIES
    return told[-proxies] if 0 < proxies <= len(told) else own


@sensitive_variables("credentials")
def barred(
    request: HttpRequest, response: HttpResponse | None = None, credentials: Mapping[str, Any] | None = None
) -> HttpResponse:
    """The page for who has failed too often: when to come back."""
    username = (credentials or {}).get("username") or request.POST.get("username", "")
    failures = AccessAttempt.objects.filter(username=username, ip_address=address_of(request))
    last = failures.order_by("-attempt_time").values_list("attempt_time", flat=True).first() or timezone.now()
    until = last + settings.AXES_COOLOFF_TIME
    left = max(until - timezone.now(), timedelta(minutes=1))
    minutes = -(-int(left.total_seconds()) // 60)
    about = {**admin.site.each_context(request), "title": _("Too many tries"), "until": until, "minutes": minutes}
    page = render(request, "signin/barred.html", about, status=429)
    page["Retry-After"] = str(minutes * 60)
    page["Cache-Control"] = "no-store"
    return page
