"""Matches, live ones first, and their transcripts: to be read, never changed."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Case, IntegerField, Max, OuterRef, Prefetch, QuerySet, Subquery, Value, When
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.timesince import timesince
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from games import registry
from matches.models import Event, Match, Seat
from participants.admin import ReadOnlyAdmin
from studies.admin.records import OfStudy
from studies.admin.transcript import transcript_of

COLOURS = {"live": "info", "finished": "success", "abandoned": "danger"}


class MatchOfStudy(OfStudy):
    lookup = "seats__enrolment__placement__cell__version__study"

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Matches of the study, each once, however many of its people sit in it."""
        found = super().queryset(request, queryset)
        return found if found is queryset else queryset.filter(pk__in=found.values("pk"))


@admin.register(Match)
class MatchAdmin(ReadOnlyAdmin):
    list_display = ["short", "study", "standing", "game_title", "people", "opponents", "started_at", "last_event"]
    list_display_links = ["short"]
    list_filter = ["status", MatchOfStudy, "game", "purpose"]
    search_fields = ["uid", "seats__enrolment__pseudonym"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Match]:
        of_match = Seat.objects.filter(match=OuterRef("pk"), enrolment__isnull=False)
        events = Event.objects.filter(match=OuterRef("pk")).order_by().values("match")
        return (
            super()
            .get_queryset(request)
            .defer("snapshot", "texts")
            .annotate(
                study_title=Subquery(of_match.values("enrolment__placement__cell__version__study__title")[:1]),
                study_pk=Subquery(of_match.values("enrolment__placement__cell__version__study")[:1]),
                last_at=Subquery(events.annotate(last=Max("at")).values("last")),
            )
            .prefetch_related(Prefetch("seats", Seat.objects.select_related("enrolment").order_by("pk")))
        )

    def get_ordering(self, request: HttpRequest) -> list[Any]:
        live_first = Case(When(status=Match.Status.LIVE, then=Value(0)), default=Value(1), output_field=IntegerField())
        return [live_first.asc(), "-started_at"]

    @display(description=_("match"))
    def short(self, match: Match) -> str:
        return str(match.uid)[:8]

    @display(description=_("study"), ordering="study_title")
    def study(self, match: Any) -> str:
        if match.study_pk is None:
            return "–"
        url = reverse("admin:studies_study_change", args=[match.study_pk])
        return format_html('<a href="{}" class="text-link">{}</a>', url, match.study_title)

    @display(description=_("status"), ordering="status", label=COLOURS)
    def standing(self, match: Match) -> tuple[str, str]:
        if match.status == Match.Status.ABANDONED:
            return match.status, match.ending.replace("_", " ")
        return match.status, match.get_status_display()

    @display(description=_("game"), ordering="game")
    def game_title(self, match: Match) -> str:
        return str(registry.get(match.game).title) if match.game in registry.keys() else match.game

    @display(description=_("people"))
    def people(self, match: Match) -> str:
        return ", ".join(f"{seat.role}: {seat.enrolment}" for seat in match.seats.all() if seat.enrolment) or "–"

    @display(description=_("opponents"))
    def opponents(self, match: Match) -> str:
        return ", ".join(f"{seat.role}: {seat.agent}" for seat in match.seats.all() if seat.agent) or "–"

    @display(description=_("last event"), ordering="last_at")
    def last_event(self, match: Any) -> str:
        return _("{time} ago").format(time=timesince(match.last_at, depth=1)) if match.last_at else "–"

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """The transcript: what happened in order, and what the models were asked beside it."""
        match = self.get_object(request, object_id)
        if match is None or not self.has_view_permission(request, match):
            raise Http404
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": match,
            "match": match,
            "title": _("Match {uid}").format(uid=str(match.uid)[:8]),
            "transcript": transcript_of(match),
            "colour": COLOURS[match.status],
            "study": {"pk": match.study_pk, "title": match.study_title} if match.study_pk else None,
        }
        return TemplateResponse(request, "admin/matches/match/transcript.html", context)
