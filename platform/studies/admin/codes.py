"""The pages of a study's personal codes: made, brought as a file, looked through, taken away, deleted."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from audit.actions import Action
from recruiters import lab_codes
from recruiters.models import LabCode
from recruiters.uploads import LARGEST, BadFile
from rights.admin import MembersPage, trail
from rights.roles import Role
from studies.models import Study

SHOWN = 50
"""Codes on one page of the list."""
PROBLEMS_SHOWN = 100


class NotAsked(ValueError):
    """What was asked for makes no codes; says why."""


class LabCodes(MembersPage):
    """The pages and actions of studies' admin that are about personal codes; for editors."""

    def codes_urls(self) -> list[URLPattern]:
        """The addresses of these pages."""
        views = {
            "codes/": ("codes", require_POST(self.make_codes)),
            "codes/all/": ("all_codes", require_GET(self.all_codes)),
            "codes/upload/": ("upload_codes", require_POST(self.upload_codes)),
            "codes/delete/": ("delete_codes", require_POST(self.delete_codes)),
            "codes.csv": ("codes_file", self.codes_file),
        }
        return [
            path(f"<path:object_id>/{route}", self.admin_site.admin_view(view), name=f"studies_study_{name}")
            for route, (name, view) in views.items()
        ]

    def make_codes(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Make as many personal codes as were asked for."""
        study = self.seen(request, object_id, role=Role.EDITOR)
        try:
            number, kind, expires_at = _number(request), _kind(request), _expiry(request)
        except NotAsked as reason:
            self.message_user(request, str(reason), messages.ERROR)
            return _list_of(study)
        with transaction.atomic():
            lab_codes.make(study=study.slug, number=number, kind=kind, expires_at=expires_at)
            self.record_action(
                request, study, Action.CODES_MADE, f"Made {number} lab codes.", _details(number, kind, expires_at)
            )
        says = ngettext("One code is ready.", "{number} codes are ready.", number).format(number=number)
        self.message_user(request, says, messages.SUCCESS)
        return _list_of(study)

    def upload_codes(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Take in the codes of a CSV file, all or none; what is wrong with it is said line by line."""
        study = self.seen(request, object_id, role=Role.EDITOR)
        try:
            kind, expires_at = _kind(request), _expiry(request)
            brought = lab_codes.read(_file(request), shortest=_shortest(study))
            with transaction.atomic():
                number = lab_codes.take_in(study=study.slug, brought=brought, kind=kind, expires_at=expires_at)
                details = {**_details(number, kind, expires_at), "uploaded": True}
                self.record_action(request, study, Action.CODES_MADE, f"Uploaded {number} lab codes.", details)
        except NotAsked as reason:
            self.message_user(request, str(reason), messages.ERROR)
            return _list_of(study)
        except BadFile as error:
            return self._codes_page(request, study, problems=error.problems)
        says = ngettext("One code was taken in.", "{number} codes were taken in.", number).format(number=number)
        self.message_user(request, says, messages.SUCCESS)
        return _list_of(study)

    def delete_codes(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Delete the ticked codes, or all, as far as nobody has begun with them."""
        study = self.seen(request, object_id, role=Role.EDITOR)
        every = request.POST.get("which") == "unused"
        ticked = request.POST.getlist("code")[:SHOWN]
        if not every and not ticked:
            self.message_user(request, _("Tick the codes that you want to delete."), messages.ERROR)
            return _list_of(study)
        with transaction.atomic():
            number = lab_codes.delete_unused(study=study.slug, codes=None if every else ticked)
            if number:
                self.record_action(
                    request, study, Action.DELETED, f"Deleted {number} lab codes.", {"lab codes": number}
                )
        says = ngettext("One code was deleted.", "{number} codes were deleted.", number).format(number=number)
        if not every and number < len(ticked):
            says += " " + _("Codes that somebody has begun with stay.")
        self.message_user(request, says, messages.SUCCESS if number else messages.WARNING)
        return _list_of(study)

    def all_codes(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """All codes of the study, with what became of each."""
        return self._codes_page(request, self.seen(request, object_id, role=Role.EDITOR))

    def _codes_page(self, request: HttpRequest, study: Study, *, problems: Any = ()) -> HttpResponse:
        codes = lab_codes.codes_of(study.slug)
        show = request.GET.get("show", "")
        shown = codes.filter(used=show == "used") if show in ("used", "unused") else codes
        page = Paginator(shown, SHOWN).get_page(request.GET.get("page"))
        context = {
            **self.admin_site.each_context(request),
            **making_choices(),
            "opts": self.opts,
            "original": study,
            "study": study,
            **trail(study, here=_("Personal codes")),
            "title": _("Personal codes of {title}").format(title=study.title),
            "join_link": request.build_absolute_uri(study.get_absolute_url()),
            "codes": list(lab_codes.with_states(page.object_list)),
            "page": page,
            "show": show,
            "made": codes.count(),
            "used": codes.filter(used=True).count(),
            "problems": problems[:PROBLEMS_SHOWN],
            "problems_in_all": len(problems),
            "now": timezone.now(),
        }
        return TemplateResponse(
            request,
            "admin/studies/study/codes.html",
            context,
            status=422 if problems else 200,
            headers={"Cache-Control": "no-store"},
        )

    def codes_file(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Every code with its link as a CSV file, for handing out."""
        study = self.seen(request, object_id, role=Role.EDITOR)
        self.record_action(request, study, Action.CODES_TAKEN, "Downloaded the lab codes.")
        response = HttpResponse(content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{study.slug}-codes.csv"'
        response["Cache-Control"] = "no-store"
        join_link = request.build_absolute_uri(study.get_absolute_url())
        csv.writer(response).writerows(lab_codes.as_csv(study.slug, join_link))
        return response


def making_choices() -> dict[str, Any]:
    """What the forms that make codes offer."""
    return {"most_codes": lab_codes.MOST, "code_kinds": LabCode.Kind.choices}


def _shortest(study: Study) -> int:
    """How short a code may be: the IDs of a panel are as the panel makes them."""
    return 1 if study.entry == "panel" else lab_codes.SHORTEST


def _number(request: HttpRequest) -> int:
    asked = request.POST.get("number", "")
    if not asked.isascii() or not asked.isdigit() or not 1 <= int(asked[:9]) <= lab_codes.MOST:
        raise NotAsked(_("Please ask for 1 to {most} codes at a time.").format(most=f"{lab_codes.MOST:,}"))
    return int(asked)


def _kind(request: HttpRequest) -> str:
    kind = request.POST.get("kind") or LabCode.Kind.RESUMABLE
    if kind not in LabCode.Kind.values:
        raise NotAsked(_("Please choose what the codes do: lead back in, or open once."))
    return str(kind)


def _expiry(request: HttpRequest) -> datetime | None:
    """Until when the codes can be used, in UTC as the form says; None where nothing was said."""
    asked = request.POST.get("expires", "").strip()
    if not asked:
        return None
    try:
        until = datetime.fromisoformat(asked).replace(tzinfo=UTC)
    except ValueError:
        raise NotAsked(_("Please give the last moment as a date and a time.")) from None
    if until <= timezone.now():
        raise NotAsked(_("The last moment has passed already; nobody could use these codes."))
    return until


def _file(request: HttpRequest) -> bytes:
    sent = request.FILES.get("file")
    if sent is None:
        raise NotAsked(_("Please choose a CSV file."))
    data: bytes = sent.read(LARGEST + 1)
    return data


def _details(number: int, kind: str, expires_at: datetime | None) -> dict[str, Any]:
    until = expires_at.isoformat(timespec="minutes") if expires_at else None
    return {"number": number, "kind": kind, "expires": until}


def _list_of(study: Study) -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse("admin:studies_study_all_codes", args=[study.pk]))
