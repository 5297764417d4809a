"""Bars as plain SVG geometry, so that the page needs no script and no inline style."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from monitoring.clocks import BAR_LIMITS, Latency
from monitoring.people import Bar, CellStatus, Window

WIDTH, HEIGHT = 360, 130
LEFT, RIGHT, TOP, BOTTOM = 30, 6, 8, 20
CELLS_ACROSS, CELL_SIZE = 40, 9


@dataclass(frozen=True)
class Rect:
    """A bar and its tooltip."""

    x: float
    y: float
    width: float
    height: float
    series: int
    label: str


@dataclass(frozen=True)
class Bars:
    """The geometry of a bar chart; `label` is its text alternative."""

    rects: list[Rect]
    y_ticks: list[tuple[float, str]]
    x_ticks: list[tuple[float, str, str]]
    label: str
    width: int = WIDTH
    height: int = HEIGHT
    floor: int = HEIGHT - BOTTOM
    left: int = LEFT


def arrivals(bars: Sequence[Bar], window: Window) -> Bars:
    """Return a chart of arrivals, with narrower bars for completions in front."""
    top = _round_up(max((max(bar.arrived, bar.completed) for bar in bars), default=0))
    step = (WIDTH - LEFT - RIGHT) / len(bars)
    rects = []
    for index, bar in enumerate(bars):
        when = date_format(localtime(bar.at), window.time_format)
        label = _("{when}: {arrived} arrived, {completed} completed").format(
            when=when, arrived=bar.arrived, completed=bar.completed
        )
        for series, (number, share) in enumerate(((bar.arrived, 0.86), (bar.completed, 0.4))):
            if number:
                rects.append(_rect(LEFT + step * (index + (1 - share) / 2), step * share, number, top, series, label))
    marks = [0, len(bars) // 3, 2 * len(bars) // 3]
    return Bars(
        rects=rects,
        y_ticks=[(_height(value, top), f"{value:g}") for value in (0, top / 2, top)],
        x_ticks=[
            *(
                (LEFT + step * index, date_format(localtime(bars[index].at), window.time_format), "start")
                for index in marks
            ),
            (WIDTH - RIGHT, _("now"), "end"),
        ],
        label=_("Bar chart: {arrived} participants arrived and {completed} completed in this period.").format(
            arrived=sum(bar.arrived for bar in bars), completed=sum(bar.completed for bar in bars)
        ),
    )


def latencies(people: Latency, models: Latency) -> Bars:
    """Return a histogram of participants' and models' response times, as shares of each."""
    groups = len(BAR_LIMITS) + 1
    step = (WIDTH - LEFT - RIGHT) / groups
    series_pair = (people, models)
    top = max((max(latency.bars) / latency.number for latency in series_pair if latency.number), default=0) or 1
    top = min(1.0, math.ceil(top * 5) / 5)
    rects = []
    for series, (latency, players) in enumerate(((people, _("people")), (models, _("models")))):
        for index, number in enumerate(latency.bars):
            if number:
                x = LEFT + step * index + step * (0.08 + 0.42 * series)
                label = _("{who}, {between} s: {number} of {all}").format(
                    who=players, between=_between(index), number=number, all=latency.number
                )
                rects.append(_rect(x, step * 0.42, number / latency.number, top, series, label))
    return Bars(
        rects=rects,
        y_ticks=[(_height(top * share, top), f"{top * share:.0%}") for share in (0, 0.5, 1)],
        x_ticks=[(LEFT + step * (index + 1), f"{limit}", "middle") for index, limit in enumerate(BAR_LIMITS)],
        label=_("Bar chart of response times in seconds: {people} answers by participants, {models} by models.").format(
            people=people.number, models=models.number
        ),
    )


@dataclass(frozen=True)
class Square:
    """A cell in the map of all cells."""

    x: int
    y: int
    shade: int
    live: bool
    label: str


@dataclass(frozen=True)
class CellMap:
    """A map of all cells as squares, row by row."""

    squares: list[Square]
    width: int
    height: int


def cell_map(cells: Sequence[CellStatus]) -> CellMap:
    """Return a map with one square per cell; darker squares are fuller."""
    squares = [
        Square(
            x=index % CELLS_ACROSS * (CELL_SIZE + 1),
            y=index // CELLS_ACROSS * (CELL_SIZE + 1),
            shade=cell.shade,
            live=cell.live > 0,
            label=_("{number}. {title}: {completed} of {quota} completed, {live} in progress").format(
                number=cell.number, title=cell.title, completed=cell.completed, quota=cell.quota, live=cell.live
            ),
        )
        for index, cell in enumerate(cells)
    ]
    return CellMap(squares, CELLS_ACROSS * (CELL_SIZE + 1), math.ceil(len(cells) / CELLS_ACROSS) * (CELL_SIZE + 1))


def _between(index: int) -> str:
    if index == 0:
        return f"0–{BAR_LIMITS[0]}"
    return f"{BAR_LIMITS[index - 1]}–{BAR_LIMITS[index]}" if index < len(BAR_LIMITS) else f"> {BAR_LIMITS[-1]}"


def _rect(x: float, width: float, value: float, top: float, series: int, label: str) -> Rect:
    y = _height(value, top)
    return Rect(round(x, 1), y, round(width, 1), round(HEIGHT - BOTTOM - y, 1), series, label)


def _height(value: float, top: float) -> float:
    return round(HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM), 1)


def _round_up(number: int) -> int:
    """Return the next round number: 2, 4, 6, 8, 10, 20, 40 …"""
    if number <= 10:
        return max(2, number + number % 2)
    size = 10 ** (len(str(number)) - 1)
    return math.ceil(number / (2 * size)) * 2 * size if number > 2 * size else math.ceil(number / size) * size
