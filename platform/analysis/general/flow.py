"""general.flow: how many participants reached each stage, and why the others left."""

from __future__ import annotations

from typing import Any

from analysis import charts, tokens
from analysis.data import Data
from analysis.errors import SkippedError
from analysis.report import STAGES, reason
from analysis.results import Analysis, Figure, Options, Result, Table, count, estimate_columns, share, text
from analysis.toolbox import proportion

WIDTH, MAIN, SIDE, GAP, LINE = 640, 250, 300, 26, 17


def run(data: Data, options: Options) -> Result:
    """Return the stages with reasons for leaving, for people, or for matches if only agents played."""
    flow = data.flow_counts
    stages = [stage for stage in flow["stages"] if flow["arrived"]]
    if not stages:
        counts = flow["matches"]
        if not counts["seen"]:
            raise SkippedError("The manifest lists no people and no matches.")
        stages = [
            {"stage": "Matches", "reached": counts["seen"], "left": counts["excluded"]},
            {"stage": "in_dataset", "reached": counts["in_dataset"], "left": {}},
        ]
    rows: list[dict[str, Any]] = []
    for stage in stages:
        name = STAGES.get(stage["stage"], stage["stage"])
        reaching_share = proportion(stage["reached"], stages[0]["reached"], level=options.level)
        rows.append({"stage": name, "what": "reached", **reaching_share, "number": stage["reached"]})
        for reason_key, number in sorted(stage["left"].items(), key=lambda item: (-item[1], item[0])):
            leaving_share = proportion(number, stage["reached"], level=options.level)
            rows.append({"stage": name, "what": reason(reason_key), **leaving_share, "number": number})
    columns = [
        text("stage", "Stage"), text("what", "What"), count("number", "Number"), count("n", "Of"),
        *estimate_columns("Share", share),
    ]  # fmt: skip
    note = "For reaching a stage, shares refer to all arrivals; for leaving at a stage, to those who reached it."
    table = Table("stages", "Participants by stage, and why the others left", columns, rows, note=note)
    numbers = {
        f"{row['stage']}: {row['what']}": {k: row.get(k) for k in ("estimate", "low", "high", "n")} for row in rows
    }
    return Result([table], [_figure(stages)], numbers, n={"people": flow["arrived"]} if flow["arrived"] else {})


@charts.unvalidated
def _figure(stages: list[dict[str, Any]]) -> Figure:
    """Return a flow chart with the stages from top to bottom and those who left beside them."""
    import altair as alt

    boxes, texts, arrows, top = [], [], [], 0.0
    for index, stage in enumerate(stages):
        name = STAGES.get(stage["stage"], stage["stage"])
        bottom = top + 46
        boxes.append({"x": 0, "x2": MAIN, "y": top, "y2": bottom, "fill": tokens.colour("words")})
        texts.append({"x": MAIN / 2, "y": top + 17, "text": name, "at": "middle", "bold": False})
        texts.append({"x": MAIN / 2, "y": top + 34, "text": f"n = {stage['reached']:,}", "at": "middle", "bold": True})
        leavers = sorted(stage["left"].items(), key=lambda item: (-item[1], item[0]))
        below = bottom + GAP
        if leavers:
            height = LINE * (len(leavers) + 1) + 12
            box_top = bottom + 6
            boxes.append({"x": WIDTH - SIDE, "x2": WIDTH, "y": box_top, "y2": box_top + height, "fill": charts.CARD})
            total = sum(number for _reason_key, number in leavers)
            for line, line_text in enumerate(
                [f"Left: {total:,}", *(f"{reason(reason_key)}: {number:,}" for reason_key, number in leavers)]
            ):
                texts.append(
                    {
                        "x": WIDTH - SIDE + 10,
                        "y": box_top + 15 + LINE * line,
                        "text": line_text,
                        "at": "left",
                        "bold": not line,
                    }
                )
            arrows.append({"x": MAIN / 2, "x2": WIDTH - SIDE, "y": box_top + height / 2, "y2": box_top + height / 2})
            below = box_top + height + 12
        if index + 1 < len(stages):
            arrows.append({"x": MAIN / 2, "x2": MAIN / 2, "y": bottom, "y2": below})
        top = below
    height = max(box["y2"] for box in boxes)
    width = max(box["x2"] for box in boxes)  # there is no side column if no one left
    x, y = alt.Scale(domain=[0, width], nice=False), alt.Scale(domain=[height, 0], nice=False, zero=False)

    def layer(rows: list[dict[str, Any]]) -> Any:
        chart = alt.Chart(alt.Data(values=rows))
        return chart.encode(x=alt.X("x:Q", scale=x, axis=None), y=alt.Y("y:Q", scale=y, axis=None))

    def labels(rows: list[dict[str, Any]], align: Any, weight: Any) -> Any:
        return (
            layer(rows)
            .mark_text(align=align, fontSize=13, fontWeight=weight, baseline="middle", color=charts.INK)
            .encode(text="text:N")
        )

    layers = [
        layer(arrows).mark_rule(color=charts.QUIET, strokeWidth=1.3).encode(x2="x2", y2="y2"),
        layer(boxes).mark_rect(stroke=charts.QUIET, strokeWidth=1).encode(
            x2="x2", y2="y2", fill=alt.Fill("fill:N", scale=None, legend=None)),
    ]  # fmt: skip
    for align in ("middle", "left"):
        for is_bold in (False, True):
            rows = [row for row in texts if row["at"] == align and row["bold"] is is_bold]
            if rows:
                layers.append(labels(rows, "center" if align == "middle" else "left", "bold" if is_bold else "normal"))
    summary = "; ".join(
        f"{STAGES.get(stage['stage'], stage['stage'])} {stage['reached']:,}"
        + "".join(f", {number:,} {reason(reason_key)}" for reason_key, number in stage["left"].items())
        for stage in stages
    )
    return charts.figure_from_chart("flow", "Flow", alt.layer(*layers).properties(width=width, height=height),
                           alt_text=f"Flow chart of {len(stages)} stages with those who left: {summary}.")  # fmt: skip


ANALYSES = [
    Analysis(
        id="general.flow",
        title="Flow",
        question="How many participants reached each stage, and why did the others leave?",
        method="Counts from the dataset's manifest; shares with Wilson intervals.",
        run=run,
    )
]
