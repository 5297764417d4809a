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
    samples = {
        sample.name: sample for sample in (_study(bargaining, "study"), _study(guessing, "group"), _tournament())
    }
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


def _described(sample: Any, name: str) -> Sample:
    return Sample(name, sample.SLUG, sample.TITLE, sample.DESCRIPTION, sample.GAME)


def _study(sample: Any, name: str) -> Sample:
    described = _described(sample, name)
    study = Study.objects.filter(slug=sample.SLUG).first()
    if study is None:
        return described
    pages = {
        "page": reverse("admin:studies_study_change", args=[study.pk]),
        "monitor": reverse("monitoring:page", args=[study.pk]),
        "pay": reverse("paydesk:page", args=[study.pk]),
        "dataset": reverse("exports:page", args=[study.pk]),
    }
    matches = Match.objects.filter(seats__enrolment__placement__cell__version__study=study)
    is_over = study.status == Study.Status.CLOSED
    return _with_results(replace(described, links=pages), study, matches, is_over=is_over)


def _tournament() -> Sample:
    described = _described(tournament, "tournament")
    collection = Collection.objects.filter(slug=tournament.SLUG).first()
    if collection is None:
        return described
    pages = {
        "page": reverse("admin:collecting_collection_change", args=[collection.pk]),
        "leaderboard": reverse("admin:collecting_collection_results", args=[collection.pk]),
        "dataset": reverse("exports:page_of_collection", args=[collection.pk]),
    }
    matches = Match.objects.filter(item__collection=collection)
    is_over = collection.status == Collection.Status.DONE
    return _with_results(replace(described, links=pages), collection, matches, is_over=is_over)


def _with_results(sample: Sample, parent: Study | Collection, matches: Any, *, is_over: bool) -> Sample:
    """Add the replay, the dataset and the report that are there."""
    pages, suffix = dict(sample.links), "" if isinstance(parent, Study) else "_of_collection"
    finished = matches.filter(status=Match.Status.FINISHED).order_by("pk").values_list("pk", flat=True)
    match = finished.last()
    if match is not None:
        pages["replay"] = reverse("admin:matches_match_change", args=[match])
    dataset = Dataset.objects.filter(**lookup(parent), state=Dataset.State.READY).order_by("pk").first()
    has_report = False
    if dataset is not None:
        pages["download"] = reverse(f"exports:download{suffix}", args=[parent.pk, dataset.uid])
        has_report = Report.objects.filter(dataset=dataset, state=Report.State.READY).exists()
        if has_report:
            pages["report"] = reverse(f"reports:read{suffix}", args=[parent.pk, dataset.uid])
    ready = is_over and dataset is not None and (has_report or not reports.available())
    return replace(sample, links=pages, match=match, ready=ready)
