"""What the demo offers researchers: a study to set up, and finished samples to look at."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from collecting.models import Collection
from exports.models import Dataset
from reports.models import Report
from showcase.samples import bargaining, guessing, tournament
from studies.models import Study


@dataclass(frozen=True)
class Link:
    """A page of the admin."""

    title: str
    url: str


@dataclass(frozen=True)
class Offer:
    """Something to try in the admin.

    Attributes:
        links: the pages, the most important first; empty as long as the sample is being made.
        pending: parts of it are still being made.
    """

    title: str
    line: str
    links: list[Link]
    pending: bool = False


def overview() -> list[Offer]:
    """Return what the home page offers researchers."""
    return [
        Offer(
            _("Set up a study"),
            _("Choose a game, what varies, who plays and what is paid; walk through it as a participant would."),
            [
                Link(_("New study"), reverse("admin:studies_study_add")),
                Link(_("All studies"), reverse("admin:studies_study_changelist")),
                Link(_("Tour in five steps"), reverse("tour:page")),
            ],
        ),
        _offer(
            _("Look at a finished study"),
            _("80 simulated participants in a 2 × 2 design: who dropped out, who is paid what, and what was found."),
            bargaining.SLUG,
        ),
        _offer(
            _("Look at a study in groups"),
            _("Simulated participants met in a lobby and guessed numbers in groups of four."),
            guessing.SLUG,
        ),
        _offer(
            _("Compare agents in a collection"),
            _("Six scripts met in three games, everybody against everybody. The leaderboard ranks them."),
            tournament.SLUG,
        ),
    ]


def samples_of(key: str) -> list[Link]:
    """Return the finished samples of this game."""
    slugs = (bargaining.SLUG, guessing.SLUG, tournament.SLUG)
    rows = [row for model in (Study, Collection) for row in model.objects.filter(slug__in=slugs, game=key)]
    return [link for row in rows for link in _links(row)]


def _offer(title: str, line: str, slug: str) -> Offer:
    row = next((row for model in (Study, Collection) for row in model.objects.filter(slug=slug)), None)
    links = _links(row) if row is not None else []
    return Offer(title, line, links, pending=not any(link.title == _("Report") for link in links))


def _links(row: Study | Collection) -> list[Link]:
    """Return the pages of a sample that are ready."""
    if isinstance(row, Study):
        parent, suffix, number = {"study": row}, "", {"study_id": row.pk}
        links = [
            Link(_("Monitor"), reverse("monitoring:page", args=[row.pk])),
            Link(_("Pay desk"), reverse("paydesk:page", args=[row.pk])),
        ]
    else:
        parent, suffix, number = {"collection": row}, "_of_collection", {"collection_id": row.pk}
        links = [Link(_("Leaderboard"), reverse("admin:collecting_collection_change", args=[row.pk]))]
    if Dataset.objects.filter(**parent, state=Dataset.State.READY).exists():
        links.append(Link(_("Dataset"), reverse(f"exports:page{suffix}", kwargs=number)))
    report = Report.objects.filter(state=Report.State.READY, **{f"dataset__{key}": value for key, value in parent.items()})
    if (ready := report.select_related("dataset").first()) is not None:
        links.append(Link(_("Report"), reverse(f"reports:read{suffix}", kwargs={**number, "uid": ready.dataset.uid})))
    return links
