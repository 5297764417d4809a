"""The admin's first page: recent studies and shortcuts."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from payouts.services import waiting
from rights.parts import visible
from studies.models import Study

STUDIES_SHOWN = 8
COLOURS = {"draft": "info", "launched": "success", "paused": "warning", "closed": "danger"}


def first_page(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Return the first page's context: the newest studies that the user is a member of."""
    studies = visible(request.user, Study.objects.all()).order_by("-created_at", "-pk")
    listed_studies = list(studies[: STUDIES_SHOWN + 1])
    waiting_payments = waiting([study.slug for study in listed_studies])
    newest = [(study, COLOURS[study.status], waiting_payments.get(study.slug)) for study in listed_studies]
    return {
        **context,
        "newest_studies": newest[:STUDIES_SHOWN],
        "more_studies": len(newest) > STUDIES_SHOWN,
        "may_add_study": admin.site.get_model_admin(Study).has_add_permission(request),
    }
