"""Pages that belong to no app: the home page, the health check and error pages."""

from __future__ import annotations

import sys

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache

from showcase import views as showcase

RELOAD_SECONDS = 5
"""Seconds after which the page about an unavailable database reloads."""


def home(request: HttpRequest) -> HttpResponse:
    """Render the home page: the showcase in the demo, otherwise who runs this server."""
    if settings.DEMO:
        return showcase.home(request)
    owner = {"name": settings.SITE_OWNER, "contact": settings.SITE_CONTACT, "privacy": settings.PRIVACY_URL}
    return render(request, "home.html", {"owner": owner})


@never_cache
def health(request: HttpRequest) -> JsonResponse:
    """Return 200 when this process serves pages and reaches its database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return JsonResponse({"status": "ok"})


def not_found(request: HttpRequest, exception: Exception | None, **_url_values: str) -> HttpResponse:
    return render(request, "404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Return an error page without details; while the database is unavailable, one that reloads automatically."""
    if not isinstance(sys.exc_info()[1], (OperationalError, InterfaceError)):
        return render(request, "500.html", status=500)
    retry_url = request.get_full_path() if request.method in ("GET", "HEAD") else request.path
    page = render(None, "503.html", {"again": retry_url, "seconds": RELOAD_SECONDS}, status=503)
    page["Retry-After"] = str(RELOAD_SECONDS)
    page["Cache-Control"] = "no-store"
    return page
