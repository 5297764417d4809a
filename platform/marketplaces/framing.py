"""Let a rehearsal's stand-in frame participants' pages, where the marketplace's own pages may."""

from __future__ import annotations

import re
import time
from typing import Any

from django.db.models.signals import post_save
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from marketplaces import kinds
from marketplaces.models import Account, Recruitment

CACHE_SECONDS = 1.0
"""Seconds for which a web process remembers whether a study is in rehearsal, because the check delays every page."""
_PAGE = re.compile(r"/join/(?P<slug>[^/]+)/?$|/p/(?P<token>[^/]+)/")
"""The paths of participants' pages: a study's entry, and those of somebody who takes part."""
_CSP_UPDATE = "_csp_update"
"""Attribute of a response that CSPMiddleware reads."""
_REHEARSALS = Recruitment.objects.filter(
    account__place=Account.Place.REHEARSAL, account__kind__in=[kind.key for kind in kinds.every() if kind.frames]
)
_cached: tuple[float, bool] = (0.0, False)
"""When this process last asked, and whether there is a rehearsal."""


def _any_rehearsal() -> bool:
    global _cached
    if time.monotonic() - _cached[0] > CACHE_SECONDS:
        _cached = time.monotonic(), _REHEARSALS.exists()
    return _cached[1]


@receiver(post_save, sender=Recruitment)
@receiver(post_save, sender=Account)
def forget(**_signal: Any) -> None:
    """Ask again for the next page."""
    global _cached
    _cached = (0.0, False)


class RehearsalFrames(MiddlewareMixin):
    """Add a rehearsal's stand-in to the sites that may frame a participant's page; below CSPMiddleware."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        page = _PAGE.match(request.path_info)
        if not page or not response.get("Content-Type", "").startswith("text/html") or not _any_rehearsal():
            return response
        if slug := page["slug"]:
            rehearsals = _REHEARSALS.filter(study__slug=slug)
        else:
            rehearsals = _REHEARSALS.filter(study__versions__cells__placements__enrolment__token=page["token"])
        if (rehearsal := rehearsals.select_related("account").first()) is not None:
            csp_update = getattr(response, _CSP_UPDATE, None) or {}
            setattr(response, _CSP_UPDATE, {**csp_update, "frame-ancestors": rehearsal.account.pages})
        return response
