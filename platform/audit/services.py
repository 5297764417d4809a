"""Write audit records."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db.models import Model

from audit.models import Record

_SECRET = re.compile(r"password|passwd|secret|token|api_?key|sealed_key|new_key", re.IGNORECASE)
HIDDEN = "•••"


def record(
    *,
    action: str,
    user: AbstractBaseUser | AnonymousUser | None,
    target: Model | None = None,
    of: Model | None = None,
    details: Mapping[str, Any] | None = None,
) -> Record:
    """Record an action. Call this in the action's own transaction, so that both are saved or neither.

    Args:
        action: one of `audit.actions.Action`.
        user: the user; None for commands and visitors who are not signed in.
        target: what it was done to.
        of: the study or collection that the target belongs to, whose owners may read the record; default:
            the target itself.
        details: plain data. Values are hidden if their name suggests a secret.
    """
    of = of if of is not None else target
    person = user if user is not None and user.pk is not None else None
    return Record.objects.create(
        action=action,
        by=person.get_username() if person is not None else "",
        by_id=person.pk if person is not None else None,
        kind=target._meta.label_lower if target is not None else "",
        key=str(target.pk) if target is not None else "",
        title=str(target)[:200] if target is not None else "",
        of_kind=of._meta.label_lower if of is not None else "",
        of_key=str(of.pk) if of is not None else "",
        details=_without_secrets(dict(details or {})),
    )


def _without_secrets(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {
            str(name): HIDDEN if _SECRET.search(str(name)) else _without_secrets(value) for name, value in data.items()
        }
    if isinstance(data, list | tuple):
        return [_without_secrets(value) for value in data]
    return data if data is None or isinstance(data, str | int | float | bool) else str(data)
