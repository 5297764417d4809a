"""When memory of the endpoints is read again without being asked to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.urls import reverse

from opponents.endpoints import MEMORY, refresh_if_old


def endpoint_changed(**signal: Any) -> None:
    """An endpoint was saved or deleted in this process: what is remembered is old."""
    transaction.on_commit(MEMORY.grow_old)


def page_of_the_admin(
    environ: Mapping[str, Any] | None = None, scope: Mapping[str, Any] | None = None, **signal: Any
) -> None:
    """A page where agents may be named is about to be made."""
    path = environ.get("PATH_INFO", "") if environ is not None else (scope or {}).get("path", "")
    if path.startswith(reverse("admin:index")):
        refresh_if_old()
