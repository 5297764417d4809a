"""A user's way through the tour: the tour's page, the bar on the admin's pages, and where the user is.

The browser keeps the place in a cookie, so it survives signing out and concerns nobody else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from rights.parts import visible
from showcase.tour import STEPS, STOPS, STUDY, Step, Stop
from studies.models import Study

app_name = "tour"
COOKIE = "tour"
COOKIE_SECONDS = 365 * 24 * 60 * 60
ON, LEFT, DONE = "on", "left", "done"
HEADING = "tour"
"""Id of the bar's heading, which gets the focus when the user comes to a stop."""


@dataclass(frozen=True)
class Place:
    """Where a user is in the tour.

    Attributes:
        state: ON; LEFT if the user has left it; DONE after the last stop.
    """

    stop: Stop
    state: str

    @property
    def step(self) -> Step:
        return next(step for step in STEPS if self.stop in step.stops)

    @property
    def number(self) -> int:
        """Return the step's number, from 1."""
        return STEPS.index(self.step) + 1

    @property
    def index(self) -> int:
        """Return the stop's number among all stops, from 1."""
        return STOPS.index(self.stop) + 1

    all = len(STOPS)

    @property
    def previous(self) -> Stop | None:
        return STOPS[STOPS.index(self.stop) - 1] if self.stop is not STOPS[0] else None

    @property
    def next(self) -> Stop | None:
        return STOPS[STOPS.index(self.stop) + 1] if self.stop is not STOPS[-1] else None


def place_of(request: HttpRequest) -> Place | None:
    """Return where the user is, or None if they have not begun."""
    state, _colon, name = request.COOKIES.get(COOKIE, "").partition(":")
    stop = next((stop for stop in STOPS if stop.name == name), None)
    return Place(stop, state) if stop is not None and state in (ON, LEFT, DONE) else None


def sample_of(user: Any) -> int | None:
    """Return the primary key of the sample study; None if there is none that the user may see."""
    return visible(user, Study.objects.filter(slug=STUDY)).values_list("pk", flat=True).first()


def bar(request: HttpRequest) -> dict[str, Any]:
    """Return the context of the bar on a page of the admin; empty if the user is not on the tour."""
    place = place_of(request)
    if place is None or place.state != ON or request.path.startswith(reverse("tour:page")):
        return {}
    study_id = sample_of(request.user)
    if study_id is None:
        return {}
    return {
        "place": place,
        "steps": STEPS,
        "heading": HEADING,
        "here": place.stop.page(study_id) == request.path,
        "path": request.get_full_path(),
    }


def invitation(request: HttpRequest) -> dict[str, Any]:
    """Return the context of the card on the admin's first page; empty if there is nothing to show the user."""
    if not (settings.DEMO or sample_of(request.user)):
        return {}
    return {"place": place_of(request), "steps": STEPS}


@require_GET
@never_cache
def page(request: HttpRequest) -> HttpResponse:
    """Show the five steps, and begin or continue."""
    study_id = sample_of(request.user)
    if study_id is None and not settings.DEMO:
        raise Http404
    context = {
        **admin.site.each_context(request),
        "title": _("Tour"),
        "place": place_of(request),
        "steps": STEPS,
        "first": STOPS[0],
        "ready": study_id is not None,
    }
    return TemplateResponse(request, "showcase/tour.html", context)


@require_GET
@never_cache
def go(request: HttpRequest, name: str) -> HttpResponse:
    """Go to a stop: remember it and show its page."""
    stop = next((stop for stop in STOPS if stop.name == name), None)
    if stop is None:
        raise Http404
    study_id = sample_of(request.user)
    if study_id is None:
        return HttpResponseRedirect(reverse("tour:page"))
    return _remembering(HttpResponseRedirect(f"{stop.page(study_id)}#{HEADING}"), stop, ON)


@require_POST
def leave(request: HttpRequest) -> HttpResponse:
    """Hide the bar, and stay on the page; after the last stop, finish the tour."""
    place = place_of(request)
    if place is None or request.POST.get("done"):
        return _remembering(HttpResponseRedirect(reverse("tour:page")), STOPS[-1], DONE)
    messages.info(request, _("You left the tour. Continue it from the admin’s first page."))
    target = request.POST.get("path", "")
    if not url_has_allowed_host_and_scheme(target, allowed_hosts=None):
        target = reverse("admin:index")
    return _remembering(HttpResponseRedirect(target), place.stop, LEFT)


def _remembering(response: HttpResponse, stop: Stop, state: str) -> HttpResponse:
    response.set_cookie(
        COOKIE,
        f"{state}:{stop.name}",
        max_age=COOKIE_SECONDS,
        path=reverse("admin:index"),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


urlpatterns = [
    path("", admin.site.admin_view(page), name="page"),
    path("leave/", admin.site.admin_view(leave), name="leave"),
    path("<slug:name>/", admin.site.admin_view(go), name="go"),
]
