"""The demo's home page and the pages it leads to. Without `settings.DEMO` they do not exist."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin
from uuid import UUID

from csp.constants import SELF
from csp.decorators import csp_update
from django.conf import settings
from django.contrib.auth import get_user_model, login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from matches.models import Match
from showcase import research, results, watching
from showcase.cards import Card, card_of, cards
from showcase.demo import ADMIN, variants_of
from showcase.local import demo_only, refused, why_not_local
from studies.admin.steps import AFTER
from studies.admin.transcript import Transcript, transcript_of
from studies.admin.viewer import Addresses, chosen_step, screen_page, sheets_of, step_context
from studies.models import Study
from studies.qr import qr_code

SHARE_COMMAND = "make demo DEMO=--share"
"""How to start the demo so that phones in the same network reach it."""


@demo_only
@never_cache
def home(request: HttpRequest) -> HttpResponse:
    """Show every game and, on the demo's own computer, the ways into the admin."""
    local = not why_not_local(request)
    context = {
        "cards": cards(),
        "shared": settings.DEMO_SHARED_URL if local else "",
        "qr": qr_code(settings.DEMO_SHARED_URL) if local and settings.DEMO_SHARED_URL else "",
        "model": watching.model_runs(),
        "local": local,
        "research": research.overview() if local else None,
    }
    return render(request, "showcase/home.html", context)


@demo_only
@require_POST
def sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in as the demo's administrator and continue to a page of the admin (`next`), on this computer only."""
    if reason := why_not_local(request):
        return refused(request, reason)
    user = get_user_model().objects.filter(username=ADMIN, is_active=True, is_staff=True).first()
    if user is None:
        return refused(request, _("The demo's administrator no longer exists."))
    if request.user != user:
        login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    url = request.POST.get("next", "")
    inside = url.startswith(reverse("admin:index")) and url_has_allowed_host_and_scheme(url, allowed_hosts=None)
    return redirect(url if inside else "admin:index")


# ---- playing with a friend -------------------------------------------------------------------------------


@demo_only
@require_GET
@never_cache
def friend(request: HttpRequest, game: str) -> HttpResponse:
    """Show the link that two people follow to play together, as a QR code too if phones can reach the demo."""
    card = _card(game)
    study = get_object_or_404(Study, slug=variants_of(game)[0].together_slug, draft__purpose=str(Match.Purpose.DEMO))
    shared = settings.DEMO_SHARED_URL
    link = urljoin(shared, study.get_absolute_url()) if shared else request.build_absolute_uri(study.get_absolute_url())
    context = {
        "card": card,
        "study": study,
        "link": link,
        "shared": shared,
        "qr": qr_code(link) if shared else "",
        "command": SHARE_COMMAND,
    }
    return render(request, "showcase/friend.html", context)


# ---- watching ----------------------------------------------------------------------------------------------


@demo_only
@require_POST
def watch(request: HttpRequest, game: str) -> HttpResponse:
    """Let agents begin a match, and show it."""
    return redirect("showcase:match", uid=watching.begin(_card(game).key).uid)


@csp_update({"frame-src": [SELF]})
@demo_only
@require_GET
@never_cache
def match(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Show a match step by step: a live one as it is played, a finished one again."""
    shown, transcript = _public_match(uid)
    number = chosen_step(request, shown, transcript) if "step" in request.GET else 1
    context = {
        **_step(request, shown, transcript, number),
        "card": card_of(shown.game),
        "sheets": sheets_of(shown.game),
        "follows": "step" not in request.GET,
    }
    return render(request, "showcase/match.html", context)


@demo_only
@require_GET
@never_cache
def step(request: HttpRequest, uid: UUID, number: int) -> HttpResponse:
    """Return one step as HTML for the page's script."""
    shown, transcript = _public_match(uid)
    if not 1 <= number <= transcript.last:
        raise Http404
    return render(request, "admin/matches/match/step.html", _step(request, shown, transcript, number))


@demo_only
@require_GET
def screen(request: HttpRequest, uid: UUID, number: int, side: str, role: str) -> HttpResponse:
    """Return what a role saw."""
    shown, _transcript = _public_match(uid)
    return screen_page(request, shown, number, side, role)


def _public_match(uid: UUID) -> tuple[Match, Transcript]:
    shown = get_object_or_404(watching.public_matches(), uid=uid)
    return shown, transcript_of(shown)


def _step(request: HttpRequest, shown: Match, transcript: Transcript, number: int) -> dict[str, Any]:
    at = Addresses("showcase:step", "showcase:screen", shown.uid)
    return step_context(shown, transcript, number, request.GET.get("side", AFTER), at)


# ---- results -----------------------------------------------------------------------------------------------


@demo_only
@require_GET
@never_cache
def game_results(request: HttpRequest, game: str) -> HttpResponse:
    """Show how the matches ended that agents have played here, and the samples of this game."""
    card = _card(game)
    local = not why_not_local(request)
    context = {
        "card": card,
        "results": results.latest(card.key),
        "local": local,
        "samples": research.samples_of(card.key) if local else [],
    }
    return render(request, "showcase/results.html", context)


def _card(game: str) -> Card:
    card = card_of(game)
    if card is None:
        raise Http404
    return card
