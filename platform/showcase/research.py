"""What the demo offers researchers: a study to set up, and finished samples to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from showcase import samples

TITLES = {
    "monitor": gettext_lazy("Monitor"),
    "leaderboard": gettext_lazy("Leaderboard"),
    "pay": gettext_lazy("Pay desk"),
    "dataset": gettext_lazy("Dataset"),
    "report": gettext_lazy("Report"),
    "replay": gettext_lazy("A match, step by step"),
}
"""What the pages of a sample are called, the most telling first."""


@dataclass(frozen=True)
class Link:
    """A page of the admin."""

    title: str
    url: str


@dataclass(frozen=True)
class Offer:
    """Something to try in the admin.

    Attributes:
        links: the pages that are there, the most important first.
        pending: others are still being made.
    """

    title: str
    line: str
    links: list[Link]
    pending: bool = False


@dataclass(frozen=True)
class Overview:
    """The home page's part for researchers.

    Attributes:
        seconds_left: about how long it takes until all samples are made; None if unknown.
    """

    offers: list[Offer]
    seconds_left: int | None


def overview() -> Overview:
    """Return what the home page offers researchers."""
    made = samples.links()
    set_up = Offer(
        _("Set up a study"),
        _("Choose a game, what varies, who plays and what is paid. The tour leads from a question to a report."),
        [
            Link(_("New study"), reverse("admin:studies_study_add")),
            Link(_("Tour in five steps"), reverse("tour:page")),
            Link(_("All studies"), reverse("admin:studies_study_changelist")),
        ],
    )
    described = {
        "study": (
            _("Look at a finished study"),
            _("80 simulated participants in a 2 × 2 design: who left and why, what is paid, and what was found."),
        ),
        "group": (
            _("Look at a study in groups"),
            _("Simulated participants met in a lobby and guessed numbers in groups of four."),
        ),
        "tournament": (
            _("Compare agents in a collection"),
            _("Six scripts met in three games, everybody against everybody. The leaderboard ranks them."),
        ),
    }
    offers = [set_up]
    for name, (title, line) in described.items():
        sample = made["samples"][name]
        offers.append(Offer(title, line, _links(sample.links), pending=not sample.ready))
    return Overview(offers, made["seconds_left"])


def samples_of(key: str) -> list[tuple[str, list[Link]]]:
    """Return the title and the pages of every sample of this game."""
    rows = [sample for sample in samples.links()["samples"].values() if sample.game == key]
    return [(sample.title, _links(sample.links)) for sample in rows if sample.links]


def _links(pages: Mapping[str, str]) -> list[Link]:
    return [Link(str(title), pages[name]) for name, title in TITLES.items() if name in pages]
