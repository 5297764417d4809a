"""general.flow: how many participants reached each stage, and why the others left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.options import Options
from analysis.reasons import STAGES, reason
from analysis.results import Result, analysis
from analysis.tables import Table, count, share, text
from analysis.toolbox import proportion
from games import tokens

if TYPE_CHECKING:
    from analysis.charts import Figure

WIDTH, MAIN, SIDE, GAP, LINE = 640, 250, 300, 26, 17
BOX, MARGIN, TOP_LINE = 46, 12, 15
"""Height of a stage's box, and margins of the lines beside it."""


@analysis(
    "general.flow", "Flow", "How many participants reached each stage, and why did the others leave?",
    "Counts from the dataset's manifest; shares with Wilson intervals.",
)  # fmt: skip
def run(data: Data, options: Options) -> Result:
    from analysis.charts import unvalidated

    flow = data.flow_counts
    stages = flow["stages"] if flow["arrived"] else []
    if not stages:
        matches = flow["matches"]
        if not matches["seen"]:
            raise SkippedError("The manifest lists no people and no matches.")
        stages = [
            {"stage": "Matches", "reached": matches["seen"], "left": matches["excluded"]},
            {"stage": "in_dataset", "reached": matches["in_dataset"], "left": {}},
        ]
    named = [
        (STAGES.get(stage["stage"], stage["stage"]), stage["reached"], _reasons(stage["left"])) for stage in stages
    ]
    rows = [
        {"stage": name, "what": what, **proportion(number, of, level=options.level), "number": number}
        for name, reached, left in named
        for what, number, of in (("reached", reached, named[0][1]), *((why, n, reached) for why, n in left.items()))
    ]
    table = Table(
        "stages", "Participants by stage, and why the others left",
        [text("stage", "Stage"), text("what", "What"), count("number", "Number"), count("n", "Of"),
         share("estimate", "Share"), "low", "high"],
        pd.DataFrame(rows),
        note="For reaching a stage, shares refer to all arrivals; for leaving at a stage, to those who reached it.",
    )  # fmt: skip
    n = {"people": flow["arrived"]} if flow["arrived"] else {}
    return Result([table], [unvalidated(_figure)(named)], table.numbers("{stage}: {what}"), n=n)


def _reasons(left: dict[str, int]) -> dict[str, int]:
    """Return the reasons for leaving in words, the most frequent first."""
    return {reason(why): number for why, number in sorted(left.items(), key=lambda item: (-item[1], item[0]))}


def _figure(stages: list[tuple[str, int, dict[str, int]]]) -> Figure:
    """Return a flow chart with the stages from top to bottom and those who left beside them."""
    import altair as alt

    from analysis import charts

    boxes: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    arrows: list[dict[str, Any]] = []
    top = 0.0
    for index, (name, reached, left) in enumerate(stages):
        bottom = top + BOX
        boxes.append({"x": 0, "x2": MAIN, "y": top, "y2": bottom, "fill": tokens.colour("words")})
        lines.append({"x": MAIN / 2, "y": top + LINE, "text": name, "align": "center", "weight": "normal"})
        lines.append({"x": MAIN / 2, "y": top + 2 * LINE, "text": f"n = {reached:,}", "align": "center",
                      "weight": "bold"})  # fmt: skip
        below = bottom + GAP
        if left:
            beside, height = bottom + MARGIN / 2, LINE * (len(left) + 1) + MARGIN
            boxes.append({"x": WIDTH - SIDE, "x2": WIDTH, "y": beside, "y2": beside + height, "fill": charts.CARD})
            texts = [f"Left: {sum(left.values()):,}", *(f"{why}: {number:,}" for why, number in left.items())]
            lines += [{"x": WIDTH - SIDE + 10, "y": beside + TOP_LINE + LINE * row, "text": words, "align": "left",
                       "weight": "normal" if row else "bold"} for row, words in enumerate(texts)]  # fmt: skip
            middle = beside + height / 2
            arrows.append({"x": MAIN / 2, "x2": WIDTH - SIDE, "y": middle, "y2": middle})
            below = beside + height + MARGIN
        if index + 1 < len(stages):
            arrows.append({"x": MAIN / 2, "x2": MAIN / 2, "y": bottom, "y2": below})
        top = below
    # There is no side column if no one left.
    width, height = max(box["x2"] for box in boxes), max(box["y2"] for box in boxes)
    x, y = alt.Scale(domain=[0, width], nice=False), alt.Scale(domain=[height, 0], nice=False, zero=False)

    def layer(rows: list[dict[str, Any]]) -> Any:
        chart = alt.Chart(alt.Data(values=rows))
        return chart.encode(x=alt.X("x:Q", scale=x, axis=None), y=alt.Y("y:Q", scale=y, axis=None))

    layers = [
        layer(arrows).mark_rule(color=charts.QUIET, strokeWidth=1.3).encode(x2="x2", y2="y2"),
        layer(boxes).mark_rect(stroke=charts.QUIET, strokeWidth=1).encode(
            x2="x2", y2="y2", fill=alt.Fill("fill:N", scale=None, legend=None)),
        *(layer(rows).mark_text(align=align, fontSize=13, fontWeight=weight, baseline="middle", color=charts.INK)
          .encode(text="text:N")
          for align in ("center", "left") for weight in ("normal", "bold")
          if (rows := [line for line in lines if (line["align"], line["weight"]) == (align, weight)])),
    ]  # fmt: skip
    summary = "; ".join(
        f"{name} {reached:,}" + "".join(f", {number:,} {why}" for why, number in left.items())
        for name, reached, left in stages
    )
    return charts.figure_from_chart(
        "flow", "Flow", alt.layer(*layers).properties(width=width, height=height),
        alt_text=f"Flow chart of {len(stages)} stages with those who left: {summary}.",
    )  # fmt: skip


ANALYSES = [run]
