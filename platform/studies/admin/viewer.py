"""The viewer of a match, step by step: what its pages share in the admin and in the demo."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from matches.models import Match
from matches.templatetags.play import assets
from studies.admin.steps import AFTER, BEFORE, NoScreen, answer_to, screen_of, step_of
from studies.admin.transcript import Transcript, page_of
from studies.admin.views import whole

READ_ONLY_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; font-src 'self'; frame-ancestors 'self'; "
    "form-action 'none'; base-uri 'none'; sandbox allow-same-origin"
)
_STYLESHEET = re.compile(r'<link rel="stylesheet"[^>]*href="([^"]+)"')


@dataclass(frozen=True)
class Addresses:
    """Where the viewer's parts are: the names of their URLs, and what the URLs call the match."""

    step: str
    screen: str
    key: Any


def chosen_step(request: HttpRequest, match: Match, transcript: Transcript) -> int:
    """Return the requested step; by default the newest of a live match or the first of a finished one."""
    requested, answering = whole(request.GET.get("step")), whole(request.GET.get("answering"))
    if requested < 0 and answering >= 0:
        requested = answer_to(match, answering) or -1
    if requested < 0:
        requested = transcript.last if match.status == Match.Status.LIVE else 1
    return min(max(requested, 1), max(transcript.last, 1))


def step_context(match: Match, transcript: Transcript, number: int, side: str | None, at: Addresses) -> dict[str, Any]:
    """Return what the template of a step needs."""
    return {
        "match": match,
        "transcript": transcript,
        "at": at,
        "step": step_of(match, transcript, number, side) if transcript.last else None,
        "lines": page_of(match, transcript, number),
    }


def sheets_of(game: str) -> list[str]:
    """Return the addresses of the game's style sheets."""
    return _STYLESHEET.findall(assets(game))


def screen_page(request: HttpRequest, match: Match, number: int, side: str, role: str) -> HttpResponse:
    """Return what a role saw, as a page that runs no script and submits no form.

    Raises:
        Http404: there is no such event or side.
    """
    if side not in (BEFORE, AFTER) or not match.events.filter(number=number).exists():
        raise Http404
    try:
        context = {"screen": screen_of(match, role, number, side), "sheets": sheets_of(match.game)}
    except NoScreen as reason:
        context = {"problem": str(reason)}
    response = TemplateResponse(request, "admin/matches/match/screen.html", context)
    response["Content-Security-Policy"] = READ_ONLY_POLICY
    response["X-Frame-Options"] = "SAMEORIGIN"
    return response
