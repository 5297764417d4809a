"""The tour's five steps from a question to a report, in the admin and on the documentation's first page.

The texts stand here alone: `page()` is the part of docs/index.md between its two marks, and a test compares them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _

from showcase.samples import bargaining

STUDY = bargaining.SLUG
"""The short name of the sample study that the tour shows."""

_LABEL = re.compile(r"\*(.+?)\*")
_CODE = re.compile(r"`(.+?)`")


@dataclass(frozen=True)
class Stop:
    """One place on one page of the admin, and what a newcomer learns there.

    The texts are plain, with *labels* as on the page and `commands`.

    Attributes:
        name: unique in the tour, and part of the stop's address.
        look: what to look at.
        act: what to do.
        view: the page's URL name.
        at: id of the element on the page to which the stop points; empty for the whole page.
        of_sample: whether the page is one of the sample study.
    """

    name: str
    title: str | Promise
    look: str | Promise
    act: str | Promise
    view: str
    at: str = ""
    of_sample: bool = True

    def page(self, study_id: int) -> str:
        """Return the path of the page, given the sample study's primary key."""
        return reverse(self.view, args=[study_id] if self.of_sample else [])


@dataclass(frozen=True)
class Step:
    """One of the five steps.

    Attributes:
        picture: describes the picture of the step in the documentation, docs/images/tour-NAME.png.
    """

    name: str
    title: str | Promise
    stops: Sequence[Stop]
    picture: str


STEPS = (
    Step(
        "ask",
        _("Ask a question"),
        (
            Stop(
                "question",
                _("The question and its design"),
                _(
                    "Two people divide a sum that loses value with every round. The sample study asks: does waiting "
                    "cost them, and do words help? Its participants keep 95% or 80% of their value per round, and they "
                    "may write messages or not, which makes four cells. Scripts with known behaviour took the place "
                    "of people."
                ),
                _("Find the four cells in *Places of the launched version*."),
                "admin:studies_study_change",
                at="places",
            ),
            Stop(
                "game",
                _("A game that measures it"),
                _(
                    "A study of your own starts with the game whose decisions answer your question. Each has "
                    "rules, instructions, scripted players and quizzes of its own."
                ),
                _("Look for a game that fits a question you have. You can choose it after the tour."),
                "admin:studies_study_add",
                of_sample=False,
            ),
        ),
        "The four cells of the sample study, below the line of the tour",
    ),
    Step(
        "set-up",
        _("Set up the study"),
        (
            Stop(
                "form",
                _("One plan, and what varies in it"),
                _(
                    "The editor shows the plan of the study: at the left the journey of a participant, in the middle "
                    "the part that you chose, at the right the cells. Every setting has a default, and anything can be "
                    "a treatment: press “Vary by…” at a text, a parameter, a seat or the pay."
                ),
                _(
                    "Open the parts at the left and watch the cells at the right: quota, minutes and pay change as you "
                    "type. Nothing is stored until you press *Save*. *Download* gives you the plan as a file."
                ),
                "admin:studies_study_change",
                at="plan",
            ),
            Stop(
                "costs",
                _("Pay and costs"),
                _(
                    "*What this study will cost* adds up base pay, bonuses, recruiters’ fees and calls to models, as "
                    "expected and at most. Rates and limits are in the plan’s part “Pay”."
                ),
                _("Compare the two columns, and read below them what comes on top."),
                "admin:studies_study_change",
                at="costs",
            ),
        ),
        "The plan of the sample study in the editor",
    ),
    Step(
        "launch",
        _("Try and launch it"),
        (
            Stop(
                "preview",
                _("What players meet"),
                _(
                    "The preview shows any turn of the study: what a participant sees and, if a model plays, the exact "
                    "prompt that it receives. It sends nothing to any model."
                ),
                _("Choose another role or a later turn and press *Show*."),
                "admin:studies_study_prompts",
            ),
            Stop(
                "pilot",
                _("A pilot"),
                _(
                    "In a pilot, simulated participants go through the real pages, and some of them fail deliberately. "
                    "The report shows how long people need, what they earn and where they get stuck. Nobody is paid, "
                    "and nothing enters a dataset."
                ),
                _("Press *Start a pilot* and wait a few seconds for its report, or go on."),
                "admin:studies_study_change",
                at="pilots",
            ),
            Stop(
                "link",
                _("Launch and link"),
                _(
                    "Launching freezes a study as version 1 and opens its link. Share the link, hand out personal "
                    "codes, or recruit on a marketplace. Later changes become version 2 when you launch them."
                ),
                _("Find the link for participants. The sample is closed, so the button says *Reopen*."),
                "admin:studies_study_change",
                at="join-link",
            ),
        ),
        "The preview of a turn, below the text of the tour",
    ),
    Step(
        "watch",
        _("Watch it"),
        (
            Stop(
                "monitor",
                _("The monitor"),
                _(
                    "The monitor shows who has arrived, how far they are, which cells still need people, and how "
                    "matches end. While a study runs, it is always up to date."
                ),
                _("Find out how many participants dropped out or failed a check."),
                "monitoring:page",
            ),
            Stop(
                "pay",
                _("The pay page"),
                _(
                    "Every payment has its rule and its numbers. Nothing is paid before an owner of the study "
                    "approves it, and nobody is paid twice."
                ),
                _(
                    "Choose *unclear*: the recruiter did not say whether this payment was made, so Parley asks you to "
                    "look it up instead of paying again."
                ),
                "paydesk:page",
            ),
        ),
        "The monitor of the sample study, below the text of the tour",
    ),
    Step(
        "read",
        _("Read it"),
        (
            Stop(
                "dataset",
                _("The dataset"),
                _(
                    "A dataset contains every decision, a codebook, and the flow of participants with the reason for "
                    "each exclusion, but no names. Anyone can check it: `.venv/bin/python manage.py verify_dataset "
                    "FOLDER` replays every match from its log and compares every number."
                ),
                _("Follow the flow from everyone who arrived to those who are in the analysis."),
                "exports:page",
                at="export-flow",
            ),
            Stop(
                "report",
                _("The report"),
                _(
                    "The report answers the usual questions of a study from its dataset, with tables, figures and "
                    "tests: who got what, how the cells differ, who left."
                ),
                _(
                    "Choose *Open the report*, then “Effects of parameters and players”, and answer the question of "
                    "step 1. What the scripts were made to do is in *Dataset description*."
                ),
                "exports:page",
                at="datasets",
            ),
        ),
        "The report of the sample study",
    ),
)
STOPS = tuple(stop for step in STEPS for stop in step.stops)
"""All stops in order."""


def rendered(text: str | Promise) -> SafeString:
    """Return a stop's text as HTML."""
    escaped = str(conditional_escape(str(text)))
    return mark_safe(_CODE.sub(r"<code>\1</code>", _LABEL.sub(r"<strong>\1</strong>", escaped)))


def page() -> str:
    """Return the five steps as Markdown."""
    parts = []
    for number, step in enumerate(STEPS, start=1):
        parts.append(f"### {number}. {step.title}")
        parts += [f"**{stop.title}.** {stop.look} {stop.act}" for stop in step.stops]
        parts.append(f"![{step.picture}](images/tour-{step.name}.png)")
    return "\n\n".join(parts) + "\n"
