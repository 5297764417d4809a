"""Figures: Vega-Lite charts in one style, drawn without a browser, each with an alt text.

`drawn` makes a figure of a `results.Chart`. Categories have the colours and marks of seats (`tokens`), or differ in
dash. `players` (the dataset's, in order) gives each player the same colour throughout a report.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from html import escape
from math import ceil
from statistics import median
from typing import Any, ParamSpec

import altair as alt
import numpy as np
from altair.utils.schemapi import debug_mode

from analysis.data import label
from analysis.fitting import fitted, lines_of
from analysis.naming import Names
from analysis.tables import Chart, Mark, Table, records
from analysis.toolbox.numbers import finite
from games import tokens

P = ParamSpec("P")
Row = dict[str, Any]
COLOURS = tuple(tokens.colour(f"seat-{number}") for number in range(1, tokens.SEATS + 1))
SHAPES = tuple(tokens.mark_path(number) for number in range(1, tokens.SEATS + 1))
DASHES = ([1, 0], [7, 3], [2, 2], [9, 2, 2, 2], [4, 4], [12, 3], [1, 4], [9, 2, 2, 2, 2, 2])
MAX_SERIES = len(COLOURS)
WIDTH, WIDE, NARROW = 460, 620, 280
LONG_LABEL, LEGEND_WIDTH = 34, 84
"""Characters of a category's name above which panels are stacked, and of a row of a legend."""
STEP, OFFSET_STEP, LINE = 22, 14, 15
"""Height of a category, of each series in one, and of each further line of its name."""
INK, QUIET, GRID, CARD = (tokens.colour(name) for name in ("ink", "muted", "line", "card"))
ACCENT, SECOND = tokens.colour("accent"), tokens.colour("second")
"""What is drawn without categories, and what stands out from it."""
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
ROUNDING_ERROR = 1e-9
"""Differences this small are rounding errors and are drawn as zero."""
MAX_POINTS = 2000
"""Maximum number of points in a scatter plot; more are thinned out evenly, as the alt text then says."""
MOST_BESIDE = 2
"""Maximum number of panels side by side."""
MAX_MARKED = 40
"""Maximum number of points marked on a line."""
MAX_TICKS = 12
"""Largest range of whole numbers on an axis with a tick for each."""
MAX_LISTED = 8
"""Maximum number of categories that an alt text names; of more, it gives the number."""
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
GRID_POINTS = 60
"""Number of points at which a violin's density is computed."""

_TAG = re.compile(r'<[a-z](?:"[^"]*"|[^">])*>')
_CONTROL = dict.fromkeys({*range(32)} - {9, 10, 13})
"""Characters that XML has no place for."""
_ROLES = re.compile(r'\s(?:role|aria-[a-z]+)="[^"]*"')


@dataclass(frozen=True)
class Figure:
    """A chart: its Vega-Lite specification with its data, and its alt text."""

    name: str
    title: str
    spec: Mapping[str, Any]
    alt: str

    def svg(self) -> str:
        """Return the figure as SVG, with one role, title and description for screen readers.

        The renderer gives every mark a role of its own.
        """
        import vl_convert

        svg = vl_convert.vegalite_to_svg(dict(self.spec)).translate(_CONTROL)
        head, rest = _TAG.sub(lambda tag: _ROLES.sub("", tag[0]), svg).split(">", 1)
        tagged = f'{head} role="img"><title>{escape(self.title)}</title><desc>{escape(self.alt)}</desc>'
        return fitted(tagged + rest)

    def _repr_html_(self) -> str:
        return self.svg()


