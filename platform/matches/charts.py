"""Small line charts as SVG geometry, so that pages need no script or inline style."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf

from games.interface import Chart
from games.words import localized, number, plain_points
from matches.picturing import SeatNames, mark_path_of

WIDTH, HEIGHT = 320, 120
LEFT, RIGHT, TOP, BOTTOM = 44, 8, 10, 24
FAR = 5
"""How many times the span of the usual values (and 0) a value lies above them if the axis leaves it out."""
ARROW_HEIGHT, LABEL_WIDTH = 14, 60
"""Room above the axis for values that it leaves out, and for the label of one; closer ones share a label."""


@dataclass(frozen=True)
class Line:
    """One series: SVG points, dots at the current x and its end, and its seat's classes and mark, if it has a seat."""

    name: str
    index: int
    style: str
    mark: str
    points: str
    dots: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Beyond:
    """A value beyond the axis: where its arrow stands above the chart, the line's index and classes, and the label.

    The label is empty where that of another arrow is too close.
    """

    x: float
    index: int
    style: str
    label: str
    label_x: float
    anchor: str


@dataclass(frozen=True)
class Drawing:
    """Everything that the chart's template draws."""

    width: int
    height: int
    top: int
    lines: tuple[Line, ...]
    y_ticks: tuple[tuple[float, str], ...]
    x_ticks: tuple[tuple[float, str], ...]
    mark: float | None
    floor: int
    beyond: tuple[Beyond, ...]
    rows: tuple[tuple[str, ...], ...]
    """The same numbers as a table: x, then y of each series."""


def draw(chart: Chart, names: SeatNames = ()) -> Drawing:
    """Return a chart's geometry in a box of WIDTH × HEIGHT; the y axis always includes 0."""
    xs = [x for series in chart.series for x, _y in series.points] or [0]
    x_low, x_high = min(xs), max(xs)
    lines_of_y = [[y for _x, y in series.points] for series in chart.series]
    y_low, y_high = _span(y for ys in lines_of_y for y in ys)
    limit = _usual_limit(lines_of_y) if chart.cuts_outliers else y_high
    is_cut = limit < y_high
    y_high = max(y_low, *(y for ys in lines_of_y for y in ys if y <= limit)) if is_cut else y_high
    if y_low == y_high:
        y_high = 1
    top = TOP + ARROW_HEIGHT * is_cut

    def place(x: float, y: float) -> tuple[float, float]:
        x_share = (x - x_low) / (x_high - x_low) if x_high > x_low else 0.5
        height = (min(y, y_high) - y_low) / (y_high - y_low) * (HEIGHT - top - BOTTOM)
        return (
            round(LEFT + x_share * (WIDTH - LEFT - RIGHT), 1),
            TOP if y > y_high else round(HEIGHT - BOTTOM - height, 1),
        )

    lines, far = [], []
    for index, series in enumerate(chart.series):
        style = dict(names).get(series.role or series.name, "")
        path = " ".join("{},{}".format(*place(x, y)) for x, y in series.points)
        marked = {(x, y) for x, y in series.points if x == chart.mark} | set(series.points[-1:])
        dots = tuple(place(x, y) for x, y in marked if y <= y_high)
        lines.append(Line(series.name, index, style, mark_path_of(style), path, dots))
        far += [(place(x, y)[0], index, style, y) for x, y in series.points if y > y_high]
    middle_x = sorted(set(xs))[len(set(xs)) // 2]
    return Drawing(
        width=WIDTH,
        height=HEIGHT,
        top=TOP,
        lines=tuple(lines),
        y_ticks=tuple((place(x_low, value)[1], _short_number(value)) for value in _ticks(y_low, y_high)),
        x_ticks=tuple((place(value, 0)[0], localized(f"{value:g}")) for value in sorted({x_low, middle_x, x_high})),
        floor=HEIGHT - BOTTOM,
        beyond=_arrows(far),
        rows=_rows(chart),
        mark=place(chart.mark, 0)[0] if chart.mark is not None and x_low <= chart.mark <= x_high else None,
    )


def _span(values: Iterable[float]) -> tuple[float, float]:
    """Return the smallest and the largest of the values and 0."""
    known = (0.0, *values)
    return min(known), max(known)


def _usual_limit(lines: Iterable[Sequence[float]]) -> float:
    """Return up to which value the axis goes at most: far above the middle half of every line."""
    usual = [y for ys in lines for y in sorted(ys)[(len(ys) + 1) // 4 : len(ys) - (len(ys) + 1) // 4]]
    low, high = _span(usual)
    return high + FAR * (high - low) if high > low else inf


def _arrows(far: Iterable[tuple[float, int, str, float]]) -> tuple[Beyond, ...]:
    """Return the arrows for (x, index of the line, its classes, value), from left to right."""
    arrows: list[Beyond] = []
    free_from = 0.0
    for x, index, style, value in sorted(far):
        label, label_x, anchor = "", x + ARROW_HEIGHT / 2, "start"
        if x >= free_from:
            label, free_from = number(value), x + LABEL_WIDTH
            if x > WIDTH - LABEL_WIDTH:
                label_x, anchor = x - ARROW_HEIGHT / 2, "end"
        arrows.append(Beyond(x, index, style, label, label_x, anchor))
    return tuple(arrows)


def _ticks(low: float, high: float) -> tuple[float, ...]:
    """Return the labelled values of the y axis: 0, its ends, and the middle if all values are on one side of 0."""
    if low == 0 or high == 0:
        return low, (low + high) / 2, high
    min_distance = (high - low) / 8  # closer labels would overlap
    return tuple(value for value in (low, 0.0, high) if value == 0 or abs(value) > min_distance)


def _rows(chart: Chart) -> tuple[tuple[str, ...], ...]:
    values = [dict(series.points) for series in chart.series]
    xs = sorted({x for points in values for x in points})
    return tuple(
        (localized(f"{x:g}"), *(plain_points(points[x]) if x in points else "" for points in values)) for x in xs
    )


def _short_number(value: float) -> str:
    """Return a short tick label: 2500000 → 2.5M."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return localized(f"{value / size:.3g}") + letter
    return localized(f"{value:.3g}")
