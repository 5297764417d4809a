"""Making tokens and recognising them again."""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from api.errors import NotRecognised
from api.models import KEY_LENGTH, Scope, Token
from rights.parts import may
from rights.roles import Role
from studies.models import Study

_FORM = re.compile(rf"parley_([a-z0-9]{{{KEY_LENGTH}}})_[A-Za-z0-9_-]{{43}}")
_NOBODYS = hashlib.sha256(secrets.token_bytes()).hexdigest()
"""Compared with where there is no such token, so that the answer takes as long."""
_REMEMBERED = timedelta(minutes=1)
"""The last use is written down at most this often."""
NEEDS = {Scope.READ: Role.VIEWER, Scope.EXPORT: Role.EDITOR, Scope.MANAGE: Role.EDITOR}
"""Which part the maker of a token must have in its study, while it is used."""


@sensitive_variables("secret")
def issue(
    *, study: Study, name: str, scopes: list[str], expires_at: datetime, by: AbstractBaseUser
) -> tuple[Token, str]:
    """A new token, and the text that its program sends: shown this once and kept nowhere."""
    token = Token(study=study, name=name, scopes=scopes, expires_at=expires_at, created_by=by)
    secret = f"parley_{token.key}_{secrets.token_urlsafe(32)}"
    token.digest = _digest(secret)
    token.save()
    return token, secret


@sensitive_variables("text")
def recognise(text: str) -> Token:
    """The token that a program sent.

    Raises:
        NotRecognised: it is none of ours, or no longer valid. Only who knows the secret learns which.
    """
    found = _FORM.fullmatch(text)
    token = Token.objects.select_related("study", "created_by").filter(key=found[1]).first() if found else None
    if not secrets.compare_digest(_digest(text), token.digest if token else _NOBODYS) or token is None:
        raise NotRecognised(_("This is no token of ours. Send it as “Authorization: Bearer parley_…”."))
    if token.revoked_at is not None:
        raise NotRecognised(_("This token was revoked. Ask whoever runs the study for another."))
    now = timezone.now()
    if token.expired(now):
        raise NotRecognised(_("This token has expired. Ask whoever runs the study for another."))
    if not (token.created_by.is_active and token.created_by.is_staff):
        raise NotRecognised(_("The person who made this token may no longer work here. Ask for another."))
    _remember_use(token, now)
    return token


def opens(token: Token, scope: str) -> bool:
    """Whether the token has this scope, and its maker may still do what it stands for."""
    return scope in token.scopes and may(token.created_by, token.study, role=NEEDS[Scope(scope)])


def revoke(token: Token) -> bool:
    """From now on the token opens nothing; a second time changes nothing. Returns whether this was the first."""
    return bool(Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()))


@sensitive_variables()
def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _remember_use(token: Token, now: datetime) -> None:
    seldom = Q(last_used_at=None) | Q(last_used_at__lt=now - _REMEMBERED)
    if token.last_used_at is None or token.last_used_at < now - _REMEMBERED:
        Token.objects.filter(seldom, pk=token.pk).update(last_used_at=now)
