"""Small line charts as SVG geometry, so that pages need no script or inline style."""

from __future__ import annotations

from dataclasses import dataclass

from games.interface import Chart
from games.words import plain_points
from matches.picturing import SeatNames, mark_path_of

WIDTH, HEIGHT = 320, 120
LEFT, RIGHT, TOP, BOTTOM = 44, 8, 10, 24


@dataclass(frozen=True)
class Line:
    """One series: SVG points, dots, and the classes and mark of the seat that it belongs to, if any."""

    name: str
    index: int
    style: str
    mark: str
    points: str
    dots: tuple[tuple[float, float, bool], ...]


@dataclass(frozen=True)
class Drawing:
    """Everything that the chart's template draws."""

    width: int
    height: int
    lines: tuple[Line, ...]
    y_ticks: tuple[tuple[float, str], ...]
    x_ticks: tuple[tuple[float, str], ...]
    mark: float | None
    floor: int
    rows: tuple[tuple[str, ...], ...]
    """The same numbers as a table: x, then y of each series."""


def draw(chart: Chart, names: SeatNames = ()) -> Drawing:
    """Return a chart's geometry in a box of WIDTH × HEIGHT; the y axis always includes 0."""
    points = [point for series in chart.series for point in series.points]
    xs, ys = [x for x, _y in points] or [0], [y for _x, y in points] or [0]
    x_low, x_high = min(xs), max(xs)
    y_low, y_high = min(0, *ys), max(0, *ys)
    if y_low == y_high:
        y_high = 1

    def place(x: float, y: float) -> tuple[float, float]:
        x_share = (x - x_low) / (x_high - x_low) if x_high > x_low else 0.5
        return (
            round(LEFT + x_share * (WIDTH - LEFT - RIGHT), 1),
            round(HEIGHT - BOTTOM - (y - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM), 1),
        )

    lines = []
    for index, series in enumerate(chart.series):
        dots = [(*place(x, y), x == chart.mark) for x, y in series.points]
        style = dict(names).get(series.role or series.name, "")
        path = " ".join(f"{x},{y}" for x, y, _now in dots)
        lines.append(Line(series.name, index, style, mark_path_of(style), path, tuple(dots)))
    middle_x = sorted(set(xs))[len(set(xs)) // 2]
    return Drawing(
        width=WIDTH,
        height=HEIGHT,
        lines=tuple(lines),
        y_ticks=tuple((place(x_low, value)[1], _short_number(value)) for value in _ticks(y_low, y_high)),
        x_ticks=tuple((place(value, 0)[0], f"{value:g}") for value in sorted({x_low, middle_x, x_high})),
        floor=HEIGHT - BOTTOM,
        rows=_rows(chart),
        mark=place(chart.mark, 0)[0] if chart.mark is not None and x_low <= chart.mark <= x_high else None,
    )


def _ticks(low: float, high: float) -> tuple[float, ...]:
    """Return the labelled values of the y axis: 0, its ends, and the middle if all values are on one side of 0."""
    if low == 0 or high == 0:
        return low, (low + high) / 2, high
    min_distance = (high - low) / 8  # closer labels would overlap
    return tuple(value for value in (low, 0.0, high) if value == 0 or abs(value) > min_distance)


def _rows(chart: Chart) -> tuple[tuple[str, ...], ...]:
    values = [dict(series.points) for series in chart.series]
    xs = sorted({x for points in values for x in points})
    return tuple((f"{x:g}", *(plain_points(points[x]) if x in points else "" for points in values)) for x in xs)


def _short_number(value: float) -> str:
    """Return a short tick label: 2500000 → 2.5M."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"
