"""Figures: Vega-Lite charts in one style, drawn without a browser, each with an alt text.

Chart functions take rows (mappings) and the keys to show, and return a `Figure`. Categories have the colours and marks
of seats (`tokens`), or differ in dash. `players` (the dataset's, in order) gives each player the same colour
throughout a report.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from html import escape
from math import ceil
from typing import TYPE_CHECKING, Any, ParamSpec

from analysis.results import Figure, Table
from analysis.toolbox.numbers import finite
from games import tokens

if TYPE_CHECKING:
    import altair as alt

P = ParamSpec("P")
Row = Mapping[str, Any]
COLOURS = tuple(tokens.colour(f"seat-{number}") for number in range(1, tokens.SEATS + 1))
SHAPES = tuple(tokens.mark_path(number) for number in range(1, tokens.SEATS + 1))
DASHES = ([1, 0], [7, 3], [2, 2], [9, 2, 2, 2], [4, 4], [12, 3], [1, 4], [9, 2, 2, 2, 2, 2])
MAX_SERIES = len(COLOURS)
WIDTH, WIDE = 460, 620
LONG_LABEL, LABEL_LIMIT = 34, 420
"""Characters of a category's name above which panels are stacked, and pixels after which the name is cut off."""
STEP = 22
INK, QUIET, GRID, CARD = (tokens.colour(name) for name in ("ink", "muted", "line", "card"))
ACCENT, SECOND = tokens.colour("accent"), tokens.colour("second")
"""What is drawn without categories, and what stands out from it."""
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
ROUNDING_ERROR = 1e-9
"""Differences this small are rounding errors and are drawn as zero."""
MAX_POINTS = 2000
"""Maximum number of points in a scatter plot; more are thinned out evenly, as the alt text then says."""

_TAG = re.compile(r'<[a-z](?:"[^"]*"|[^">])*>')
_ROLES = re.compile(r'\s(?:role|aria-[a-z]+)="[^"]*"')


