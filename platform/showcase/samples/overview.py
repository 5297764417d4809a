"""Which samples there are, and where their pages are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.core.cache import cache
from django.urls import reverse

from collecting.models import Collection
from exports.models import Dataset, lookup
from matches.models import Match
from reports import background as reports
from reports.models import Report
from showcase.samples import bargaining, guessing, tournament
from studies.models import Study

PROGRESS_KEY = "samples-progress"
ALIVE_SECONDS = 90
"""For how long a process that makes samples counts as working after its last line."""


@dataclass(frozen=True)
class Sample:
    """One sample, made or not yet.

    Attributes:
        name: "study", "group" or "tournament".
        game: the game's key.
        links: the pages that are ready, by name: "page" (the study or collection in the admin), "monitor", "pay",
            "leaderboard", "dataset", "download" (a form posts to it), "report" and "replay" (a match, step by step).
        match: the key of the match of "replay"; None before there is one.
        ready: everything that can be made has been made.
    """

    name: str
    slug: str
    title: str
    summary: str
    game: str
    links: Mapping[str, str] = field(default_factory=dict)
    match: int | None = None
    ready: bool = False


def links() -> dict[str, Any]:
    """Return the samples and their pages as far as they are ready.

    Keys:
        samples: `Sample` by name: "study", "group" and "tournament".
        ready: all of them are.
        working: a process is making them now.
        seconds_left: about how long it still takes; None if unknown.
        reports: whether reports can be made, which needs the analysis libraries (`make analysis`).
    """
    modules = {"study": bargaining, "group": guessing, "tournament": tournament}
    samples = {name: _sample(module, name) for name, module in modules.items()}
    ready = all(sample.ready for sample in samples.values())
    progress: dict[str, Any] = {} if ready else cache.get(PROGRESS_KEY) or {}
    return {
        "samples": samples,
        "ready": ready,
        "working": bool(progress),
        "seconds_left": progress.get("seconds_left"),
        "reports": reports.available(),
    }


def report_progress(seconds_left: float) -> None:
    """Remember that a process is making samples, for the pages that wait for them; 0: it has finished."""
    cache.set(PROGRESS_KEY, {"seconds_left": round(seconds_left)} if seconds_left else {}, ALIVE_SECONDS)


STUDY_PAGES = {
    "page": "admin:studies_study_change",
    "monitor": "monitoring:page",
    "pay": "paydesk:page",
    "dataset": "exports:page",
}
COLLECTION_PAGES = {
    "page": "admin:collecting_collection_change",
    "leaderboard": "admin:collecting_collection_results",
    "dataset": "exports:page_of_collection",
}


def _sample(module: Any, name: str) -> Sample:
    """Return what a module of this package describes, with the pages that are there."""
    described = Sample(name, module.SLUG, module.TITLE, module.DESCRIPTION, module.GAME)
    of_study = name != "tournament"
    parent: Any = (Study if of_study else Collection).objects.filter(slug=module.SLUG).first()
    if parent is None:
        return described
    views = STUDY_PAGES if of_study else COLLECTION_PAGES
    pages = {page: reverse(view, args=[parent.pk]) for page, view in views.items()}
    by = "seats__enrolment__placement__cell__version__study" if of_study else "item__collection"
    finished = Match.objects.filter(**{by: parent}, status=Match.Status.FINISHED).order_by("pk")
    match = finished.values_list("pk", flat=True).last()
    if match is not None:
        pages["replay"] = reverse("admin:matches_match_change", args=[match])
    suffix = "" if of_study else "_of_collection"
    dataset = Dataset.objects.filter(**lookup(parent), state=Dataset.State.READY).order_by("pk").first()
    has_report = False
    if dataset is not None:
        pages["download"] = reverse(f"exports:download{suffix}", args=[parent.pk, dataset.uid])
        has_report = Report.objects.filter(dataset=dataset, state=Report.State.READY).exists()
        if has_report:
            pages["report"] = reverse(f"reports:read{suffix}", args=[parent.pk, dataset.uid])
    is_over = parent.status in (Study.Status.CLOSED, Collection.Status.DONE)
    ready = is_over and dataset is not None and (has_report or not reports.available())
    return replace(described, links=pages, match=match, ready=ready)
