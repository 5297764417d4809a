"""Breadcrumbs of the admin's own pages."""

from __future__ import annotations

from typing import Any

from django.db.models import Model
from django.urls import reverse


def trail(whole: Model, *between: tuple[Any, str], here: Any) -> dict[str, list[tuple[Any, str]]]:
    """Return the template context for breadcrumbs from the list through the study or collection to the page.

    Args:
        between: intermediate pages, as (title, URL).
        here: the page's title.
    """
    opts = whole._meta
    address = f"admin:{opts.app_label}_{opts.model_name}"
    return {
        "trail": [
            (opts.verbose_name_plural, reverse(f"{address}_changelist")),
            (whole, reverse(f"{address}_change", args=[whole.pk])),
            *between,
            (here, ""),
        ]
    }