def unvalidated(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Skip Altair's validation of charts against the schema, which takes half the time of drawing.

    The tests validate the specifications.
    """

    @wraps(draw)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with debug_mode(False):
            return draw(*args, **kwargs)

    return wrapper


@unvalidated
def drawn(table: Table, chart: Chart) -> Figure:
    """Return a table's chart, with the labels and formats of its columns on the axes."""
    return _Plot(table, chart).figure()


class _Plot:
    """A chart being drawn.

    Attributes:
        names: the column of each channel.
        rows: those with a value to draw.
        labels, series, panels: the categories on the y axis, of the colours, and of the facets.
    """

    def __init__(self, table: Table, chart: Chart) -> None:
        named = table.names
        self.table, self.kind = table, KINDS[chart.mark]
        self.chart = chart = replace(
            chart, players=[named(name) for name in chart.players], titles=_each(chart.titles, named),
            order={channel: [named(name) for name in order] for channel, order in chart.order.items()},
        )  # fmt: skip
        self.names = {channel: getattr(chart, channel) for channel in ("x", "y", "colour", "facet", "size")}
        self.names[self.kind.value] = self.value = self.names[self.kind.value] or self.kind.default
        self.title = named(chart.title or table.title)
        rows = [_each(row, named) for row in (table.records if chart.rows is None else _rows(chart.rows))]
        for channel, most in chart.most.items():
            categories, column = _distinct(rows, self.names[channel]), table.column(self.names[channel])
            if len(categories) > most:
                what = column.label.lower() + "s" if column else "groups"
                self.title += f": the first {most} of {len(categories)} {what}"
                rows = [row for row in rows if str(row.get(self.names[channel])) in categories[:most]]
        needed = [self.value, *([chart.x] if chart.mark == "scatter" else [])]
        self.rows = [dict(row) for row in rows if all(finite(row.get(name)) is not None for name in needed)]
        for row in self.rows if chart.se else ():
            se = finite(row.get(chart.se))
            ends = (None, None) if se is None else (float(row[self.value]) - se, float(row[self.value]) + se)
            row |= dict(zip((chart.low, chart.high), ends, strict=True))
        if chart.mark == "lines" and not chart.facet and len(self.categories("colour")) > MAX_SERIES:
            self.names |= {"facet": chart.colour, "colour": ""}
        if chart.mark in ("dots", "lines", "strip_plot") and not chart.domain:
            self._pad()
        self.labels = self.categories("y") if "y" in self.kind.groups else []
        self.series = self.categories("colour") if chart.mark != "heat_map" else []
        self.panels = self.categories("facet")
        self.has_intervals = any(row.get(chart.low) is not None for row in self.rows)

    def categories(self, channel: str) -> list[str]:
        """Return the categories of a channel in the chart's order, or else as they occur."""
        name = self.names[channel]
        return list(self.chart.order.get(channel, ())) or (_distinct(self.rows, name) if name else [])

    def _pad(self) -> None:
        """Add bounds around the value of panels that have only one, because an axis without extent has wrong ticks."""
        values: dict[str, set[float]] = {}
        facet = self.names["facet"]
        for row in self.rows:
            known = (_json_value(finite(row.get(key))) for key in (self.value, self.chart.low, self.chart.high))
            values.setdefault(str(row.get(facet)), set()).update(value for value in known if value is not None)
        for row in self.rows:
            low, high = min(values[str(row.get(facet))]), max(values[str(row.get(facet))])
            if high - low <= ROUNDING_ERROR:
                margin = abs(high) / 10 or 1.0
                row |= {"pad_low": high - margin, "pad_high": high + margin}

    def padding(self, base: Any) -> list[Any]:
        """Return an invisible layer that widens the axes of padded panels, if there are any."""
        if not any("pad_low" in row for row in self.rows):
            return []
        return [base.mark_rule(opacity=0).encode(**self.span("pad_low", "pad_high"))]

    # ---- encodings ---------------------------------------------------------------------------------------

    def heading(self, channel: str) -> str:
        """Return the title of a channel's axis: the chart's, or else its column's heading; categories have none."""
        column = self.table.column(self.names[channel])
        is_named = channel == self.kind.value or (self.kind.two_axes and channel in ("x", "y"))
        return self.chart.titles.get(channel, self.table.names(column.heading) if column and is_named else "")

    def axis(self, channel: str, name: str = "") -> Any:
        """Return the encoding of numbers on an axis, by default those of its channel."""
        column = self.table.column(self.names[channel])
        of_value = channel == self.kind.value
        share = "%" if of_value and column and column.kind == "share" else ""
        settings: dict[str, Any] = {"format": self.chart.formats.get(channel, share)}
        scale: dict[str, Any] = {"zero": self.chart.zero or self.kind.zero}
        if of_value and self.chart.domain:
            scale = {"domain": list(self.chart.domain), **({"clamp": True} if self.chart.mark == "strip_plot" else {})}
        elif self.chart.mark == "bars" and not any(float(row[self.value]) for row in self.rows):
            scale = {"domain": [0, 1]}
        elif self.chart.mark == "lines" and channel == "x":
            scale |= {"type": "log" if self.chart.log_x else "linear", "nice": False, "padding": 8}
            places = sorted({value for row in self.rows if (value := finite(row.get(self.names["x"]))) is not None})
            whole = all(place.is_integer() for place in places) and not self.chart.log_x
            if places and whole and places[-1] - places[0] <= MAX_TICKS:
                settings |= {"format": "d", "values": places}
        return (alt.X if channel == "x" else alt.Y)(
            _key(name or self.names[channel]), type="quantitative", title=self.heading(channel),
            scale=alt.Scale(**scale), axis=alt.Axis(**{key: value for key, value in settings.items() if value}),
        )  # fmt: skip

    def span(self, low: str, high: str) -> dict[str, Any]:
        """Return the encodings from one column to another along the axis of the values."""
        channel = self.kind.value
        return {channel: self.axis(channel, low), f"{channel}2": (alt.X2 if channel == "x" else alt.Y2)(_key(high))}

    def rows_of_categories(self) -> Any:
        """Return a chart with the categories from top to bottom, and the series of each, if any, side by side."""
        y = alt.Y(_key(self.names["y"]), type="nominal", sort=self.labels, title=self.heading("y") or None,
                  axis=alt.Axis(labelExpr=_in_lines(self.labels)))  # fmt: skip
        chart: Any = alt.Chart().encode(y=y)
        if not self.series or self.chart.stacked:
            return chart
        return chart.encode(yOffset=alt.YOffset(_key(self.names["colour"]), type="nominal", sort=self.series))

    def styled(self, layer: Any, *channels: str) -> Any:
        """Return a layer with the series' colours, shapes or dashes; unchanged if there are no series."""
        if not self.series:
            return layer
        return layer.encode(**{name: self.style(name, self.names["colour"], self.series) for name in channels})

    def style(self, channel: str, key: str, series: Sequence[str], *, legend: bool = True) -> Any:
        """Return the styles of some series: those of the players, if all are, or else by position."""
        styles: dict[str, tuple[Any, Sequence[Any]]] = {
            "color": (alt.Color, COLOURS), "shape": (alt.Shape, SHAPES), "strokeDash": (alt.StrokeDash, DASHES),
        }  # fmt: skip
        kind, values = styles[channel]
        players = list(self.chart.players)
        places = [players.index(name) for name in series] if set(series) <= set(players) else range(len(series))
        turns = [place if channel == "color" else place + place // len(COLOURS) for place in places]
        columns = max(1, min(3, LEGEND_WIDTH // max(map(len, series), default=1)))
        legend_of = alt.Legend(symbolOpacity=1, columns=columns) if legend else None
        shown = {"legend": legend_of} if channel == "color" else {}
        scale = alt.Scale(domain=list(series), range=[values[turn % len(values)] for turn in turns])
        return kind(_key(key), type="nominal", sort=list(series), title=None, scale=scale, **shown)

    def line(self, colour: str = QUIET) -> list[Any]:
        """Return the chart's reference line, if it has one."""
        return [] if self.chart.line is None else [_rule(self.kind.value, self.chart.line, colour)]

    # ---- figure ------------------------------------------------------------------------------------------

    def figure(self) -> Figure:
        """Return the figure with its data, panels and style."""
        chart, kind, facet = self.chart, self.kind, self.names["facet"]
        description, layers = self.alt_text(), kind.layers(self)
        of_categories = "y" in kind.groups and chart.mark != "heat_map"
        same_labels = chart.mark == "dots" and self._every_panel_has_every_label()
        columns = MOST_BESIDE
        if of_categories and not same_labels and max(map(len, self.labels), default=0) > LONG_LABEL:
            columns = 1
        columns = min(columns, len(self.panels)) if self.panels else 1
        height: Any = kind.height
        if of_categories:
            height += LINE * (max((len(lines_of(label)) for label in self.labels), default=1) - 1)
        if chart.mark == "heat_map":
            height = alt.Step(height)
        elif chart.mark == "violins":
            height *= max(1, len(self.labels))
        elif of_categories:
            grouped = self.series and not chart.stacked
            height = (
                alt.Step(max(OFFSET_STEP, height / len(self.series)), **{"for": "offset"})
                if grouped
                else alt.Step(height)
            )
        width: Any = alt.Step(kind.width) if chart.mark == "heat_map" else kind.width
        plot: Any = alt.layer(*layers).properties(width=width or (WIDTH if columns <= 1 else NARROW), height=height)
        data = alt.NamedData("rows")
        if facet:
            header = alt.Header(title=None, labelFontWeight="bold", labelFontSize=13, labelColor=INK, labelLimit=0,
                                labelExpr=_in_lines(self.panels))  # fmt: skip
            of_panels = alt.Facet(_key(facet), type="nominal", sort=self.panels, header=header)
            same = kind.same_scale if chart.same_scale is None else chart.same_scale
            x, y = ("shared" if is_same else "independent" for is_same in (same, same_labels))
            plot = plot.facet(facet=of_panels, columns=columns, data=data)
            plot = plot.resolve_scale(x=x, y=y).resolve_axis(x="independent", y=y)
        else:
            plot = plot.properties(data=data)
        values = [{key: _json_value(value) for key, value in row.items()} for row in self.rows]
        name = chart.name or self.table.name
        return figure_from_chart(name, self.title, plot, alt_text=f"{self.title}. {description}", values=values)

    def _every_panel_has_every_label(self) -> bool:
        pairs = {(str(row.get(self.names["facet"])), str(row.get(self.names["y"]))) for row in self.rows}
        return len(pairs) == max(1, len(self.panels)) * len(self.labels)

    def alt_text(self) -> str:
        """Return the alt text: kind, axes, groups, number of values, and the smallest and largest value."""
        kind, what = self.kind, self.heading(self.kind.value) or self.value
        lines = "".join(f"; {name} at {_short_number(at)}" for name, at in self.chart.lines.items()
                        if isinstance(at, int | float))  # fmt: skip
        if self.chart.mark == "histogram":
            numbers = self.numbers()
            spread = [_short_number(value) for value in (numbers[0], median(numbers), numbers[-1])] if numbers else []
            extent = f" from {spread[0]} to {spread[2]}, median {spread[1]}" if spread else ""
            return f"Histogram of {len(numbers):,} values; {what}{extent}{lines}."
        text = "Stacked bars" if self.chart.stacked else kind.text
        what = f"median {what}" if self.chart.mark == "boxes" else what
        if not self.rows:
            return f"{text} of {what}: no values."
        named = {channel: self.names[channel] for channel in kind.groups if self.names[channel]}
        groups = []
        for channel, name in named.items():
            values = _distinct(self.rows, name)
            shown = ", ".join(values) if len(values) <= MAX_LISTED else str(len(values))
            groups.append(f"{label(self.heading(channel) or name)}: {shown}")
        ordered = sorted(self.rows, key=lambda row: float(row[self.value]))
        smallest, largest = (
            " ".join([_short_number(float(row[self.value])), *([f"({', '.join(of)})"] if of else [])])
            for row in (ordered[0], ordered[-1]) for of in [[str(row.get(name)) for name in named.values()]]
        )  # fmt: skip
        ends = f"{len(self.rows):,} values, smallest {smallest}, largest {largest}"
        if self.chart.mark == "scatter":
            thinning = self.thinning()
            ends += f", over {self.heading('x') or self.names['x']}"
            ends += f"; every {thinning}th point is drawn" if thinning > 1 else ""
        return f"{text} of {what}. {'; '.join(groups)}{'. ' if groups else ''}{ends}{lines}."

    def numbers(self) -> list[float]:
        """Return the values in ascending order."""
        return sorted(float(row[self.value]) for row in self.rows)

    def thinning(self) -> int:
        """Return n if every nth point is drawn."""
        return ceil(len(self.rows) / MAX_POINTS) or 1


# ---- layers of each kind of chart, from back to front ------------------------------------------------------


def _dots(plot: _Plot) -> list[Any]:
    """A dot with its interval for each row, with categories from top to bottom in the order of the rows."""
    base = plot.styled(plot.rows_of_categories(), "color")
    layers = [*plot.line(), *plot.padding(base)]
    if plot.has_intervals:
        layers.append(base.mark_rule(strokeWidth=2).encode(**plot.span(plot.chart.low, plot.chart.high)))
    return [*layers, plot.styled(base.mark_point(filled=True, size=70, opacity=1).encode(x=plot.axis("x")), "shape")]


def _lines(plot: _Plot) -> list[Any]:
    """Lines, with a band where rows have an interval; more series than colours become panels."""
    bare = alt.Chart().encode(x=plot.axis("x"))
    base, interpolate = plot.styled(bare, "color"), "step-after" if plot.chart.step else "linear"
    layers = [*plot.line(), *plot.padding(bare)]
    if plot.has_intervals:
        span = plot.span(plot.chart.low, plot.chart.high)
        layers.append(base.mark_area(opacity=0.18, interpolate=interpolate).encode(**span))
    y = plot.axis("y")
    layers.append(plot.styled(base.mark_line(strokeWidth=2.2, interpolate=interpolate).encode(y=y), "strokeDash"))
    if plot.chart.points and len(plot.rows) <= MAX_MARKED * max(1, len(plot.series)) * max(1, len(plot.panels)):
        layers.append(plot.styled(base.mark_point(filled=True, size=45, opacity=1).encode(y=y), "shape"))
    return layers


def _bars(plot: _Plot) -> list[Any]:
    """Horizontal bars from zero, side by side or stacked by colour, in the order of the rows."""
    base, stacked = plot.rows_of_categories(), plot.chart.stacked
    length = plot.axis("x")
    length.stack = "zero" if stacked else None
    bar = base.mark_bar(stroke=CARD if stacked else None).encode(x=length)
    bar = plot.styled(bar, "color") if plot.series else bar.encode(color=alt.value(ACCENT))
    if stacked:
        place = {label: index for index, label in enumerate(plot.series)}
        for row in plot.rows:
            row["order"] = place.get(str(row.get(plot.names["colour"])), 0)
        return [bar.encode(order=alt.Order("order:Q")), *plot.line(INK)]
    # The end of a bar makes bars of length zero visible.
    end = base.mark_tick(thickness=2, height=alt.RelativeBandSize(0.8)).encode(x=length)
    layers = [bar, plot.styled(end, "color")]
    if plot.has_intervals:
        interval = plot.span(plot.chart.low, plot.chart.high)
        layers.append(base.mark_rule(strokeWidth=1.6, color=INK).encode(**interval))
    return [*layers, *plot.line(INK)]


def _boxes(plot: _Plot) -> list[Any]:
    """Box plots from q1, median and q3, with whiskers from low to high, the 10th and 90th percentiles."""
    base = plot.rows_of_categories()
    of_players = set(plot.labels) <= set(plot.chart.players)
    fill = plot.style("color", plot.names["y"], plot.labels, legend=False) if of_players else alt.value(ACCENT)
    return [
        base.mark_rule(color=INK, strokeWidth=1.4).encode(**plot.span("low", "high")),
        base.mark_bar(size=13, opacity=0.75).encode(**plot.span("q1", "q3"), color=fill),
        base.mark_tick(color=INK, thickness=2.4, size=15).encode(x=plot.axis("x")),
    ]


def _strip_plot(plot: _Plot) -> list[Any]:
    """A ring for every value, and a bar at the mean of each category; values beyond the domain are at its edge."""
    base = plot.rows_of_categories()
    mean = alt.X(_key(plot.value), type="quantitative", aggregate="mean", title=plot.heading("x"))
    return [
        *_labelled_lines(plot.chart.lines), *plot.padding(base),
        base.mark_point(size=60, strokeWidth=1.6, opacity=0.75, color=ACCENT).encode(x=plot.axis("x")),
        base.mark_tick(thickness=3, size=20, color=SECOND).encode(x=mean),
    ]  # fmt: skip


def _violins(plot: _Plot) -> list[Any]:
    """Kernel densities (Gaussian, Scott's bandwidth) with box and median; a line if values do not vary."""
    plot.rows = [*_outlines(plot)]
    shown = json.dumps([*map(lines_of, plot.labels)])
    names = alt.Axis(values=list(range(len(plot.labels))), labelExpr=f"{shown}[datum.value]", grid=False)
    scale = alt.Scale(domain=[len(plot.labels) - 0.5, -0.5], nice=False)
    top, centre = alt.Y("top:Q", title=None, axis=names, scale=scale), alt.Y("at:Q", axis=names, title=None)
    category = alt.Detail(_key(plot.names["y"]), type="nominal")
    densities = alt.Chart().transform_filter("datum.part == 'density'").mark_area(opacity=0.35, color=ACCENT)
    boxes = alt.Chart().transform_filter("datum.part == 'box'")
    return [
        densities.encode(x=plot.axis("x"), y=top, y2="bottom:Q", detail=category),
        boxes.mark_rule(color=INK).encode(**plot.span("low", "high"), y=centre),
        boxes.mark_rect(color=ACCENT, stroke=INK).encode(**plot.span("q1", "q3"), y=top, y2="bottom:Q"),
        boxes.mark_point(filled=True, size=60, color=CARD, stroke=INK, opacity=1).encode(x=plot.axis("x"), y=centre),
    ]


def _outlines(plot: _Plot) -> Iterator[Row]:
    """Yield the boxes and the densities' outlines, with categories at 0, 1, … from top to bottom."""
    from scipy.stats import gaussian_kde

    y, facet, value = plot.names["y"], plot.names["facet"], plot.value
    for panel in plot.panels or [""]:
        for at, category in enumerate(plot.labels):
            values = np.asarray([float(row[value]) for row in plot.rows if str(row.get(y)) == category
                                 and (not facet or str(row.get(facet)) == panel)])  # fmt: skip
            if not len(values):
                continue
            of = {y: category, "at": at} | ({facet: panel} if facet else {})
            quantiles = dict(zip(("low", "q1", value, "q3", "high"), np.quantile(values, QUANTILES), strict=True))
            yield {**of, "part": "box", **quantiles, "top": at - 0.09, "bottom": at + 0.09}
            if len(values) > 2 and float(np.ptp(values)) > 1e-12:
                places = np.linspace(values.min(), values.max(), GRID_POINTS)
                density = gaussian_kde(values)(places)
                for place, height in zip(places, 0.42 * density / density.max(), strict=True):
                    yield {**of, "part": "density", value: place, "top": at - height, "bottom": at + height}


def _scatter(plot: _Plot) -> list[Any]:
    """Points, thinned out evenly beyond 2,000; they may have areas by size, and dashed lines."""
    plot.rows = plot.rows[:: plot.thinning()]
    x, y = plot.axis("x"), plot.axis("y")
    points = alt.Chart().mark_point(filled=True, size=55, opacity=0.65).encode(x=x, y=y)
    if size := plot.names["size"]:
        heading = plot.heading("size") or size
        points = points.encode(size=alt.Size(_key(size), type="quantitative", title=heading))
    return [*_paths(plot), plot.styled(points, "color", "shape")]


def _paths(plot: _Plot) -> Iterator[Any]:
    """Yield dashed lines, each given by its corners."""
    for name, corners in plot.chart.lines.items():
        path = alt.Data(values=[{"x": x, "y": y, "at": at, "line": name} for at, (x, y) in enumerate(corners)])
        line = alt.Chart(path).mark_line(color=QUIET, strokeDash=[5, 3], strokeWidth=1.4)
        yield line.encode(x=plot.axis("x", "x"), y=plot.axis("y", "y"), order="at:Q")


def _heat_map(plot: _Plot) -> list[Any]:
    """Cells with their values printed; the scale is viridis, or from blue to orange around the chart's centre."""
    value, centre = plot.value, plot.chart.centre
    values = [float(row[value]) for row in plot.rows] or [0.0]
    if centre is None:
        low, high = min(values), max(values)
        scale = alt.Scale(scheme="viridis", domain=[low, high if high > low else low + 1])
        threshold = max((v for v in values if v < low + 0.55 * (high - low)), default=low - 1)
        is_dark = f"datum['{value}'] <= {threshold!r}"
    else:
        farthest = max(abs(v - centre) for v in values)
        margin = farthest if farthest > ROUNDING_ERROR else 1.0
        scale = alt.Scale(domain=[centre - margin, centre, centre + margin], interpolate="lab",
                          range=[COLOURS[1], tokens.colour("paper"), COLOURS[0]])  # fmt: skip
        is_dark = f"datum['{value}'] < {centre - 0.6 * margin!r}"
    shown = plot.chart.formats.get("colour", ".2f")
    colour = alt.Color(_key(value), type="quantitative", scale=scale, title=plot.heading("colour") or value,
                       legend=alt.Legend(orient="right", gradientLength=160, format=shown))  # fmt: skip
    printed = alt.Text(_key(value), type="quantitative", format=shown)
    base = alt.Chart().encode(
        x=alt.X(_key(plot.names["x"]), type="nominal", sort=plot.categories("x"), title=plot.heading("x") or None,
                axis=alt.Axis(labelAngle=-40, orient="bottom")),
        y=alt.Y(_key(plot.names["y"]), type="nominal", sort=plot.labels, title=plot.heading("y") or None),
    )  # fmt: skip
    ink = alt.condition(is_dark, alt.value("white"), alt.value("black"))
    return [
        base.mark_rect(stroke=CARD).encode(color=colour),
        base.mark_text(fontSize=11).encode(text=printed, color=ink),
    ]


def _histogram(plot: _Plot) -> list[Any]:
    """Numbers of values in bins of equal width, with labelled lines, such as at an announced average."""
    numbers = plot.numbers()
    counts, edges = np.histogram(numbers, bins=plot.chart.bins if len(set(numbers)) > 1 else 1)
    plot.rows = [{"from": low, "to": high, "count": count}
                 for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)]  # fmt: skip
    bars = alt.Chart().mark_bar(color=ACCENT, stroke=CARD).encode(
        x=alt.X("from:Q", title=plot.heading("x"), scale=alt.Scale(zero=False, nice=False)), x2=alt.X2("to"),
        y=alt.Y("count:Q", title=plot.heading("y") or "Matches"), y2=alt.Y2Datum(0),
    )  # fmt: skip
    return [bars, *_labelled_lines(plot.chart.lines, SECOND)]


def _labelled_lines(lines: Mapping[str, Any], colour: str = QUIET) -> Iterator[Any]:
    """Yield vertical lines with their labels above the chart, each label on its own line."""
    for index, (name, value) in enumerate(lines.items()):
        labels = _single_row().mark_text(dy=-4 - 14 * index, baseline="bottom", fontSize=12, color=colour)
        yield _rule("x", value, colour)
        yield labels.encode(x=alt.datum(value, type="quantitative"), y=alt.value(0), text=alt.value(name))


def _rule(channel: str, value: float, colour: str) -> Any:
    """Return a dashed line across the chart."""
    line = _single_row().mark_rule(color=colour, strokeDash=[5, 3])
    return line.encode(**{channel: alt.datum(value, type="quantitative")})


def _single_row() -> Any:
    """Return a chart with one row, for a layer that is drawn once and not for every row of the chart's data."""
    return alt.Chart(alt.Data(values=[{}]))


@dataclass(frozen=True)
class _Kind:
    """A kind of chart.

    Attributes:
        text: its name in alt texts.
        layers: function that returns its layers; it may replace the plot's rows by what is drawn.
        value: the channel of the values; `default` is their column.
        groups: the channels that the alt text lists.
        height, width: in pixels, of a panel, or of a category where the y axis has categories; width 0: by panels.
        zero: whether the axis of the values starts at zero.
        same_scale: whether all panels have the same x axis.
        two_axes: whether both axes are named after their columns.
    """

    text: str
    layers: Callable[[_Plot], list[Any]]
    value: str = "x"
    default: str = "estimate"
    groups: Sequence[str] = ("y", "facet")
    height: int = STEP
    width: int = 0
    zero: bool = False
    same_scale: bool = False
    two_axes: bool = False


KINDS: Mapping[Mark, _Kind] = {
    "dots": _Kind("Dots with intervals", _dots, groups=("y", "colour", "facet")),
    "lines": _Kind("Lines", _lines, "y", groups=("x", "colour", "facet"), height=240, same_scale=True, two_axes=True),
    "bars": _Kind("Bars", _bars, groups=("y", "colour", "facet"), zero=True, same_scale=True),
    "boxes": _Kind("Box plots (10, 25, 50, 75 and 90 %)", _boxes, default="median", zero=True),
    "strip_plot": _Kind("Strip plot with means", _strip_plot, default="value", height=28),
    "violins": _Kind("Violins with boxes", _violins, default="value", height=44),
    "scatter": _Kind("Scatter plot", _scatter, "y", groups=("colour", "facet"), height=260, two_axes=True),
    "heat_map": _Kind("Heat map", _heat_map, "colour", groups=("y", "x", "facet"), height=26, width=46, two_axes=True),
    "histogram": _Kind("Histogram", _histogram, groups=(), height=240, width=WIDE),
}


# ---- style and text ----------------------------------------------------------------------------------------


def figure_from_chart(
    name: str, title: str, chart: Any, *, alt_text: str, values: Sequence[Row] | None = None
) -> Figure:
    """Return a figure of the chart in the style of all charts.

    Args:
        alt_text: the kind of chart, axes, groups, n and extremes.
        values: the data, if the chart only refers to them by name; Altair would copy data inside a chart many times.
    """
    chart = chart.configure(background=CARD, font=FONT, padding={"left": 8, "right": 14, "top": 8, "bottom": 8})
    chart = chart.configure_view(stroke=None).configure_mark(color=ACCENT).configure_axis(
        labelFontSize=12, titleFontSize=13, labelColor=INK, titleColor=INK, titleFontWeight="normal", gridColor=GRID,
        domainColor=QUIET, tickColor=QUIET, labelLimit=0, titlePadding=10,
    )  # fmt: skip
    chart = chart.configure_legend(
        labelFontSize=12, titleFontSize=12, titleFontWeight="normal", labelColor=INK, titleColor=INK, labelLimit=0,
        orient="bottom", columns=3, columnPadding=40, symbolSize=90, symbolStrokeWidth=2,
    )  # fmt: skip
    chart = chart.configure_axisQuantitative(labelOverlap="greedy", labelSeparation=8, tickCount=6)
    spec = chart.to_dict(validate=False)
    if values is not None:
        spec["data"] = {"values": list(values)}
    return Figure(name, title, spec, alt_text)


def png(svg: str) -> bytes:
    """Return an SVG as a PNG of twice the size."""
    import vl_convert

    image: bytes = vl_convert.svg_to_png(svg, scale=2)
    return image


def _each(row: Mapping[str, Any], names: Names) -> Row:
    return {key: names(value) if isinstance(value, str) else value for key, value in row.items()}


def _rows(rows: Any) -> list[Row]:
    return list(rows) if isinstance(rows, Sequence) else records(rows)


def _in_lines(labels: Sequence[str]) -> str:
    """Return the expression that shows long names of categories in lines."""
    lines = {label: lines for label in labels if len(lines := lines_of(label)) > 1}
    return f"{json.dumps(lines)}[datum.value] || datum.label" if lines else "datum.label"


def _distinct(rows: Iterable[Mapping[str, Any]], key: str) -> list[str]:
    return list(dict.fromkeys(str(row.get(key)) for row in rows))


def _key(name: str) -> str:
    """Return a key with the characters escaped that have a meaning in Vega-Lite, such as points and brackets."""
    return re.sub(r"([\\.\[\]:])", r"\\\1", name)


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
