"""The pages for a study's personal codes: create, upload, list, download and delete them."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit.actions import Action
from recruiters import lab_codes
from recruiters.models import LabCode
from recruiters.uploads import LARGEST, BadFile
from rights.admin import NO_STORE, MembersPage, at, trail
from rights.roles import Role
from studies.models import Study

CODES_PER_PAGE = 50
"""Codes on one page of the list."""
PROBLEMS_SHOWN = 100


class InvalidCodeRequest(ValueError):
    """Raised when a request cannot create codes; the message gives the reason."""


class LabCodes(MembersPage):
    """The admin's views and actions for personal codes. Editors only."""

    @at("<path:object_id>/codes/", "POST", name="codes")
    def create_codes(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Create the requested number of personal codes."""
        study = self.seen(request, object_id, role=Role.EDITOR)
        try:
            number, kind, expires_at = _number(request), _kind(request), _expiry(request)
        except InvalidCodeRequest as reason:
            return self._to_codes(request, study, reason, messages.ERROR)
        with transaction.atomic():
            lab_codes.make(study=study.slug, number=number, kind=kind, expires_at=expires_at)
            self.record_action(
                request, study, Action.CODES_MADE, f"Created {number} lab codes.", _details(number, kind, expires_at)
            )
        message = ngettext("One code created.", "{number} codes created.", number).format(number=number)
        return self._to_codes(request, study, message)

    @at("<path:object_id>/codes/upload/", "POST")
    def upload_codes(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Import the codes in a CSV file, all or none, and report each problem by line."""
        study = self.seen(request, object_id, role=Role.EDITOR)
        try:
            kind, expires_at = _kind(request), _expiry(request)
            shortest = 1 if study.entry == "panel" else lab_codes.SHORTEST  # a panel's IDs may be of any length
            codes = lab_codes.read(_file(request), shortest=shortest)
            with transaction.atomic():
                number = lab_codes.add_codes(study=study.slug, codes=codes, kind=kind, expires_at=expires_at)
                details = {**_details(number, kind, expires_at), "uploaded": True}
                self.record_action(request, study, Action.CODES_MADE, f"Uploaded {number} lab codes.", details)
        except InvalidCodeRequest as reason:
            return self._to_codes(request, study, reason, messages.ERROR)
        except BadFile as error:
            return self._codes_page(request, study, problems=error.problems)
        message = ngettext("One code imported.", "{number} codes imported.", number).format(number=number)
        return self._to_codes(request, study, message)

    @at("<path:object_id>/codes/delete/", "POST")
    def delete_codes(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Delete the selected codes, or all of them, except those already in use."""
        study = self.seen(request, object_id, role=Role.EDITOR)
        all_unused = request.POST.get("which") == "unused"
        selected = request.POST.getlist("code")[:CODES_PER_PAGE]
        if not all_unused and not selected:
            return self._to_codes(request, study, _("Select the codes you want to delete."), messages.ERROR)
        with transaction.atomic():
            number = lab_codes.delete_unused(study=study.slug, codes=None if all_unused else selected)
            if number:
                self.record_action(
                    request, study, Action.DELETED, f"Deleted {number} lab codes.", {"lab codes": number}
                )
        message = ngettext("One code deleted.", "{number} codes deleted.", number).format(number=number)
        if not all_unused and number < len(selected):
            message += " " + _("Codes already in use were kept.")
        return self._to_codes(request, study, message, messages.SUCCESS if number else messages.WARNING)

    def _to_codes(
        self, request: HttpRequest, study: Study, message: Any, level: int = messages.SUCCESS
    ) -> HttpResponse:
        return self.leave_to(request, self.url_of("all_codes", study.pk), message, level)

    @at("<path:object_id>/codes/all/", "GET")
    def all_codes(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """List all codes of the study with the status of each."""
        return self._codes_page(request, self.seen(request, object_id, role=Role.EDITOR))

    def _codes_page(self, request: HttpRequest, study: Study, *, problems: Any = ()) -> HttpResponse:
        codes = lab_codes.codes_of(study.slug)
        selection = request.GET.get("show", "")
        filtered_codes = codes.filter(Q(used=selection == "used")) if selection in ("used", "unused") else codes
        page = Paginator(filtered_codes, CODES_PER_PAGE).get_page(request.GET.get("page"))
        context = {
            **creation_choices(),
            "study": study,
            **trail(study, here=_("Personal codes")),
            "join_link": request.build_absolute_uri(study.get_absolute_url()),
            "codes": list(lab_codes.with_states(page.object_list)),
            "page": page,
            "show": selection,
            "made": codes.count(),
            "used": codes.filter(Q(used=True)).count(),
            "problems": problems[:PROBLEMS_SHOWN],
            "problems_in_all": len(problems),
            "now": timezone.now(),
        }
        title, status = _("Personal codes of {title}").format(title=study.title), 422 if problems else 200
        template = "admin/studies/study/codes.html"
        return self.page(request, template, title, context, of=study, status=status, headers=NO_STORE)

    @at("<path:object_id>/codes.csv")
    def codes_file(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Return a CSV file of every code and its link, ready to hand out."""
        study = self.seen(request, object_id, role=Role.EDITOR)
        self.record_action(request, study, Action.CODES_TAKEN, "Downloaded the lab codes.")
        response = HttpResponse(content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{study.slug}-codes.csv"'
        response["Cache-Control"] = "no-store"
        join_link = request.build_absolute_uri(study.get_absolute_url())
        csv.writer(response).writerows(lab_codes.as_csv(study.slug, join_link))
        return response


def creation_choices() -> dict[str, Any]:
    """Return the choices offered by the forms that create codes."""
    return {"most_codes": lab_codes.MOST, "code_kinds": LabCode.Kind.choices}


def _number(request: HttpRequest) -> int:
    text = request.POST.get("number", "")
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= lab_codes.MOST:
        raise InvalidCodeRequest(_("Enter a number of codes from 1 to {most}.").format(most=f"{lab_codes.MOST:,}"))
    return int(text)


def _kind(request: HttpRequest) -> str:
    kind = request.POST.get("kind") or LabCode.Kind.RESUMABLE
    if kind not in LabCode.Kind.values:
        raise InvalidCodeRequest(_("Choose whether participants can come back with their code or use it only once."))
    return str(kind)


def _expiry(request: HttpRequest) -> datetime | None:
    """Return the codes' expiry time, entered in UTC; None if the field was left empty."""
    text = request.POST.get("expires", "").strip()
    if not text:
        return None
    try:
        expires_at = datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        raise InvalidCodeRequest(_("Enter the expiry as a date and time, such as 2027-03-31 18:00.")) from None
    if expires_at <= timezone.now():
        raise InvalidCodeRequest(_("The expiry is in the past. Enter a later date and time."))
    return expires_at


def _file(request: HttpRequest) -> bytes:
    upload = request.FILES.get("file")
    if upload is None:
        raise InvalidCodeRequest(_("Choose a CSV file."))
    data: bytes = upload.read(LARGEST + 1)
    return data


def _details(number: int, kind: str, expires_at: datetime | None) -> dict[str, Any]:
    expires = expires_at.isoformat(timespec="minutes") if expires_at else None
    return {"number": number, "kind": kind, "expires": expires}
