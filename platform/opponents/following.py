"""When the endpoints in memory are refreshed automatically."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.urls import reverse

from opponents.endpoints import MEMORY, refresh_if_old


def expire_memory(**_signal: Any) -> None:
    """Mark memory as outdated when an endpoint is saved or deleted in this process."""
    transaction.on_commit(MEMORY.expire)


def refresh_for_admin_page(
    environ: Mapping[str, Any] | None = None, scope: Mapping[str, Any] | None = None, **_signal: Any
) -> None:
    """Refresh memory before an admin page is rendered, since it may list agents."""
    path = environ.get("PATH_INFO", "") if environ is not None else (scope or {}).get("path", "")
    if path.startswith(reverse("admin:index")):
        refresh_if_old()
