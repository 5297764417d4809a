"""The demo's own computer: only there are researchers' pages open, and signing in takes one click."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from ipaddress import ip_address

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.http.request import split_domain_port
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _

HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
"""How browsers on the demo's own computer address it."""
PROXY_HEADERS = ("X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Forwarded", "Via")
"""Headers that say that someone else's request was passed on, or pretend to."""
View = Callable[..., HttpResponse]


def demo_only(view: View) -> View:
    """Let the view exist only in the demo."""

    @wraps(view)
    def checked(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if not settings.DEMO:
            raise Http404
        return view(request, *args, **kwargs)

    return checked


def why_not_local(request: HttpRequest) -> str:
    """Return why this request does not come from a browser on this computer; empty if it does.

    The connection, the address in the browser and the absence of proxies must all say so. A proxy on this computer
    would otherwise make visitors from anywhere look local.
    """
    try:
        peer = ip_address(request.META.get("REMOTE_ADDR", ""))
    except ValueError:
        return _("The connection has no address.")
    if not (getattr(peer, "ipv4_mapped", None) or peer).is_loopback:
        return _("You are on another device.")
    if any(header in request.headers for header in PROXY_HEADERS):
        return _("Your request was passed on by a proxy.")
    if split_domain_port(request.get_host())[0] not in HOSTS:
        return _("Open the demo at http://127.0.0.1, not at its address in the network.")
    return ""


def refused(request: HttpRequest, reason: str) -> HttpResponse:
    """Return the page that says why researchers' pages are closed here."""
    page = render(request, "showcase/refused.html", {"reason": reason}, status=403)
    page["Cache-Control"] = "no-store"
    return page


class ResearchStaysLocal(MiddlewareMixin):
    """Closes the admin and the API of a demo to all other computers, also when the demo is shared with phones."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if not settings.DEMO or not request.path_info.startswith((settings.ADMIN_PATH, "/api/", "/metrics")):
            return None
        reason = why_not_local(request)
        return refused(request, reason) if reason else None
