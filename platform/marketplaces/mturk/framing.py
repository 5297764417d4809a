"""Let the stand-in's pages frame a study in a rehearsal, as mTurk's own pages frame every study."""

from __future__ import annotations

import re
import time
from typing import Any

from django.db.models import Q
from django.db.models.signals import post_save
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from marketplaces.models import Account, Recruitment
from marketplaces.mturk.models import KEY
from marketplaces.mturk.returning import site_of

_ENTRY_PATH, _PARTICIPANT_PATH = re.compile(r"/join/([^/]+)/?$"), re.compile(r"/p/([^/]+)/")


REHEARSAL = Q(account__kind=KEY, account__place=Account.Place.REHEARSAL)
CACHE_SECONDS = 1.0
"""Seconds for which a web process remembers whether a study is in rehearsal, because the check delays every page."""
_cached: dict[str, tuple[float, bool]] = {}


def _any_rehearsal() -> bool:
    checked_at, has_rehearsal = _cached.get(KEY, (0.0, False))
    if not has_rehearsal and time.monotonic() - checked_at > CACHE_SECONDS:
        has_rehearsal = Recruitment.objects.filter(REHEARSAL).exists()
        _cached[KEY] = time.monotonic(), has_rehearsal
    return has_rehearsal


@receiver(post_save, sender=Recruitment)
@receiver(post_save, sender=Account)
def _forget(**_signal: Any) -> None:
    _cached.clear()


class RehearsalFrames(MiddlewareMixin):
    """Add a rehearsal's stand-in to the sites that may frame a participant's page; goes below CSPMiddleware."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        if not response.get("Content-Type", "").startswith("text/html"):
            return response
        if match := _ENTRY_PATH.match(request.path_info):
            recruitments = Recruitment.objects.filter(study__slug=match[1])
        elif match := _PARTICIPANT_PATH.match(request.path_info):
            recruitments = Recruitment.objects.filter(study__versions__cells__placements__enrolment__token=match[1])
        else:
            return response
        if not _any_rehearsal():
            return response
        if (rehearsal := recruitments.filter(REHEARSAL).select_related("account").first()) is not None:
            csp_update = getattr(response, "_csp_update", None) or {}
            response._csp_update = {**csp_update, "frame-ancestors": site_of(rehearsal.account)}
        return response
