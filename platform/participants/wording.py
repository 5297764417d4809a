"""In which language a participant's pages are worded: the one that their enrolment began in."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override

from participants.models import Enrolment

UNTITLED = _("A decision study")
"""What participants read of a study whose plan has no title for them."""
_MOST = 10_000
_known: dict[str, str] = {}
"""The language of the enrolment with each token, which never changes."""


def language_of(token: str) -> str | None:
    """Return the language of the enrolment with this token; None if there is none."""
    if token not in _known:
        language = Enrolment.objects.filter(token=token).values_list("language", flat=True).first()
        if language is None:
            return None
        remember(token, language)
    return _known[token]


def remember(token: str, language: str) -> None:
    """Keep the language of an enrolment in this process, so that its first page need not ask for it."""
    while len(_known) >= _MOST:
        _known.pop(next(iter(_known)), None)
    _known[token] = language


def in_own_language(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Decorator: word the answer to a participant's request in their language."""

    @wraps(view)
    def wrapped(request: HttpRequest, token: str, **kwargs: Any) -> HttpResponse:
        language = language_of(token)
        if language is None:
            return view(request, token, **kwargs)
        with override(language):
            return view(request, token, **kwargs)

    return wrapped
