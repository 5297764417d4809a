"""Lets the stand-in's pages show a rehearsed study inside themselves, as mTurk's own pages show every study."""

from __future__ import annotations

import re

from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from marketplaces.models import Account, Recruitment
from marketplaces.mturk.arriving import KEY
from marketplaces.mturk.returning import site_of

_DOOR, _PAGE = re.compile(r"/join/([^/]+)/?$"), re.compile(r"/p/([^/]+)/")


class RehearsalFrames(MiddlewareMixin):
    """Adds the stand-in of the study's rehearsal to those who may frame a participant's page; below CSPMiddleware."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        if not response.get("Content-Type", "").startswith("text/html"):
            return response
        if found := _DOOR.match(request.path_info):
            of = Recruitment.objects.filter(study__slug=found[1])
        elif found := _PAGE.match(request.path_info):
            of = Recruitment.objects.filter(study__versions__cells__placements__enrolment__token=found[1])
        else:
            return response
        rehearsal = of.filter(account__kind=KEY, account__place=Account.Place.REHEARSAL).select_related("account")
        if (one := rehearsal.first()) is not None:
            known = getattr(response, "_csp_update", None) or {}
            response._csp_update = {**known, "frame-ancestors": site_of(one.account)}
        return response
