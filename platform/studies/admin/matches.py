"""Read-only admin pages for matches, live ones first, and their transcripts."""

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

from matches.models import Event, Match, Seat
from participants.admin import ReadOnlyAdmin
from rights.admin import NO_STORE, at
from rights.roles import Role
from studies.admin.records import StudyFilter
from studies.admin.transcript import Transcript, transcript_of
from studies.admin.viewer import Addresses, chosen_step, screen_page, sheets_of, step_context
from studies.admin.watching import watched

COLOURS = {"live": "info", "finished": "success", "abandoned": "danger"}


class MatchStudyFilter(StudyFilter):
    lookup = "seats__enrolment__placement__version__study"

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Return the study's matches without duplicates, even if several of its participants took part."""
        matches = super().queryset(request, queryset)
        return matches if matches is queryset else queryset.filter(pk__in=matches.values("pk"))


@admin.register(Match)
class MatchAdmin(ReadOnlyAdmin):
    list_display = ["short", "study", "status_label", "game_title", "people", "opponents", "started_at", "last_event"]
    list_display_links = ["short"]
    list_filter = ["status", MatchStudyFilter, "game", "purpose"]
    search_fields = ["uid", "seats__enrolment__pseudonym"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Match]:
        human_seats = Seat.objects.filter(match=OuterRef("pk"), enrolment__isnull=False)
        events = Event.objects.filter(match=OuterRef("pk")).order_by().values("match")
        return (
            super()
            .get_queryset(request)
            .defer("snapshot", "texts")
            .annotate(
                study_title=Subquery(human_seats.values("enrolment__placement__version__study__draft__title")[:1]),
                study_pk=Subquery(human_seats.values("enrolment__placement__version__study")[:1]),
                last_at=Subquery(events.annotate(last=Max("at")).values("last")),
            )
            .prefetch_related(Prefetch("seats", Seat.objects.select_related("enrolment").order_by("pk")))
        )

    def get_ordering(self, request: HttpRequest) -> list[Any]:
        live_first = Case(When(status=Match.Status.LIVE, then=Value(0)), default=Value(1), output_field=IntegerField())
        return [live_first.asc(), "-started_at"]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Match], search_term: str
    ) -> tuple[QuerySet[Match], bool]:
        """Return matches without duplicates. PostgreSQL cannot apply DISTINCT to rows ordered by an expression."""
        matches, _may_have_duplicates = super().get_search_results(request, queryset, search_term)
        return queryset.filter(pk__in=matches.order_by().values("pk")), False

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
    def status_label(self, match: Match) -> tuple[str, str]:
        if match.status == Match.Status.ABANDONED:
            return match.status, match.ending.replace("_", " ")
        return match.status, match.get_status_display()

    @display(description=_("game"), ordering="game")
    def game_title(self, match: Match) -> str:
        return match.game_title

    @display(description=_("participants"))
    def people(self, match: Match) -> str:
        return ", ".join(f"{seat.role}: {seat.enrolment}" for seat in match.seats.all() if seat.enrolment) or "–"

    @display(description=_("opponents"))
    def opponents(self, match: Match) -> str:
        return ", ".join(f"{seat.role}: {seat.agent}" for seat in match.seats.all() if seat.agent) or "–"

    @display(description=_("last event"), ordering="last_at")
    def last_event(self, match: Any) -> str:
        return _("{time} ago").format(time=timesince(match.last_at, depth=1)) if match.last_at else "–"

    # ---- the transcript ------------------------------------------------------------------------------

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show the match's transcript and one step of it."""
        match = self.seen(request, object_id)
        transcript = transcript_of(match)
        study = {"pk": match.study_pk, "title": match.study_title} if match.study_pk else None
        context = {
            **_step(request, match, transcript, chosen_step(request, match, transcript)),
            "original": match,
            "colour": COLOURS[match.status],
            "study": study,
            "may_end": study and match.status == Match.Status.LIVE and self._allowed(request, match, Role.EDITOR),
        }
        title = _("Match {uid}").format(uid=str(match.uid)[:8])
        return self.page(request, "admin/matches/match/transcript.html", title, context)

    @at("<path:object_id>/step/<int:number>/", "GET")
    def step(self, request: HttpRequest, object_id: str, number: int) -> HttpResponse:
        """Return one step as HTML for the page's script."""
        match = self.seen(request, object_id)
        transcript = transcript_of(match)
        if not 1 <= number <= transcript.last:
            raise Http404
        context = _step(request, match, transcript, number)
        return TemplateResponse(request, "admin/matches/match/step.html", context)

    @at("<path:object_id>/screen/<int:number>/<str:side>/<str:role>/", "GET")
    def screen(self, request: HttpRequest, object_id: str, number: int, side: str, role: str) -> HttpResponse:
        """Return what a role saw, as a page that runs no script and submits no form."""
        match = self.seen(request, object_id)
        return screen_page(request, match, number, side, role)

    # ---- watching ------------------------------------------------------------------------------------

    @at("<path:object_id>/watch/", "GET")
    def watch(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the live match: what is public and what each seat sees. Read-only."""
        match = self.seen(request, object_id)
        monitor = reverse("monitoring:page", args=[match.study_pk]) if match.study_pk else ""
        context = {
            "watched": watched(match),
            "game": match.game_title,
            "sheets": sheets_of(match.game),
            "back": (match.study_title, monitor) if monitor else None,
        }
        return TemplateResponse(request, "admin/matches/match/watch.html", context, headers=NO_STORE)

    @at("<path:object_id>/watch/now/", "GET")
    def watch_now(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Return the part of the page that changes, for its script; 204 if nothing changed since `seen`."""
        current = watched(self.seen(request, object_id))
        if request.GET.get("seen") == current.version:
            return HttpResponse(status=204)
        return TemplateResponse(request, "admin/matches/match/watched.html", {"watched": current}, headers=NO_STORE)


def _step(request: HttpRequest, match: Match, transcript: Transcript, number: int) -> dict[str, Any]:
    at = Addresses("admin:matches_match_step", "admin:matches_match_screen", match.pk)
    return step_context(match, transcript, number, request.GET.get("side"), at)
