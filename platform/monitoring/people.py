"""A study's participants: counts by state, cells against their quotas, arrivals over time.

Ended participants are counted from the tallies and others from the placements, in one statement each, so
that no one is missed or counted twice while the sweep moves them from one to the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from django.db.models import Count, F, Sum, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from monitoring.models import CellTally, TimeTally
from monitoring.tallies import TALLY_PERIOD, period_start
from participants.states import ENDED, State
from studies.models import Cell, Placement, Study, Version

MAX_CELLS_LISTED = 16


@dataclass(frozen=True)
class CellStatus:
    """One cell: participants completed, in progress and still needed; its quota is in participants.

    As in the dataset, a participant whose match was partly played by a replacement fills no place. Participants of
    earlier versions count in the cell with the same factors and resolved plan.
    """

    number: int
    title: str
    quota: int
    completed: int
    live: int

    @property
    def left(self) -> int:
        return max(0, self.quota - self.completed - self.live)

    @property
    def completed_percent(self) -> int:
        return min(100, round(100 * self.completed / self.quota))

    @property
    def live_percent(self) -> int:
        return min(100 - self.completed_percent, round(100 * self.live / self.quota))

    @property
    def shade(self) -> int:
        """How full the cell is with completed participants, in steps from 0 to 4."""
        return min(4, self.completed * 4 // self.quota)


@dataclass(frozen=True)
class People:
    """All participants ever placed, by state, and the cells of the newest version."""

    by_state: dict[State, int]
    version: int | None
    cells: list[CellStatus]

    @property
    def arrived(self) -> int:
        return sum(self.by_state.values())

    @property
    def live(self) -> int:
        return sum(number for state, number in self.by_state.items() if state not in ENDED)

    @property
    def completed(self) -> int:
        return self.by_state.get(State.COMPLETED, 0)

    @property
    def ended_otherwise(self) -> int:
        return self.arrived - self.live - self.completed

    @property
    def quota(self) -> int:
        return sum(cell.quota for cell in self.cells)

    @property
    def filled(self) -> int:
        """The number of completed participants in the newest version."""
        return sum(cell.completed for cell in self.cells)

    @property
    def left(self) -> int:
        return sum(cell.left for cell in self.cells)

    @property
    def emptiest(self) -> list[CellStatus]:
        """The cells to list: all of them, or the emptiest if there are many."""
        if len(self.cells) <= MAX_CELLS_LISTED:
            return self.cells
        return sorted(self.cells, key=lambda cell: (cell.completed / cell.quota, cell.number))[:MAX_CELLS_LISTED]


def people_of(study: Study) -> People:
    """Return the study's participants and cells now."""
    tallied = (
        CellTally.objects.filter(version__study=study)
        .values_list("version", "cell_number", "state")
        .annotate(n=Sum("number"), released=Sum("released"))
    )
    untallied = (
        Placement.objects.filter(tallied=False, version__study=study)
        .order_by()
        .values_list("version", Coalesce("cell__number", 0), "enrolment__state")
        .annotate(n=Count("pk"), released=Count("released_at"))
    )
    versions = list(Version.objects.filter(study=study).order_by("number").values_list("pk", "number", "sha256"))
    hashes = {pk: sha256 for pk, _number, sha256 in versions}
    by_state: Counter[State] = Counter()
    completed: Counter[str] = Counter()
    live: Counter[str] = Counter()
    for version, cell, state, number, released in tallied.union(untallied, all=True):
        by_state[State(state)] += number
        sha256 = _cells_of(version, hashes[version]).get(cell, ("", "", 0))[0]
        if state == State.COMPLETED:
            completed[sha256] += number - released  # a match with a replacement fills no place
        elif state not in ENDED:
            live[sha256] += number
    pk, newest, sha256 = versions[-1] if versions else (None, None, "")
    cells = [
        CellStatus(number, title, quota * size, completed[cell_hash], live[cell_hash])
        for number, quota in Cell.objects.filter(version=pk).order_by("number").values_list("number", "quota")
        for cell_hash, title, size in [_cells_of(pk, sha256)[number]]
    ]
    return People({state: by_state[state] for state in State}, newest, cells)


@lru_cache(maxsize=200)
def _cells_of(version: int, sha256: str) -> dict[int, tuple[str, str, int]]:
    """Return hash, title and group size by number of the cells of the version with this hash, which never change."""
    cells = Cell.objects.filter(version=version)
    return {cell.number: (cell.sha256, cell.title, cell.group_size) for cell in cells}


# ---- over time -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Window:
    """The period shown in a chart, and the length of its bars."""

    key: str
    length: timedelta
    bar: timedelta
    time_format: str


WINDOWS = {
    window.key: window
    for window in (
        Window("hours", timedelta(hours=3), timedelta(minutes=5), "H:i"),
        Window("day", timedelta(days=1), timedelta(minutes=40), "H:i"),
        Window("weeks", timedelta(days=21), timedelta(hours=12), "M j"),
    )
}


@dataclass(frozen=True)
class Bar:
    """Arrivals and completions in the period starting at `at`."""

    at: datetime
    arrived: int
    completed: int


def arrivals_of(study: Study, window: Window) -> Sequence[Bar]:
    """Return the study's arrivals and completions, oldest first, including empty periods."""
    now = timezone.now()
    end = period_start(now) + TALLY_PERIOD
    begin = end - window.length
    tallied = TimeTally.objects.filter(study=study, at__gte=begin).values_list("at", "arrived", "completed")
    untallied = Placement.objects.filter(tallied=False, version__study=study).order_by()
    arrivals = untallied.filter(enrolment__arrived_at__gte=begin)
    completions = untallied.filter(enrolment__ended_at__gte=begin, enrolment__state=State.COMPLETED)
    rows = tallied.union(
        arrivals.values_list(F("enrolment__arrived_at"), Value(1), Value(0)),
        completions.values_list(F("enrolment__ended_at"), Value(0), Value(1)),
        all=True,
    )
    number = round(window.length / window.bar)
    sums = [[0, 0] for _bar in range(number)]
    for at, arrived, completed in rows:
        index = min(number - 1, int((at - begin) / window.bar))
        sums[index][0] += arrived
        sums[index][1] += completed
    return [Bar(begin + index * window.bar, *pair) for index, pair in enumerate(sums)]


def shortest_window(study: Study) -> Window:
    """Return the shortest window in which someone arrived; the shortest of all if no one did."""
    windows = list(WINDOWS.values())
    return next((window for window in windows if any(bar.arrived for bar in arrivals_of(study, window))), windows[0])
