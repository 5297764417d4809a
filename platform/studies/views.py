"""The entry pages of a study."""

from __future__ import annotations

import re
import secrets
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.crypto import salted_hmac
from django.utils.translation import get_language, override
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from games.catalogues import SOURCE
from matches.models import Match
from participants.markdown import to_html
from participants.models import Enrolment
from participants.returning import allow_form
from participants.wording import UNTITLED
from plans.languages import NAMES
from recruiters import addresses, arrivals
from recruiters.errors import EntryRefused, ForgedLink, IncompleteLink, TooMany, TooManyFailures, TooSoon, WrongCode
from studies import enrolling, entering, journeys, participations
from studies.models import Study, Version
from studies.names import two_person_slug

COOKIE_SALT = "studies.open-entry"


@csrf_exempt
@xframe_options_exempt
@never_cache
@require_http_methods(["GET", "POST"])
def join(request: HttpRequest, slug: str) -> HttpResponse:
    """Admit a participant who follows a recruiter's link, show a preview, or explain why not and what to do."""
    if addresses.failed_too_often(request):
        return _not_admitted(request, None, TooManyFailures())
    study, version = Study.entered(slug)
    if study is None:
        addresses.count_failure(request)
        return render(request, "studies/unknown.html", status=404)
    languages = version.languages if version else (SOURCE,)
    with override(entering.language_for(request, languages, request.POST.get("language", ""))):
        return _join(request, study, version)


def _join(request: HttpRequest, study: Study, version: Version | None) -> HttpResponse:
    arrival = None
    try:
        entry = study.entry
        fields = {**request.GET.dict(), **request.POST.dict()}
        given = (*request.GET.lists(), *request.POST.lists())
        repeated = {name for name, values in given if len(values) > 1}
        link = arrivals.Link(fields, repeated=repeated, query=request.META.get("QUERY_STRING", ""))
        arrival = arrivals.KINDS[entry].arrive(study.slug, link)
        if arrival.preview:
            return render(request, "studies/preview.html", _study_context(study))
        if entry == Study.Entry.OPEN:
            return _enter_openly(request, study, version, arrival)
        return _enter(request, study, version, arrival)
    except IncompleteLink as refusal:
        if entry == Study.Entry.CODES:
            return render(
                request, "studies/enter_code.html", {**_study_context(study), "refusal": refusal}, status=refusal.status
            )
        return _not_admitted(request, study, refusal)
    except EntryRefused as refusal:
        if isinstance(refusal, WrongCode | ForgedLink):
            addresses.count_failure(request)
        return _not_admitted(request, study, refusal, arrival)


def _not_admitted(
    request: HttpRequest, study: Study | None, refusal: EntryRefused, arrival: arrivals.Arrival | None = None
) -> HttpResponse:
    """Explain why someone is not admitted, and how they can go back."""
    return_url = arrival.return_to if arrival else ""
    context: dict[str, Any] = {
        "study": study,
        "refusal": refusal,
        "back": return_url or getattr(refusal, "return_url", ""),
    }
    if arrival is not None and (
        isinstance(refusal, enrolling.Full) or (study is not None and study.status == Study.Status.CLOSED)
    ):
        context["return_instructions"] = arrival.turned_away
    page = render(request, "studies/not_admitted.html", context, status=refusal.status)
    if refusal.seconds:
        page["Retry-After"] = str(refusal.seconds)
    return allow_form(page, context.get("return_instructions"))


def _enter(request: HttpRequest, study: Study, version: Version | None, arrival: arrivals.Arrival) -> HttpResponse:
    """Handle a personal link: continue the enrolment or, if it has ended, offer another one where allowed."""
    if arrival.once:
        arrival = replace(arrival, held=_browser_token(request, study) or _token(request, study))
    existing = enrolling.latest_enrolment(study, arrival)
    again = request.POST.get("again") == "yes"
    answer = entering.ask(request, study, arrival) if existing is None or (existing.ended and again) else None
    if isinstance(answer, HttpResponse):
        return answer
    if existing is None and (arrival.once or (version and len(version.languages) > 1)) and request.method == "GET":
        # Link previews by other programs must not use the link up, and a language can be chosen only before.
        enrolling.refuse_closed(study, version)
        return render(request, "studies/welcome.html", _study_context(study))
    if existing is not None and existing.ended and request.method == "GET":
        try:
            may_repeat, later_message = enrolling.may_begin_again(study, arrival), ""
        except TooSoon as refusal:
            may_repeat, later_message = False, str(refusal)
        if may_repeat or later_message:
            context = {**_study_context(study), "begun": existing, "later": later_message}
            return render(request, "studies/again.html", context)
    if existing is None:
        _refuse_too_many(request, arrival)
    token = _token(request, study) if arrival.once else ""
    prepared = answer.prepared if answer else None
    tell = answer.tell if answer else None
    enrolment = enrolling.enrol(
        study,
        arrival,
        version=version,
        language=get_language(),
        again=again,
        token=token,
        prepared=prepared,
        tell=tell,
    )
    return _redirect_and_remember(request, study, enrolment) if arrival.once else redirect(enrolment)


