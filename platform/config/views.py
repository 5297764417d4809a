"""Pages that belong to no app: the front door, health, and what is shown when nothing is found."""

from __future__ import annotations

from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache


def home(request: HttpRequest) -> HttpResponse:
    """Where somebody lands who typed the bare address."""
    return render(request, "home.html")


@never_cache
def health(request: HttpRequest) -> JsonResponse:
    """200 when this process serves pages and reaches its database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return JsonResponse({"status": "ok"})


def not_found(request: HttpRequest, exception: Exception | None, **named: str) -> HttpResponse:
    return render(request, "404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    return render(request, "500.html", status=500)
