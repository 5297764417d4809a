"""The secrets of programs, and the signed tokens of the turns they are asked about."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.core import signing
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from programs.models import Program, ProgramTurn

_PREFIX = "parley_program_"
_SALT, _CHAT_SALT = "programs.turn", "programs.chat"
_SEEN_PRECISION = timedelta(seconds=30)
"""Minimum time between two updates of when a program was last seen."""


@sensitive_variables()
def new_secret(program: Program) -> str:
    """Give the program a new secret in place of the old one and return it; it is shown once and not stored."""
    secret = f"{_PREFIX}{secrets.token_urlsafe(32)}"
    program.digest = _digest(secret)
    return secret


@sensitive_variables()
def program_with(secret: str) -> Program | None:
    """Return the program that sends this secret; None if it is unknown, disabled, or its owner has no access."""
    program = Program.objects.select_related("owner").filter(digest=_digest(secret), enabled=True).first()
    if program is None or not _has_access(program.owner):
        return None
    now = timezone.now()
    if program.seen_at is None or program.seen_at < now - _SEEN_PRECISION:
        Program.objects.filter(pk=program.pk).update(seen_at=now)
    return program


def token_of(turn: ProgramTurn) -> str:
    """Return the token that opens this turn and nothing else."""
    return signing.dumps(turn.uid.hex, salt=_SALT)


def turn_with(token: str) -> ProgramTurn | None:
    """Return the turn that a token opens; None if it opens none, or its program may not play."""
    try:
        uid = signing.loads(token, salt=_SALT)
    except signing.BadSignature:
        return None
    turn = ProgramTurn.objects.select_related("program__owner").filter(uid=uid).first()
    return turn if turn is not None and turn.program.enabled and _has_access(turn.program.owner) else None


def token_of_chat(program: Program, seat: int) -> str:
    """Return the token with which the program writes in the chat of one of its seats, and nothing else."""
    return signing.dumps([program.pk, seat], salt=_CHAT_SALT)


def chat_with(token: str) -> tuple[Program, int] | None:
    """Return the program and the seat whose chat a token opens; None if it opens none, or the program may not play."""
    try:
        key, seat = signing.loads(token, salt=_CHAT_SALT)
    except signing.BadSignature:
        return None
    program = Program.objects.select_related("owner").filter(pk=key, enabled=True).first()
    return (program, seat) if program is not None and _has_access(program.owner) else None


def _has_access(owner: User) -> bool:
    return owner.is_active and owner.is_staff


@sensitive_variables()
def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()
