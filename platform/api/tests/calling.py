"""Tokens for tests, and API calls with them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from api import tokens
from studies.models import Study


def issue_token(study: Study, by: User, *scopes: str, name: str = "analysis", days: float = 1) -> str:
    """Return the secret of a new token."""
    expires_at = timezone.now() + timedelta(days=days)
    return tokens.issue(study=study, name=name, scopes=list(scopes), expires_at=expires_at, by=by)[1]


def call(path: str, secret: str | None = None, *, method: str = "get", **kwargs: Any) -> HttpResponse:
    """Call the API, with or without a token."""
    if method == "post":
        kwargs.setdefault("content_type", "application/json")
    headers = {**({"Authorization": f"Bearer {secret}"} if secret else {}), **kwargs.pop("headers", {})}
    return getattr(Client(), method)(f"/api/v1{path}", headers=headers, **kwargs)
