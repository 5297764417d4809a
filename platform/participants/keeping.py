"""Pages that many participants see alike: rendered once, with gaps for what is their own (`matches.keeping`: parts)."""

from __future__ import annotations

import io
import pickle
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.template.loader import get_template
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from participants.models import Enrolment

_MARK = f"own{secrets.token_hex(16)}n"
"""What a kept page has in the place of a participant's own, with its number: nobody can write it."""


class Own(SafeString):
    """HTML in a page's context that differs from participant to participant; templates only print it."""

    @classmethod
    def of(cls, text: str) -> Own:
        return cls(conditional_escape(text))


@dataclass(frozen=True)
class Participant:
    """What a kept page reads of a participant to whom nobody has written."""

    token: Own
    ended: bool
    may_ask: bool
    has_unread: bool = False

    @classmethod
    def of(cls, enrolment: Enrolment) -> Participant:
        return cls(Own.of(enrolment.token), enrolment.ended, enrolment.may_ask)


class _Pickler(pickle.Pickler):
    """Writes a context without what is a participant's own, which it lists."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.own: list[Own] = []

    def persistent_id(self, value: Any) -> int | None:
        if type(value) is not Own:
            return None
        self.own.append(value)
        return len(self.own) - 1


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, number: int) -> Own:
        return Own(f"{_MARK}{number:02}")


def render_kept(template: str, context: Mapping[str, Any]) -> str:
    """Return the page of a template that reads only this context, of plain data, and the language."""
    written = io.BytesIO()
    pickler = _Pickler(written)
    pickler.dump(context)
    html = _rendered(template, get_language(), written.getvalue())
    for number, own in enumerate(pickler.own):
        html = html.replace(f"{_MARK}{number:02}", own)
    return html


@lru_cache(maxsize=512)
def _rendered(template: str, language: str, context: bytes) -> str:
    """Return a page rendered from what it is kept for: a pickled context has all that a page could read of it."""
    return str(get_template(template).render(_Unpickler(io.BytesIO(context)).load()))
