"""The short entrance to a session, and what its waiting room asks over plain HTTP."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import override
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods

from games.catalogues import LANGUAGES, SOURCE
from gathering import services
from gathering.consumers import answer_request
from gathering.models import Attendance, Session
from participants.wording import UNTITLED
from recruiters import addresses
from recruiters.errors import TooManyFailures
from studies import entering
from studies.models import Study


def in_browser_language(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Decorator: word a page that belongs to no study yet in the first language of the visitor's browser."""

    @wraps(view)
    def wrapped(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        with override(entering.language_for(request, LANGUAGES)):
            return view(request, **kwargs)

    return wrapped


@never_cache
@require_GET
@in_browser_language
def entrance(request: HttpRequest) -> HttpResponse:
    """Ask for a session's code."""
    code = request.GET.get("code", "").strip()
    return redirect("gathering:session", code=code) if code.isalnum() else _entrance(request, "")


def _entrance(request: HttpRequest, problem: str) -> HttpResponse:
    return render(request, "gathering/entrance.html", {"problem": problem}, status=404 if problem else 200)


@never_cache
@require_GET
@in_browser_language
def session(request: HttpRequest, code: str) -> HttpResponse:
    """Lead to the study of a session; ask first for a seat if the room has labelled ones."""
    if addresses.failed_too_often(request):
        return _entrance(request, str(TooManyFailures()))
    found = Session.objects.select_related("study").filter(code=code.upper()).first()
    if found is None:
        addresses.count_failure(request)
        return _entrance(request, _("There is no session with this code. Please check it for typos."))
    study, seat = found.study, request.GET.get("seat", "")
    if not found.labels or study.entry != Study.Entry.OPEN or seat in found.labels:
        fields = {"session": found.code, **({"seat": seat} if seat in found.labels else {})}
        return redirect(f"{study.get_absolute_url()}?{urlencode(fields)}")
    version = study.latest_version()
    taken = set(found.attendances.filter(left_at=None).values_list("label", flat=True))
    context = {
        "title": version.shown_title if version else UNTITLED,
        "seats": [(label, label in taken) for label in found.labels],
        "taken": request.GET.get("taken", "") if request.GET.get("taken") in taken else "",
    }
    with override(entering.language_for(request, version.languages if version else (SOURCE,))):
        return render(request, "gathering/seat.html", context)


@csrf_exempt
@never_cache
@require_http_methods(["GET", "POST"])
def wait(request: HttpRequest, token: str) -> HttpResponse:
    """Return where somebody is in a session (GET), or let them leave its waiting room (POST)."""
    if request.method == "POST":
        attendance = Attendance.objects.filter(token=token).first()
        if attendance is not None:
            services.leave(attendance)
        with override(attendance.language if attendance else SOURCE):
            return render(request, "gathering/left.html")
    data = answer_request(token)
    if data is None:
        raise Http404
    return JsonResponse(data)
