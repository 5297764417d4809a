"""Refuse admin requests whose address contains a null character: PostgreSQL cannot compare one."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin


class RefuseNulls(MiddlewareMixin):
    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if not request.path_info.startswith(reverse("admin:index")):
            return None
        if "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            return HttpResponseBadRequest("This address contains a null character.", content_type="text/plain")
        return None
