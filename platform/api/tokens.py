"""Create, recognise and revoke tokens."""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from api.errors import InvalidToken
from api.models import KEY_LENGTH, Scope, Token
from rights.parts import may
from rights.roles import Role
from studies.models import Study

_PATTERN = re.compile(rf"parley_([a-z0-9]{{{KEY_LENGTH}}})_[A-Za-z0-9_-]{{43}}")
_DUMMY_DIGEST = hashlib.sha256(secrets.token_bytes()).hexdigest()
"""Compared with if the token does not exist, so that the response takes just as long."""
_USE_PRECISION = timedelta(minutes=1)
"""Minimum time between two updates of a token's last use."""
REQUIRED_ROLE = {Scope.READ: Role.VIEWER, Scope.EXPORT: Role.EDITOR, Scope.MANAGE: Role.EDITOR}
"""The role in the study that the token's creator must have at the time of each call."""


@sensitive_variables("secret")
def issue(*, study: Study, name: str, scopes: list[str], expires_at: datetime, by: User) -> tuple[Token, str]:
    """Return a new token and the secret that its program sends, which is shown once and not stored."""
    token = Token(study=study, name=name, scopes=scopes, expires_at=expires_at, created_by=by)
    secret = f"parley_{token.key}_{secrets.token_urlsafe(32)}"
    token.digest = _digest(secret)
    token.save()
    return token, secret


@sensitive_variables("text")
def recognise(text: str) -> Token:
    """Return the token that a program sent.

    Raises:
        InvalidToken: the token is unknown or no longer valid; only callers with the right secret learn which.
    """
    match = _PATTERN.fullmatch(text)
    token = Token.objects.select_related("study", "created_by").filter(key=match[1]).first() if match else None
    if not secrets.compare_digest(_digest(text), token.digest if token else _DUMMY_DIGEST) or token is None:
        raise InvalidToken(_("Unknown token. Send it as “Authorization: Bearer parley_…”."))
    if token.revoked_at is not None:
        raise InvalidToken(_("This token was revoked. Ask the study's owner for another."))
    now = timezone.now()
    if token.expired(now):
        raise InvalidToken(_("This token has expired. Ask the study's owner for another."))
    if not (token.created_by.is_active and token.created_by.is_staff):
        raise InvalidToken(
            _("The user who created this token no longer has access. Ask the study's owner for another.")
        )
    if token.last_used_at is None or token.last_used_at < now - _USE_PRECISION:
        outdated = Q(last_used_at=None) | Q(last_used_at__lt=now - _USE_PRECISION)
        Token.objects.filter(outdated, pk=token.pk).update(last_used_at=now)
    return token


def allows(token: Token, scope: str) -> bool:
    """Return whether the token has this scope and its creator still has the necessary role."""
    return scope in token.scopes and may(token.created_by, token.study, role=REQUIRED_ROLE[Scope(scope)])


def revoke(token: Token) -> bool:
    """Revoke the token; return False if it was revoked before."""
    return bool(Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()))


@sensitive_variables()
def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()