def unvalidated(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Skip Altair's validation of charts against the schema, which takes half the time of drawing.

    The tests validate the specifications.
    """

    @wraps(draw)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> Figure:
        from altair.utils.schemapi import debug_mode

        with debug_mode(False):
            return draw(*args, **kwargs)

    return wrapper


# ---- dots with intervals ---------------------------------------------------------------------------------


@unvalidated
def dots(
    name: str,
    title: str,
    rows: Sequence[Row],
    *,
    y: str,
    x: str = "estimate",
    low: str = "low",
    high: str = "high",
    colour: str = "",
    facet: str = "",
    x_title: str = "",
    y_title: str = "",
    x_format: str = "",
    line: float | None = None,
    players: Sequence[str] = (),
    columns: int = 2,
    same_scale: bool = False,
    zero: bool = False,
) -> Figure:
    """Draw a dot with its interval for each row, with categories from top to bottom in the order of the rows.

    Args:
        colour: key that distinguishes several dots in a category.
        facet: key that distinguishes panels; each has its own scale unless `same_scale`.
        line: position of the line for "no difference".
        zero: whether the axis starts at zero.
    """
    import altair as alt

    rows = _padded(_with_value(rows, x), (x, low, high), facet)
    labels = _distinct(rows, y)
    series = _distinct(rows, colour) if colour else []
    panels = _distinct(rows, facet) if facet else []
    shared_labels = _same_categories(rows, y, facet, labels)
    height = alt.Step(STEP) if not series else alt.Step(14, **{"for": "offset"})
    base = alt.Chart().encode(y=alt.Y(_key(y), type="nominal", sort=labels, title=y_title or None))
    if series:
        base = base.encode(
            yOffset=alt.YOffset(_key(colour), type="nominal", sort=series), color=_colour(colour, series, players)
        )
    scale = alt.Scale(zero=zero, nice=True)
    axis = alt.Axis(format=x_format) if x_format else alt.Axis()
    layers: list[Any] = [] if line is None else [_rule(x=line)]
    if any("pad_low" in row for row in rows):
        layers.append(_invisible_padding(base, "x", scale))
    if any(row.get(low) is not None for row in rows):
        layers.append(base.mark_rule(strokeWidth=2).encode(
            x=alt.X(_key(low), type="quantitative", scale=scale, axis=axis, title=x_title), x2=alt.X2(_key(high))
        ))  # fmt: skip
    point = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X(_key(x), type="quantitative", scale=scale, axis=axis, title=x_title)
    )
    layers.append(point.encode(shape=_shape(colour, series, players)) if series else point)
    chart = alt.layer(*layers)
    description = _alt_text(
        "Dots with intervals", rows, x, x_title or x, [y, colour, facet], [y_title or y, colour, facet]
    )
    columns = columns if shared_labels else _columns(columns, labels)
    return _figure(name, title, chart, rows, description, facet, panels, columns,
                     height=height, same_scale=same_scale, same_labels=shared_labels)  # fmt: skip


# ---- lines ---------------------------------------------------------------------------------------------------


@unvalidated
def lines(
    name: str,
    title: str,
    rows: Sequence[Row],
    *,
    x: str,
    y: str = "estimate",
    low: str = "low",
    high: str = "high",
    colour: str = "",
    facet: str = "",
    x_title: str = "",
    y_title: str = "",
    y_format: str = "",
    step: bool = False,
    log_x: bool = False,
    points: bool = True,
    players: Sequence[str] = (),
    columns: int = 2,
    y_domain: tuple[float, float] | None = None,
    line: float | None = None,
    same_x: bool = True,
) -> Figure:
    """Draw lines, with a band where rows have `low` and `high`; more series than colours become panels."""
    import altair as alt

    rows = _with_value(rows, y) if y_domain else _padded(_with_value(rows, y), (y, low, high), facet)
    series = _distinct(rows, colour) if colour else []
    if len(series) > MAX_SERIES and not facet:
        facet, colour, series = colour, "", []
    panels = _distinct(rows, facet) if facet else []
    all_integers = all(float(row[x]).is_integer() for row in rows if finite(row.get(x)) is not None)
    distinct_x = {float(row[x]) for row in rows if finite(row.get(x)) is not None}
    integer_ticks = all_integers and bool(distinct_x) and max(distinct_x) - min(distinct_x) <= 12 and not log_x
    x_axis = alt.X(
        _key(x), type="quantitative", title=x_title,
        scale=alt.Scale(type="log" if log_x else "linear", zero=False, nice=False, padding=8),
        axis=alt.Axis(format="d", values=sorted(distinct_x)) if integer_ticks else alt.Axis(),
    )  # fmt: skip
    scale = alt.Scale(domain=list(y_domain)) if y_domain else alt.Scale(zero=False)
    axis = alt.Axis(format=y_format) if y_format else alt.Axis()
    interpolate: Any = "step-after" if step else "linear"
    base = alt.Chart().encode(x=x_axis)
    if series:
        base = base.encode(color=_colour(colour, series, players))
    layers: list[Any] = [] if line is None else [_rule(y=line)]
    if any("pad_low" in row for row in rows):
        layers.append(_invisible_padding(alt.Chart().encode(x=x_axis), "y", scale))
    if any(row.get(low) is not None for row in rows):
        band = alt.Chart().encode(x=x_axis)
        if series:
            band = band.encode(color=_colour(colour, series, players))
        layers.append(
            band.mark_area(opacity=0.18, interpolate=interpolate).encode(
                y=alt.Y(_key(low), type="quantitative", title=y_title, scale=scale, axis=axis), y2=alt.Y2(_key(high))
            )
        )
    height = alt.Y(_key(y), type="quantitative", title=y_title, scale=scale, axis=axis)
    drawn_line = base.mark_line(strokeWidth=2.2, interpolate=interpolate).encode(y=height)
    layers.append(drawn_line.encode(strokeDash=_dash(colour, series, players)) if series else drawn_line)
    if points and len(rows) <= 40 * max(1, len(series)) * max(1, len(panels)):
        point = base.mark_point(filled=True, size=45, opacity=1).encode(y=height)
        layers.append(point.encode(shape=_shape(colour, series, players)) if series else point)
    chart = alt.layer(*layers)
    description = _alt_text("Lines", rows, y, y_title or y, [x, colour, facet], [x_title or x, colour, facet])
    return _figure(name, title, chart, rows, description, facet, panels, columns, height=240, same_scale=same_x)


# ---- bars --------------------------------------------------------------------------------------------------------


@unvalidated
def bars(
    name: str,
    title: str,
    rows: Sequence[Row],
    *,
    y: str,
    x: str = "estimate",
    low: str = "low",
    high: str = "high",
    colour: str = "",
    facet: str = "",
    stacked: bool = False,
    order: Sequence[str] = (),
    x_title: str = "",
    y_title: str = "",
    x_format: str = "",
    line: float | None = None,
    players: Sequence[str] = (),
    columns: int = 2,
) -> Figure:
    """Draw horizontal bars from zero, side by side or `stacked` by colour, in the order of the rows.

    Args:
        order: the order of the parts of stacked bars; by default, the order in which they occur.
    """
    import altair as alt

    rows = _with_value(rows, x)
    labels, panels = _distinct(rows, y), _distinct(rows, facet) if facet else []
    columns = _columns(columns, labels)
    series = list(order) or (_distinct(rows, colour) if colour else [])
    position = {label: index for index, label in enumerate(series)}
    rows = [{**row, "order": position.get(str(row.get(colour)), 0)} for row in rows] if stacked else rows
    grouped = bool(series) and not stacked
    axis = alt.Axis(format=x_format) if x_format else alt.Axis()
    base = alt.Chart().encode(y=alt.Y(_key(y), type="nominal", sort=labels, title=y_title or None))
    if grouped:
        base = base.encode(yOffset=alt.YOffset(_key(colour), type="nominal", sort=series))
    any_nonzero = any(float(row[x]) for row in rows)
    scale = alt.Scale() if any_nonzero else alt.Scale(domain=[0, 1])
    length = alt.X(
        _key(x), type="quantitative", title=x_title, axis=axis, scale=scale, stack="zero" if stacked else None
    )
    bar = base.mark_bar(stroke=CARD if stacked else None).encode(x=length)
    bar = bar.encode(color=_colour(colour, series, players)) if series else bar.encode(color=alt.value(ACCENT))
    if stacked:
        bar = bar.encode(order=alt.Order("order:Q"))
    layers: list[Any] = [bar]
    if not stacked:  # makes bars of length zero visible
        end_tick = base.mark_tick(thickness=2, height=alt.RelativeBandSize(0.8)).encode(x=length)
        layers.append(end_tick.encode(color=_colour(colour, series, players)) if series else end_tick)
    if not stacked and any(row.get(low) is not None for row in rows):
        layers.append(
            base.mark_rule(strokeWidth=1.6, color=INK).encode(
                x=alt.X(_key(low), type="quantitative", title=x_title, axis=axis), x2=alt.X2(_key(high))
            )
        )
    if line is not None:
        layers.append(_rule(x=line, colour=INK))
    description = _alt_text("Stacked bars" if stacked else "Bars", rows, x, x_title or x, [y, colour, facet],
                   [y_title or y, colour, facet])  # fmt: skip
    height = alt.Step(14, **{"for": "offset"}) if grouped else alt.Step(STEP)
    return _figure(name, title, alt.layer(*layers), rows, description, facet, panels, columns, height=height,
                     same_scale=True)  # fmt: skip


# ---- distributions ------------------------------------------------------------------------------------------------


@unvalidated
def histogram(
    name: str,
    title: str,
    values: Iterable[Any],
    *,
    x_title: str,
    y_title: str = "Matches",
    bins: int = 20,
    marks: Mapping[str, float] | None = None,
) -> Figure:
    """Draw a histogram with bins of equal width.

    Args:
        marks: labelled lines, such as an announced average.
    """
    import altair as alt
    import numpy as np

    numbers = np.asarray([value for value in map(finite, values) if value is not None], dtype=float)
    counts, edges = np.histogram(numbers, bins=bins if numbers.size and numbers.min() < numbers.max() else 1)
    rows = [
        {"from": float(low), "to": float(high), "count": int(number)}
        for low, high, number in zip(edges[:-1], edges[1:], counts, strict=True)
    ]
    bar = alt.Chart().mark_bar(color=ACCENT, stroke=CARD).encode(
        x=alt.X("from:Q", title=x_title, scale=alt.Scale(zero=False, nice=False)), x2=alt.X2("to"),
        y=alt.Y("count:Q", title=y_title), y2=alt.Y2Datum(0),
    )  # fmt: skip
    layers: list[Any] = [bar]
    layers += _labelled_lines(marks, colour=SECOND)
    description = f"Histogram of {numbers.size:,} values; {x_title}"
    if numbers.size:
        low, middle, high = (_short_number(value) for value in (numbers.min(), np.median(numbers), numbers.max()))
        description += f" from {low} to {high}, median {middle}"
    description += "".join(f"; {label} at {_short_number(mark)}" for label, mark in (marks or {}).items()) + "."
    return _figure(name, title, alt.layer(*layers), rows, description, "", [], 1, height=240, width=WIDE)


@unvalidated
def boxes(
    name: str,
    title: str,
    rows: Sequence[Row],
    *,
    y: str,
    facet: str = "",
    x_title: str = "",
    y_title: str = "",
    players: Sequence[str] = (),
    columns: int = 2,
) -> Figure:
    """Draw box plots from low, q1, median, q3 and high, with whiskers at the 10th and 90th percentiles."""
    import altair as alt

    rows = _with_value(rows, "median")
    labels, panels = _distinct(rows, y), _distinct(rows, facet) if facet else []
    columns = _columns(columns, labels)
    base = alt.Chart().encode(y=alt.Y(_key(y), type="nominal", sort=labels, title=y_title or None))

    def across(key: str) -> Any:
        return alt.X(_key(key), type="quantitative", title=x_title, scale=alt.Scale(zero=True))

    series = labels if set(labels) <= set(players) else []
    fill = _colour(y, series, players, legend=False) if series else alt.value(ACCENT)
    layers = [
        base.mark_rule(color=INK, strokeWidth=1.4).encode(x=across("low"), x2=alt.X2("high")),
        base.mark_bar(size=13, opacity=0.75).encode(x=across("q1"), x2=alt.X2("q3"), color=fill),
        base.mark_tick(color=INK, thickness=2.4, size=15).encode(x=across("median")),
    ]
    description = _alt_text("Box plots (10, 25, 50, 75 and 90 %)", rows, "median", f"median {x_title}", [y, facet],
                   [y_title or y, facet])  # fmt: skip
    return _figure(name, title, alt.layer(*layers), rows, description, facet, panels, columns, height=alt.Step(STEP))


@unvalidated
def strip_plot(
    name: str,
    title: str,
    rows: Sequence[Row],
    *,
    y: str,
    x: str = "value",
    facet: str = "",
    x_title: str = "",
    y_title: str = "",
    x_domain: tuple[float, float] | None = None,
    marks: Mapping[str, float] | None = None,
    columns: int = 2,
) -> Figure:
    """Draw a ring for every value, and a bar at the mean of each category.

    Args:
        x_domain: range of the axis; values outside it are drawn at its edge.
        marks: labelled lines, such as a reference.
    """
    import altair as alt

    rows = _with_value(rows, x) if x_domain else _padded(_with_value(rows, x), (x,), facet)
    labels, panels = _distinct(rows, y), _distinct(rows, facet) if facet else []
    columns = _columns(columns, labels)
    base = alt.Chart().encode(y=alt.Y(_key(y), type="nominal", sort=labels, title=y_title or None))
    scale = alt.Scale(domain=list(x_domain), clamp=True) if x_domain else alt.Scale(zero=False)
    x_axis = alt.X(_key(x), type="quantitative", title=x_title, scale=scale)
    mean = alt.X(_key(x), type="quantitative", aggregate="mean", title=x_title)
    layers: list[Any] = _labelled_lines(marks)
    if any("pad_low" in row for row in rows):
        layers.append(_invisible_padding(base, "x", scale))
    layers.append(base.mark_point(size=60, strokeWidth=1.6, opacity=0.75, color=ACCENT).encode(x=x_axis))
    layers.append(base.mark_tick(thickness=3, size=20, color=SECOND).encode(x=mean))
    description = _alt_text("Strip plot with means", rows, x, x_title or x, [y, facet], [y_title or y, facet])
    description = (
        description[:-1] + "".join(f"; {label} at {_short_number(mark)}" for label, mark in (marks or {}).items()) + "."
    )
    return _figure(name, title, alt.layer(*layers), rows, description, facet, panels, columns, height=alt.Step(28),
                     same_scale=x_domain is not None)  # fmt: skip


def _labelled_lines(marks: Mapping[str, float] | None, colour: str = QUIET) -> list[Any]:
    """Return vertical lines with their labels above the chart, each label on its own line."""
    import altair as alt

    layers: list[Any] = []
    for index, (label, value) in enumerate((marks or {}).items()):
        labels = _single_row().mark_text(dy=-4 - 14 * index, baseline="bottom", fontSize=12, color=colour)
        layers += [_rule(x=value, colour=colour), labels.encode(
            x=alt.datum(value, type="quantitative"), y=alt.value(0), text=alt.value(label))]  # fmt: skip
    return layers


def _single_row() -> Any:
    """Return a chart with one row, for a layer that is drawn once and not for every row of the chart's data."""
    import altair as alt

    return alt.Chart(alt.Data(values=[{}]))


def _rule(*, x: float | None = None, y: float | None = None, colour: str = QUIET) -> Any:
    """Return a dashed line across the chart."""
    import altair as alt

    position = {"x": alt.datum(x, type="quantitative")} if x is not None else {"y": alt.datum(y, type="quantitative")}
    return _single_row().mark_rule(color=colour, strokeDash=[5, 3]).encode(**position)


def _padded(rows: list[dict[str, Any]], keys: Sequence[str], facet: str) -> list[dict[str, Any]]:
    """Add bounds around the value of panels that have only one, because an axis without extent has wrong ticks."""
    values: dict[str, set[float]] = {}
    for row in rows:
        panel_values = values.setdefault(str(row.get(facet)), set())
        panel_values |= {value for key in keys if (value := _json_value(finite(row.get(key)))) is not None}
    for row in rows:
        panel_values = values[str(row.get(facet))]
        if max(panel_values) - min(panel_values) <= ROUNDING_ERROR:
            margin = abs(max(panel_values)) / 10 or 1.0
            row |= {"pad_low": max(panel_values) - margin, "pad_high": max(panel_values) + margin}
    return rows


def _invisible_padding(base: Any, axis: str, scale: Any) -> Any:
    """Return an invisible layer that widens the axes of `_padded` panels."""
    import altair as alt

    low = (alt.X if axis == "x" else alt.Y)("pad_low:Q", scale=scale)
    high = (alt.X2 if axis == "x" else alt.Y2)("pad_high")
    return base.mark_rule(opacity=0).encode(**{axis: low, f"{axis}2": high})


@unvalidated
def violins(
    name: str,
    title: str,
    rows: Sequence[Row],
    *,
    y: str,
    x: str = "value",
    facet: str = "",
    x_title: str = "",
    columns: int = 2,
) -> Figure:
    """Draw kernel densities (Gaussian, Scott's bandwidth) with box and median; a line if values do not vary."""
    import altair as alt
    import numpy as np
    from scipy.stats import gaussian_kde

    rows = _with_value(rows, x)
    labels, panels = _distinct(rows, y), _distinct(rows, facet) if facet else []
    shapes: list[dict[str, Any]] = []
    for panel in panels or [""]:
        for index, category in enumerate(labels):
            group = [r for r in rows if str(r.get(y)) == category and (not facet or str(r.get(facet)) == panel)]
            values = np.asarray([float(r[x]) for r in group])
            if not len(values):
                continue
            violin = {"panel": panel, "who": category, "at": index}
            q1, median, q3 = (float(q) for q in np.quantile(values, [0.25, 0.5, 0.75]))
            low, high = (float(q) for q in np.quantile(values, [0.1, 0.9]))
            shapes.append({**violin, "part": "box", "x": median, "q1": q1, "q3": q3, "low": low, "high": high,
                           "top": index - 0.09, "bottom": index + 0.09})  # fmt: skip
            if len(values) > 2 and float(np.ptp(values)) > 1e-12:
                grid = np.linspace(values.min(), values.max(), 60)
                density = gaussian_kde(values)(grid)
                for x_value, height in zip(grid, 0.42 * density / density.max(), strict=True):
                    shapes.append({**violin, "part": "density", "x": float(x_value), "top": index - float(height),
                                   "bottom": index + float(height)})  # fmt: skip
    label_expression = f"{json.dumps(labels)}[datum.value]"
    axis = alt.Axis(values=list(range(len(labels))), labelExpr=label_expression, grid=False)
    height = alt.Y("top:Q", title=None, axis=axis, scale=alt.Scale(domain=[len(labels) - 0.5, -0.5], nice=False))
    x_axis = alt.X("x:Q", title=x_title, scale=alt.Scale(zero=False))
    densities = alt.Chart().transform_filter("datum.part == 'density'").mark_area(
        opacity=0.35, color=ACCENT).encode(x=x_axis, y=height, y2="bottom:Q", detail="who:N")  # fmt: skip
    boxes = alt.Chart().transform_filter("datum.part == 'box'")
    centre = alt.Y("at:Q", axis=axis, title=None)
    layers = [
        densities,
        boxes.mark_rule(color=INK).encode(x=alt.X("low:Q", title=x_title), x2="high:Q", y=centre),
        boxes.mark_rect(color=ACCENT, stroke=INK).encode(
            x=alt.X("q1:Q", title=x_title), x2="q3:Q", y=height, y2="bottom:Q"),
        boxes.mark_point(filled=True, size=60, color=CARD, stroke=INK, opacity=1).encode(x=x_axis, y=centre),
    ]  # fmt: skip
    description = _alt_text("Violins with boxes", rows, x, x_title or x, [y, facet], [y, facet])
    return _figure(name, title, alt.layer(*layers), shapes, description, "panel" if facet else "", panels, columns,
                     height=44 * max(1, len(labels)))  # fmt: skip


@unvalidated
def scatter(
    name: str,
    title: str,
    rows: Sequence[Row],
    *,
    x: str,
    y: str,
    colour: str = "",
    facet: str = "",
    size: str = "",
    label: str = "",
    x_title: str = "",
    y_title: str = "",
    players: Sequence[str] = (),
    columns: int = 2,
    lines: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    size_title: str = "",
) -> Figure:
    """Draw a scatter plot, thinned out evenly beyond 2,000 points.

    Args:
        size: key of the points' area.
        label: key of the text next to the points.
        lines: dashed lines by name, each given by its corners.
    """
    import altair as alt

    points = [row for row in _with_value(rows, y) if finite(row.get(x)) is not None]
    interval = ceil(len(points) / MAX_POINTS) if points else 1
    drawn = points[::interval]
    series, panels = _distinct(points, colour) if colour else [], _distinct(points, facet) if facet else []
    point = alt.Chart().mark_point(filled=True, size=55, opacity=0.65 if not label else 1).encode(
        x=alt.X(_key(x), type="quantitative", title=x_title, scale=alt.Scale(zero=False)),
        y=alt.Y(_key(y), type="quantitative", title=y_title, scale=alt.Scale(zero=False)),
    )  # fmt: skip
    if series:
        point = point.encode(color=_colour(colour, series, players), shape=_shape(colour, series, players))
    if size:
        point = point.encode(size=alt.Size(_key(size), type="quantitative", title=size_title or size))
    layers: list[Any] = []
    for line_name, corners in (lines or {}).items():
        path = alt.Data(
            values=[{"x": a, "y": b, "at": index, "line": line_name} for index, (a, b) in enumerate(corners)]
        )
        layers.append(alt.Chart(path).mark_line(color=QUIET, strokeDash=[5, 3], strokeWidth=1.4).encode(
            x=alt.X("x:Q", title=x_title), y=alt.Y("y:Q", title=y_title), order="at:Q"))  # fmt: skip
    layers.append(point)
    if label:
        layers.append(alt.Chart().mark_text(align="left", dx=7, fontSize=11, color=INK).encode(
            x=alt.X(_key(x), type="quantitative"), y=alt.Y(_key(y), type="quantitative"), text=_key(label) + ":N"
        ))  # fmt: skip
    description = _alt_text("Scatter plot", points, y, y_title or y, [colour, facet], [colour, facet])
    thinning = f"; every {interval}th point is drawn" if interval > 1 else ""
    description = f"{description[:-1]}, over {x_title or x}{thinning}."
    return _figure(name, title, alt.layer(*layers), drawn, description, facet, panels, columns, height=260)


# ---- heat maps -----------------------------------------------------------------------------------------------------


@unvalidated
def heat_map(
    name: str,
    title: str,
    rows: Sequence[Row],
    *,
    x: str,
    y: str,
    value: str = "estimate",
    facet: str = "",
    centre: float | None = None,
    x_title: str = "",
    y_title: str = "",
    value_title: str = "",
    value_format: str = ".2f",
    columns: int = 2,
    x_order: Sequence[str] = (),
    y_order: Sequence[str] = (),
) -> Figure:
    """Draw a heat map with the value printed in each cell.

    Args:
        centre: middle of a scale from blue to orange; without it, the scale is viridis.
    """
    import altair as alt

    rows = _with_value(rows, value)
    x_labels, y_labels = list(x_order) or _distinct(rows, x), list(y_order) or _distinct(rows, y)
    panels = _distinct(rows, facet) if facet else []
    values = [float(row[value]) for row in rows] or [0.0]
    if centre is None:
        low, high = min(values), max(values)
        scale = alt.Scale(scheme="viridis", domain=[low, high if high > low else low + 1])
        with_white_text = [v for v in values if v < low + 0.55 * (high - low)]
        threshold = max(with_white_text) if with_white_text else low - 1
        ink = alt.condition(f"datum['{value}'] <= {threshold!r}", alt.value("white"), alt.value("black"))
    else:
        farthest = max(abs(v - centre) for v in values)
        margin = farthest if farthest > ROUNDING_ERROR else 1.0
        scale = alt.Scale(
            domain=[centre - margin, centre, centre + margin],
            range=[COLOURS[1], tokens.colour("paper"), COLOURS[0]],
            interpolate="lab",
        )
        ink = alt.condition(f"datum['{value}'] < {centre - 0.6 * margin!r}", alt.value("white"), alt.value("black"))
    base = alt.Chart().encode(
        x=alt.X(
            _key(x),
            type="nominal",
            sort=x_labels,
            title=x_title or None,
            axis=alt.Axis(labelAngle=-40, orient="bottom"),
        ),
        y=alt.Y(_key(y), type="nominal", sort=y_labels, title=y_title or None),
    )
    cell = base.mark_rect(stroke=CARD).encode(
        color=alt.Color(_key(value), type="quantitative", scale=scale, title=value_title or value,
                        legend=alt.Legend(orient="right", gradientLength=160, format=value_format))
    )  # fmt: skip
    printed_values = base.mark_text(fontSize=11).encode(
        text=alt.Text(_key(value), type="quantitative", format=value_format), color=ink
    )
    description = _alt_text(
        "Heat map", rows, value, value_title or value, [y, x, facet], [y_title or y, x_title or x, facet]
    )
    return _figure(name, title, alt.layer(cell, printed_values), rows, description, facet, panels, columns,
                     height=alt.Step(26), width=alt.Step(46))  # fmt: skip


# ---- shared style --------------------------------------------------------------------------------------


def _figure(
    name: str,
    title: str,
    chart: alt.LayerChart,
    rows: Sequence[Row],
    description: str,
    facet: str,
    panels: Sequence[str],
    columns: int,
    *,
    height: Any,
    width: Any = None,
    same_scale: bool = False,
    same_labels: bool = False,
) -> Figure:
    """Return the figure with its data, panels and style; with `same_labels`, panels in the same row share labels."""
    import altair as alt

    values = [{key: _json_value(value) for key, value in row.items()} for row in rows]
    data = alt.NamedData("rows")
    columns = min(columns, len(panels)) if panels else 1
    chart = chart.properties(width=width or (WIDTH if columns <= 1 else 280), height=height)
    if facet:
        header = alt.Header(title=None, labelFontWeight="bold", labelFontSize=13, labelColor=INK, labelLimit=300)
        panels_chart: Any = chart.facet(
            facet=alt.Facet(_key(facet), type="nominal", sort=list(panels), header=header), columns=columns, data=data
        )
        y_resolution = "shared" if same_labels else "independent"
        panels_chart = panels_chart.resolve_scale(x="shared" if same_scale else "independent", y=y_resolution)
        panels_chart = panels_chart.resolve_axis(x="independent", y=y_resolution)
    else:
        panels_chart = chart.properties(data=data)
    return figure_from_chart(name, title, panels_chart, alt_text=f"{title}. {description}", values=values)


def figure_from_chart(
    name: str, title: str, chart: Any, *, alt_text: str, values: Sequence[Row] | None = None
) -> Figure:
    """Return a figure of the chart in the style of all charts.

    Args:
        alt_text: the kind of chart, axes, groups, n and extremes.
        values: the data, if the chart only refers to them by name; Altair would copy data inside a chart many times.
    """
    chart = chart.configure(background=CARD, font=FONT, padding={"left": 26, "right": 14, "top": 8, "bottom": 8})
    chart = chart.configure_view(stroke=None).configure_mark(color=ACCENT).configure_axis(
        labelFontSize=12, titleFontSize=13, labelColor=INK, titleColor=INK, titleFontWeight="normal", gridColor=GRID,
        domainColor=QUIET, tickColor=QUIET, labelLimit=LABEL_LIMIT, titlePadding=10,
    )  # fmt: skip
    chart = chart.configure_legend(
        labelFontSize=12, titleFontSize=12, titleFontWeight="normal", labelColor=INK, titleColor=INK, labelLimit=260,
        orient="bottom", columns=3, symbolSize=90, symbolStrokeWidth=2,
    )  # fmt: skip
    chart = chart.configure_axisQuantitative(labelOverlap="greedy", labelSeparation=8, tickCount=6)
    spec = chart.to_dict(validate=False)
    if values is not None:
        spec["data"] = {"values": list(values)}
    return Figure(name, title, spec, alt_text)


def rendered_svg(figure: Figure) -> str:
    """Return the figure as SVG with one role, title and description instead of the renderer's role for every mark."""
    import vl_convert

    plain_svg = _TAG.sub(lambda tag: _ROLES.sub("", tag[0]), vl_convert.vegalite_to_svg(dict(figure.spec)))
    head, rest = plain_svg.split(">", 1)
    tagged = f'{head} role="img"><title>{escape(figure.title)}</title><desc>{escape(figure.alt)}</desc>'
    return tagged + rest


def png(svg: str) -> bytes:
    """Return an SVG as a PNG of twice the size."""
    import vl_convert

    image: bytes = vl_convert.svg_to_png(svg, scale=2)
    return image


def level(factor: str, value: str) -> str:
    """Return a level with its factor, such as "Rounds: 12", unless it contains the factor's name, such as "cell 3"."""
    return value if not factor or value.startswith(factor.lower()) else f"{factor}: {value}"


def label(column: str) -> str:
    """Return a readable form of a column's name, such as "Payoffs alice" for "payoffs_alice"."""
    words = column.removeprefix("config_").removeprefix("move_").replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def _colour(key: str, series: Sequence[str], players: Sequence[str], *, legend: bool = True) -> Any:
    import altair as alt

    colours = [COLOURS[index % len(COLOURS)] for index in _style_indices(series, players)]
    return alt.Color(
        _key(key), type="nominal", sort=list(series), title=None, scale=alt.Scale(domain=list(series), range=colours),
        legend=alt.Legend(symbolOpacity=1) if legend else None,
    )  # fmt: skip


def _shape(key: str, series: Sequence[str], players: Sequence[str]) -> Any:
    import altair as alt

    shapes = [SHAPES[(index + index // len(COLOURS)) % len(SHAPES)] for index in _style_indices(series, players)]
    return alt.Shape(
        _key(key), type="nominal", sort=list(series), title=None, scale=alt.Scale(domain=list(series), range=shapes)
    )


def _dash(key: str, series: Sequence[str], players: Sequence[str]) -> Any:
    import altair as alt

    dashes = [DASHES[(index + index // len(COLOURS)) % len(DASHES)] for index in _style_indices(series, players)]
    return alt.StrokeDash(
        _key(key), type="nominal", sort=list(series), title=None, scale=alt.Scale(domain=list(series), range=dashes)
    )


def _same_categories(rows: Sequence[Row], y: str, facet: str, labels: Sequence[str]) -> bool:
    """Return whether every panel has every category."""
    panels = set(_distinct(rows, facet)) if facet else {""}
    return len({(str(row.get(facet)), str(row.get(y))) for row in rows}) == len(panels) * len(labels)


def _columns(requested: int, labels: Sequence[str]) -> int:
    """Return the number of panels side by side; it is one if labels are too long for two."""
    return 1 if max(map(len, labels), default=0) > LONG_LABEL else requested


def _style_indices(series: Sequence[str], players: Sequence[str]) -> list[int]:
    """Return the index of each series' style: the player's, or else the series' position in the figure."""
    if series and set(series) <= set(players):
        return [list(players).index(name) for name in series]
    return list(range(len(series)))


def _with_value(rows: Iterable[Row], value: str) -> list[dict[str, Any]]:
    return [dict(row) for row in rows if finite(row.get(value)) is not None]


def _distinct(rows: Sequence[Row], key: str) -> list[str]:
    return list(dict.fromkeys(str(row.get(key)) for row in rows))


def _key(name: str) -> str:
    """Return a key with the characters escaped that have a meaning in Vega-Lite, such as points and brackets."""
    return name.replace("\\", "\\\\").replace(".", "\\.").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def _json_value(value: Any) -> Any:
    if value is None or isinstance(value, str | bool):
        return value
    number = finite(value)
    if number is None:
        return None
    if abs(number) < ROUNDING_ERROR:
        return 0
    return int(number) if number.is_integer() else number


def _short_number(value: float) -> str:
    value = 0.0 if abs(value) < ROUNDING_ERROR else value
    return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def _alt_text(
    kind: str, rows: Sequence[Row], value: str, value_title: str, keys: Sequence[str], titles: Sequence[str]
) -> str:
    """Return the alt text: kind, axes, groups, number of values, and the smallest and largest value."""
    if not rows:
        return f"{kind} of {value_title}: no values."
    groups = []
    for key, title in zip(keys, titles, strict=True):
        if not key:
            continue
        values = _distinct(rows, key)
        groups.append(f"{label(title)}: {', '.join(values)}" if len(values) <= 8 else f"{label(title)}: {len(values)}")
    ordered = sorted(rows, key=lambda row: float(row[value]))

    def describe(row: Row) -> str:
        group = ", ".join(str(row.get(key)) for key in keys if key)
        return f"{_short_number(float(row[value]))}" + (f" ({group})" if group else "")

    start = f"{kind} of {value_title}. " + ("; ".join(groups) + ". " if groups else "")
    return f"{start}{len(rows):,} values, smallest {describe(ordered[0])}, largest {describe(ordered[-1])}."


def drawn(table: Table) -> Figure:
    """Return the figure of a table's chart, with the labels and formats of its columns on the axes."""
    chart = table.chart
    assert chart is not None
    rows = table.rows if chart.rows is None else chart.rows
    rows = rows.to_dict("records") if hasattr(rows, "to_dict") else list(rows)
    value = "x" if chart.mark in ("dots", "bars", "boxes") else "y"
    channels = {"x": chart.x, "y": chart.y, "colour": chart.colour, "facet": chart.facet}
    channels |= {value: channels[value] or "estimate"} if chart.mark in ("dots", "bars", "lines") else {}
    title = chart.title or table.title
    for channel, most in chart.most.items():
        categories = _distinct(rows, channels[channel])
        if len(categories) > most:
            column = table.column(channels[channel])
            title += f": the first {most} of {len(categories)} {column.label.lower() + 's' if column else 'groups'}"
            rows = [row for row in rows if str(row.get(channels[channel])) in categories[:most]]
    options: dict[str, Any] = {channel: name for channel, name in channels.items() if name}
    for channel in ("x", "y"):
        column = table.column(channels[channel])
        if channel == value or chart.mark not in ("dots", "bars", "boxes"):
            options[f"{channel}_title"] = chart.titles.get(channel) or (column.heading if column else "")
        if channel == value and column and column.kind == "share":
            options[f"{channel}_format"] = "%"
    if chart.mark in ("dots", "lines", "bars"):
        options |= {"low": chart.low, "high": chart.high}
    if chart.players:
        options["players"] = chart.players
    draw = globals()[chart.mark]
    figure: Figure = draw(chart.name or table.name, title, rows, **options, **chart.options)
    return figure
