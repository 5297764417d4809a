"""The flow of participants (or matches) as a figure: numbers by stage, with those who left and why at the side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from analysis.reasons import reason
from games.tokens import colour

FILE = "flow.svg"

STAGES: Mapping[str, str] = {
    "arrived": "Arrived and were placed in a cell",
    "consented": "Agreed to take part",
    "instructed": "Read the instructions",
    "began": "Started the game",
    "finished": "Finished the game",
    "completed": "Passed the checks and completed",
    "in_dataset": "In the dataset",
}


@dataclass(frozen=True)
class Layout:
    """Sizes in pixels, and colours.

    Attributes:
        main, side: left edge and width of the boxes for those who continued and those who left.
        spine: horizontal position of the arrow between the boxes.
    """

    width: int
    main: tuple[int, int]
    side: tuple[int, int]
    spine: int
    ink: str
    quiet: str
    line: str
    paper: str
    box: str
    last: str


IN_FILE = Layout(680, (20, 290), (370, 290), 165, *map(colour, ("ink", "muted", "muted", "card", "card", "words")))
"""For a file: dark on white."""
ON_PAGE = Layout(680, (2, 300), (376, 300), 152, "currentColor", "currentColor", "currentColor", "none", "none", "none")
"""For a page, in the page's colours."""
NARROW = Layout(316, (2, 312), (50, 264), 26, "currentColor", "currentColor", "currentColor", "none", "none", "none")
"""For phones: those who left are listed below, indented."""

_LINE, _PAD, _GAP = 20, 12, 26


@dataclass(frozen=True)
class _Stage:
    """A stage: how many reached it, and how many went no further, by reason."""

    title: str
    count: int
    left: Mapping[str, int]


def flow_svg(flow: Mapping[str, Any], *, title: str, layout: Layout = IN_FILE) -> str:
    """Return the flow of a dataset (as in flow.json) as SVG."""
    stages = _stages(flow)
    shapes: list[str] = []
    top = 16 if layout.paper != "none" else 2
    for index, stage in enumerate(stages):
        last = index == len(stages) - 1
        top = _draw_stage(shapes, layout, stage, top, last=last, flow=flow)
        if not last:
            top = _draw_exclusions(shapes, layout, stage, top)
    height = top + (16 if layout.paper != "none" else 2)
    paper = f'<rect width="{layout.width}" height="{height}" fill="{layout.paper}"/>' if layout.paper != "none" else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {layout.width} {height}" width="{layout.width}" '
        f'height="{height}" role="img" font-family="Helvetica, Arial, sans-serif" font-size="14">'
        f"<title>{escape(title)}</title><desc>{escape('; '.join(flow_lines(flow)))}</desc>"
        f"{paper}{''.join(shapes)}</svg>\n"
    )


def flow_lines(flow: Mapping[str, Any]) -> Iterator[str]:
    """Yield the figure's description, one line per number."""
    for stage in _stages(flow):
        yield f"{stage.title}: {stage.count:,}"
        for why, count in stage.left.items():
            yield f"excluded, {reason(why)}: {count:,}"


def _stages(flow: Mapping[str, Any]) -> list[_Stage]:
    if flow["arrived"]:
        return [_Stage(STAGES[row["stage"]], row["reached"], row["left"]) for row in flow["stages"]]
    matches = flow["matches"]
    return [
        _Stage("Matches planned", matches["seen"], matches["excluded"]),
        _Stage("In the dataset", matches["in_dataset"], {}),
    ]


def _draw_stage(
    shapes: list[str], layout: Layout, stage: _Stage, top: int, *, last: bool, flow: Mapping[str, Any]
) -> int:
    """Draw the box of a stage; return where it ends."""
    left, width = layout.main
    lines = [stage.title, f"n = {stage.count:,}"]
    if last and flow["arrived"]:
        lines[1] += f" in {flow['matches_in_dataset']:,} matches"
    height = len(lines) * _LINE + _PAD
    fill = layout.last if last else layout.box
    weight = 2 if last else 1.25
    shapes.append(_box(left, top, width, height, fill=fill, line=layout.line, weight=weight))
    for row, text in enumerate(lines):
        style = 'font-weight="600"' if row == 0 else ""
        shapes.append(_text(left + 12, top + _LINE * (row + 1) - 1, text, layout.ink, style))
    return top + height


def _draw_exclusions(shapes: list[str], layout: Layout, stage: _Stage, top: int) -> int:
    """Draw the arrow to the next box, with those who left at its side; return where the next box begins."""
    if not stage.left:
        shapes.append(_arrow(layout, layout.spine, top, layout.spine, top + _GAP))
        return top + _GAP
    left, width = layout.side
    height = (1 + len(stage.left)) * _LINE + _PAD
    side_top = top + 12
    end = side_top + height + 12
    shapes.append(_arrow(layout, layout.spine, top, layout.spine, end))
    middle = side_top + height / 2
    shapes.append(_arrow(layout, layout.spine, middle, left, middle))
    shapes.append(_box(left, side_top, width, height, fill=layout.box, line=layout.line, weight=1, dashed=True))
    total = sum(stage.left.values())
    shapes.append(_text(left + 12, side_top + _LINE - 1, f"Excluded: n = {total:,}", layout.ink, 'font-weight="600"'))
    for row, (why, count) in enumerate(stage.left.items(), start=2):
        baseline = side_top + _LINE * row - 1
        shapes.append(_text(left + 12, baseline, reason(why), layout.quiet))
        shapes.append(_text(left + width - 12, baseline, f"{count:,}", layout.ink, 'text-anchor="end"'))
    return end


def _box(
    left: float, top: float, width: float, height: float, *, fill: str, line: str, weight: float, dashed: bool = False
) -> str:
    dashes = ' stroke-dasharray="4 3"' if dashed else ""
    return (
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="4" fill="{fill}" stroke="{line}" '
        f'stroke-width="{weight}"{dashes}/>'
    )


def _text(left: float, baseline: float, text: str, ink: str, style: str = "") -> str:
    return f'<text x="{left}" y="{baseline}" fill="{ink}" {style}>{escape(text)}</text>'


def _arrow(layout: Layout, x1: float, y1: float, x2: float, y2: float) -> str:
    head = f"M {x2} {y2} l -4 -8 h 8 z" if x1 == x2 else f"M {x2} {y2} l -8 -4 v 8 z"
    return (
        f'<line x1="{x1}" y1="{y1}" x2="{x2 - (0 if x1 == x2 else 7)}" y2="{y2 - (7 if x1 == x2 else 0)}" '
        f'stroke="{layout.line}" stroke-width="1.25"/><path d="{head}" fill="{layout.line}"/>'
    )
