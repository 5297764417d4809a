"""Breadcrumbs of the admin's own pages."""

from __future__ import annotations

from typing import Any

from django.db.models import Model
from django.urls import reverse


def trail(parent: Model, *pages: tuple[Any, str], here: Any) -> dict[str, list[tuple[Any, str]]]:
    """Return the template context for breadcrumbs from the list through the study or collection to the page.

    Args:
        pages: the pages in between, as (title, URL).
        here: the page's title.
    """
    opts = parent._meta
    url_prefix = f"admin:{opts.app_label}_{opts.model_name}"
    return {
        "trail": [
            (opts.verbose_name_plural, reverse(f"{url_prefix}_changelist")),
            (parent, reverse(f"{url_prefix}_change", args=[parent.pk])),
            *pages,
            (here, ""),
        ]
    }
