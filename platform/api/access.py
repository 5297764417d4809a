"""Authentication and rate limits. Each scope has its own class, so that the OpenAPI document names it."""

from __future__ import annotations

import hashlib
import time
from typing import ClassVar

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja.security import HttpBearer
from ninja.throttling import BaseThrottle

from api import tokens
from api.errors import InvalidToken, NotFound, OutOfScope
from api.models import Scope, Token
from programs.models import Program
from programs.tokens import program_with

_WINDOW = 60


class _Scoped(HttpBearer):
    """Require a bearer token for the study in the URL, with the operation's scope."""

    scope: ClassVar[Scope]

    def __init__(self) -> None:
        super().__init__()
        self.openapi_description = f"A token of the study with the scope “{self.scope.value}”."

    def authenticate(self, request: HttpRequest, token: str) -> Token:
        """Return the token that was sent; it becomes `request.auth`.

        Raises:
            InvalidToken, NotFound, OutOfScope
        """
        recognised = tokens.recognise(token)
        slug = request.resolver_match.kwargs.get("slug") if request.resolver_match else None
        if slug is not None and slug != recognised.study.slug:
            raise NotFound
        if not tokens.allows(recognised, self.scope):
            raise OutOfScope(
                _("This token does not have the scope “{scope}”.").format(scope=self.scope.value)
                if self.scope not in recognised.scopes
                else _("The user who created this token no longer has permission to do this.")
            )
        return recognised


class ReadToken(_Scoped):
    scope = Scope.READ


class ExportToken(_Scoped):
    scope = Scope.EXPORT


class ManageToken(_Scoped):
    scope = Scope.MANAGE


class ProgramSecret(HttpBearer):
    """Require the secret of a program."""

    openapi_description = "The secret of a program that plays seats."

    def authenticate(self, request: HttpRequest, token: str) -> Program:
        """Return the program that sent its secret; it becomes `request.auth`.

        Raises:
            InvalidToken
        """
        program = program_with(token)
        if program is None:
            raise InvalidToken(_("Unknown secret, or the program is disabled."))
        return program


class TokenThrottle(BaseThrottle):
    """Allow each token API_CALLS_PER_MINUTE calls per minute, across all web servers."""

    def allow_request(self, request: HttpRequest) -> bool:
        key = f"api-calls/{_throttle_key(request)}/{int(time.time() // _WINDOW)}"
        cache.add(key, 0, timeout=2 * _WINDOW)
        try:
            return cache.incr(key) <= settings.API_CALLS_PER_MINUTE
        except ValueError:  # a full cache evicted the key between the two calls
            return True

    def wait(self) -> float:
        return _WINDOW - time.time() % _WINDOW


def _throttle_key(request: HttpRequest) -> str:
    """Return the key under which calls are counted: from the bearer token, or from the signed token in the URL."""
    token = getattr(request, "auth", None)
    if isinstance(token, Token):
        return token.key
    if isinstance(token, Program):
        return f"program-{token.pk}"
    signed = request.resolver_match.kwargs.get("token", "") if request.resolver_match else ""
    return hashlib.sha256(signed.encode(errors="replace")).hexdigest()
