"""Records sign-ins and failed sign-ins in the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from axes.signals import user_locked_out
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest

from audit import services as audit
from audit.actions import Action


@receiver(user_logged_in)
def _signed_in(sender: Any, user: User, **_signal: Any) -> None:
    audit.record(action=Action.SIGNED_IN, user=user, target=user)


@receiver(user_login_failed)
def _failed(sender: Any, credentials: Mapping[str, Any], request: HttpRequest | None = None, **_signal: Any) -> None:
    """Record a failure without the typed username, which may be a password. Skip it while sign-in is blocked."""
    if not getattr(request, "axes_locked_out", False):
        audit.record(action=Action.SIGN_IN_FAILED, user=None, target=_user_named(credentials.get("username")))


@receiver(user_locked_out)
def _blocked(sender: Any, username: str | None = None, **_signal: Any) -> None:
    audit.record(action=Action.SIGN_IN_BARRED, user=None, target=_user_named(username))


def _user_named(username: Any) -> User | None:
    return User.objects.filter(username=username).first() if username else None
