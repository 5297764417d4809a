"""Read-only admin pages for a study's records: versions, participants, placements."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from participants.admin import ReadOnlyAdmin
from participants.models import Enrolment
from participants.states import ENDED, State
from plans.canonical import part_hashes, version_hash
from plans.files import dumps
from quality.score import MEANINGS, score
from rights.admin import ByKey, PartAdmin
from rights.parts import visible
from rights.roles import Role
from studies.models import Placement, Study, Version


class StudyFilter(ByKey):
    """Filter by study; `lookup` is the query path from a row to its study."""

    title = _("study")
    parameter_name = "study"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        studies = visible(request.user, Study.objects.order_by("draft__title"))
        return [(str(pk), title) for pk, title in studies.values_list("pk", "draft__title")]


def by_study(lookup: str) -> type[StudyFilter]:
    """Return the filter of rows that this query path leads from to their study."""
    return type("ByStudy", (StudyFilter,), {"lookup": lookup})


class OfStudyAdmin(PartAdmin):
    """The pages of something that is added to a study: the form offers the studies that the user may change so."""

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        studies = visible(request.user, Study.objects.order_by("draft__title"), role=self.changes)
        return super().formfield_for_foreignkey(db_field, request, queryset=studies, **kwargs)


COLOURS = {"good": "success", "bad": "danger", "live": "info"}


@admin.register(Enrolment)
class EnrolmentAdmin(ReadOnlyAdmin):
    list_display = ["pseudonym", "study", "role", "status_label", "arrived_at", "last_seen_at", "ended_at"]
    list_filter = ["state", by_study("placement__version__study")]
    list_select_related = ["placement__version__study"]
    search_fields = ["pseudonym"]
    date_hierarchy = "arrived_at"
    change_form_outer_before_template = "admin/participants/enrolment/erase_link.html"
    fields = [
        "pseudonym",
        "state",
        "study",
        "role",
        "matches",
        "position",
        "arrived_at",
        "last_seen_at",
        "expires_at",
        "ended_at",
        "erased_at",
        "earnings",
        "completion_code",
        "signals",
    ]

    def form_context(self, request: HttpRequest, obj: Enrolment | None) -> dict[str, Any]:
        is_there = obj is not None and obj.erased_at is None
        return {"may_erase": is_there and self._allowed(request, obj, Role.OWNER)}

    @display(description=_("study"))
    def study(self, enrolment: Enrolment) -> str:
        placement = getattr(enrolment, "placement", None)
        return str(placement.version) if placement else "–"

    @display(description=_("role"))
    def role(self, enrolment: Enrolment) -> str:
        placement = getattr(enrolment, "placement", None)
        return placement.role if placement else "–"

    @display(description=_("matches"))
    def matches(self, enrolment: Enrolment) -> str:
        seats = enrolment.seats.select_related("match").order_by("step")
        links = [(reverse("admin:matches_match_change", args=[seat.match_id]), str(seat.match)) for seat in seats]
        return format_html_join(", ", '<a href="{}" class="text-link">{}</a>', links) or "–"

    @display(description=_("page behaviour"))
    def signals(self, enrolment: Enrolment) -> str:
        """Return a table of what this participant's browser recorded; it has no effect on pay or data."""
        views = list(enrolment.page_views.order_by("position", "first_at"))
        page_use = [(row.kind, row.figures) for row in enrolment.behaviour.all()]
        result = score(page_use) if page_use else None
        reasons = [MEANINGS[reason] for reason in result.reasons] if result else []
        context = {"views": views, "score": result, "why": reasons}
        return render_to_string("admin/participants/enrolment/signals.html", context)

    @display(description=_("status"), ordering="state", label=COLOURS)
    def status_label(self, enrolment: Enrolment) -> tuple[str, str]:
        kind = "live" if enrolment.state not in ENDED else "good" if enrolment.state == State.COMPLETED else "bad"
        return kind, enrolment.get_state_display()


@admin.register(Version)
class VersionAdmin(ReadOnlyAdmin):
    list_display = ["study", "number", "launched_at", "hash", "revision"]
    list_filter = [by_study("study")]
    list_select_related = ["study"]
    fields = ["study", "number", "launched_at", "sha256", "intact", "hashes", "code_revision", "plan"]

    @display(description=_("hash"))
    def hash(self, version: Version) -> str:
        return format_html("<code>{}</code>", version.sha256[:12])

    @display(description=_("code"))
    def revision(self, version: Version) -> str:
        return format_html("<code>{}</code>", version.code_revision[:12]) if version.code_revision else "–"

    @display(description=_("hashes of its parts"))
    def hashes(self, version: Version) -> str:
        """List each part of the content with its hash, to show which parts two versions share."""
        rows = part_hashes(version.document).items()
        return format_html_join("", "<div>{}: <code>{}</code></div>", rows)

    @display(description=_("plan"))
    def plan(self, version: Version) -> str:
        return format_html('<pre style="white-space: pre-wrap">{}</pre>', dumps(version.document))

    @display(description=_("content matches hash"), boolean=True)
    def intact(self, version: Version) -> bool:
        return version_hash(version.document) == version.sha256


@admin.register(Placement)
class PlacementAdmin(ReadOnlyAdmin):
    list_display = ["enrolment", "study", "version", "role", "placed_at", "released_at"]
    list_filter = [by_study("version__study")]
    list_select_related = ["enrolment", "version__study"]
    search_fields = ["enrolment__pseudonym"]
    date_hierarchy = "placed_at"

    @display(description=_("study"), ordering="version__study__draft__title")
    def study(self, placement: Placement) -> str:
        return placement.version.study.title

    @display(description=_("version"), ordering="version__number")
    def version(self, placement: Placement) -> int:
        return placement.version.number
