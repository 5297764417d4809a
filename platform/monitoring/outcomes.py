"""Outcomes of a study's matches so far, by cell: a preview from stored sums, with intervals over matches.

The sums are of finished matches whose people all completed, as of the last sweep (see `monitoring.tallies`), so that
viewing them costs the same however many matches have finished.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Sum
from django.utils.translation import gettext as _

from monitoring.finished import PAYOFF, SUM_COLUMNS, meanings_of, ranges_of
from monitoring.models import OutcomeTally
from monitoring.people import MAX_CELLS_LISTED, People
from plans.checking import matches_of
from plans.stages import Block
from studies.models import Study, Version


@dataclass(frozen=True)
class Estimate:
    """An outcome in one cell or in all cells, with its 95% interval; positions in percent of the chart's width."""

    label: str
    number: int
    text: str
    position: float
    interval: str = ""
    low: float | None = None
    width: float | None = None


@dataclass(frozen=True)
class Outcome:
    """One outcome: its name, its meaning in the codebook and its estimates."""

    name: str
    meaning: str
    estimates: list[Estimate]


@dataclass(frozen=True)
class Preview:
    """The outcomes of the newest version.

    Attributes:
        hidden: number of cells not listed.
        dependent: whether a person may play several matches, or groups are of one cohort; the stored sums then allow
            no interval.
        few: whether there are too few matches for intervals.
    """

    outcomes: list[Outcome]
    hidden: int
    dependent: bool
    few: bool


def preview_of(study: Study, people: People) -> Preview | None:
    """Return the newest version's outcomes so far; None before the first match has finished."""
    from analysis.toolbox.dependence import FEWEST_UNITS

    version = study.latest_version()
    if version is None:
        return None
    tallies = OutcomeTally.objects.filter(cell__version=version).order_by()
    totals = {row[0]: row[1:] for row in tallies.values_list("outcome").annotate(*(Sum(name) for name in SUM_COLUMNS))}
    if not totals:
        return None
    cells = people.cells[:MAX_CELLS_LISTED] if len(people.cells) > 1 else []
    listed = tallies.filter(cell__number__in=[cell.number for cell in cells])
    by_cell = {tuple(row[:2]): row[2:] for row in listed.values_list("outcome", "cell__number", *SUM_COLUMNS)}
    meanings = {PAYOFF: _("Participants' mean payoff in the match."), **meanings_of(version.games[0])}
    ranges, dependent = ranges_of(version.games[0]), _depend_on_each_other(version)
    few = max(number for number, *_sums in totals.values()) < FEWEST_UNITS
    outcomes = []
    for name in sorted(totals, key=lambda name: [*meanings, name].index(name)):
        rows = [(cell.title, by_cell[name, cell.number]) for cell in cells if (name, cell.number) in by_cell]
        rows.append((_("all cells") if cells else _("all matches"), totals[name]))
        outcomes.append(
            Outcome(
                name.replace("_", " "),
                meanings.get(name, ""),
                _positioned(rows, ranges.get(name, (None, None)), intervals=not dependent),
            )
        )
    return Preview(outcomes, max(0, len(people.cells) - MAX_CELLS_LISTED), dependent, few)


def _depend_on_each_other(version: Version) -> bool:
    """Return whether people may play several matches, in one session or by coming back, or groups are of one cohort."""
    cohorts = any(isinstance(stage, Block) and stage.groups and stage.groups.cohort for stage in version.plan.journey)
    return cohorts or matches_of(version.plan.journey) != 1 or version.study.entry_rules().participations != 1


def _positioned(
    rows: Sequence[tuple[str, Sequence[Any]]], bounds: tuple[float | None, float | None], *, intervals: bool
) -> list[Estimate]:
    """Return the estimates with positions on a scale that fits all of them; shares use 0 to 1."""
    from analysis.toolbox import mean_from_sums
    from analysis.toolbox.dependence import FEWEST_UNITS

    is_share = all(number == truths for _label, (number, truths, *_sums) in rows)
    estimates = [
        mean_from_sums(number, total, squares, share=is_share, bounds=bounds)
        for _label, (number, _truths, total, squares) in rows
    ]
    if not intervals or rows[-1][1][0] < FEWEST_UNITS:
        estimates = [{**estimate, "low": None, "high": None} for estimate in estimates]
    ends = [estimate[key] for estimate in estimates for key in ("estimate", "low", "high")]
    known = [end for end in ends if end is not None]
    first, last = (0.0, 1.0) if is_share else (min(known), max(known))
    scale = (last - first) or 1.0

    def position_of(value: float) -> float:
        return round(100 * (value - first) / scale, 1)

    listed = []
    for (label, _sums), estimate in zip(rows, estimates, strict=True):
        value, low, high = estimate["estimate"], estimate["low"], estimate["high"]
        shown = Estimate(label, estimate["n"], _shown(value, is_share), position_of(value))
        if low is not None:
            interval = f"{_shown(low, is_share)} – {_shown(high, is_share)}"
            begin, end = position_of(low), position_of(high)
            shown = replace(shown, interval=interval, low=begin, width=round(end - begin, 1))
        listed.append(shown)
    return listed


def _shown(value: float, is_share: bool) -> str:
    if is_share:
        return f"{100 * value:.0f} %"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:#.3g}"