def _enter_openly(
    request: HttpRequest, study: Study, version: Version | None, arrival: arrivals.Arrival
) -> HttpResponse:
    """Handle an open link: continue a known browser's enrolment, or ask a new one to begin."""
    begun = _browser_token(request, study)
    existing = Enrolment.objects.filter(token=begun).first() if begun else None
    if request.method == "GET":
        if existing is not None and not existing.ended:
            return redirect(existing)
        try:
            _refuse_openly(study, version, existing)
        except EntryRefused as refusal:
            if existing is None:
                raise
            context = {**_study_context(study), "begun": existing, "later": str(refusal)}
            return render(request, "studies/again.html", context)
        answer = entering.ask(request, study, arrival)
        if isinstance(answer, HttpResponse):
            return answer
        return render(request, "studies/welcome.html", {**_study_context(study), "begun": existing})
    token = _token(request, study)
    resubmitted = Enrolment.objects.filter(token=token).first() if token else None
    if resubmitted is not None:
        return _redirect_and_remember(request, study, resubmitted)
    if existing is not None:
        _refuse_openly(study, version, existing)
    answer = entering.ask(request, study, arrival)
    if isinstance(answer, HttpResponse):
        return answer
    _refuse_too_many(request, arrival)
    role = request.POST.get("role", "") if study.purpose == Match.Purpose.DEMO else ""
    enrolment = enrolling.enrol(
        study,
        arrival,
        version=version,
        chosen=role,
        language=get_language(),
        token=token,
        prepared=answer.prepared,
        tell=answer.tell,
    )
    return _redirect_and_remember(request, study, enrolment)


def _refuse_openly(study: Study, version: Version | None, earlier: Enrolment | None) -> None:
    """Raise EntryRefused if nobody may enter now, or not in a browser that has this earlier enrolment."""
    enrolling.refuse_closed(study, version)
    if earlier is not None and version is not None:
        participations.refuse_browser(version, earlier)


def _refuse_too_many(request: HttpRequest, arrival: arrivals.Arrival) -> None:
    """Raise TooMany if one address begins many enrolments through open links."""
    if not arrival.checked and addresses.counted(request, "joins") > settings.JOINS_PER_HOUR:
        raise TooMany


def _token(request: HttpRequest, study: Study) -> str:
    """Return the token of the enrolment that this form begins, so that submitting it twice has the same result."""
    form = request.POST.get("form", "")
    if not re.fullmatch(r"[\w-]{20,60}", form, re.ASCII):
        return ""
    return salted_hmac(f"{COOKIE_SALT}.form", f"{study.slug}/{form}", algorithm="sha256").hexdigest()[:40]


def _browser_token(request: HttpRequest, study: Study) -> str:
    """Return the token of the enrolment begun in this browser; empty if there is none."""
    return request.get_signed_cookie(f"parley-{study.slug}", default="", salt=COOKIE_SALT) or ""


def _redirect_and_remember(request: HttpRequest, study: Study, enrolment: Enrolment) -> HttpResponse:
    response = redirect(enrolment)
    response.set_signed_cookie(
        f"parley-{study.slug}",
        enrolment.token,
        salt=COOKIE_SALT,
        max_age=7 * 24 * 3600,
        httponly=True,
        samesite="Lax",
        secure=request.is_secure(),
    )
    return response


def _study_context(study: Study) -> dict:
    """Return what may be shown of a study to visitors who have not entered."""
    version = study.latest_version()
    version = version.in_language(get_language()) if version else None
    languages = version.languages if version else ()
    return {
        "study": study,
        "languages": [(code, NAMES[code]) for code in languages] if len(languages) > 1 else [],
        "title": version.shown_title if version else UNTITLED,
        "form": secrets.token_urlsafe(24),
        "demo": study.purpose == Match.Purpose.DEMO,
        "roles": enrolling.roles_offered(study) if version else [],
        "consent": to_html(journeys.consent_of(version)) if version else "",
        "together": Study.objects.filter(slug=two_person_slug(study.slug)).first(),
    }
