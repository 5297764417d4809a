"""general.rounds: changes over the rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import UNITS, add_holm, estimates, with_dependence
from analysis.results import NOTE, Analysis, Options, Result, Table, count, estimate_columns, number, p_value, text
from analysis.toolbox.effects import within

if TYPE_CHECKING:
    import pandas as pd

ROUND_COLUMNS = ("round", "run", "period", "month", "day", "item", "auction")
"""Names that games give to the column of rounds.csv that numbers the rounds."""
NOT_OUTCOMES = ("match", "row", "role", "dataset")
PANELS = 8
MAX_ROUNDS = 120


def run(data: Data, options: Options) -> Result:
    """Return means by round with intervals over independent units, and slopes within matches."""
    frame, outcomes = _rows(data)
    if not outcomes:
        raise SkippedError("Neither rounds nor moves have numeric values for each round.")
    means, slopes = [], []
    shares = {name for table, name in outcomes if data.kind(table, name) == "boolean"}
    for table, name in outcomes:
        heading = data.heading(name, table)
        for row in estimates(frame, ["round"], name, share=name in shares, level=options.level).to_dict("records"):
            if row["n"]:
                means.append({"outcome": heading, "key": name, "measure": "share" if name in shares else "mean", **row})
        slope = _slope(frame, name, options.level)
        if slope:
            slopes.append({"outcome": heading, "key": name, **slope})
    means.sort(key=lambda row: (row["outcome"], row["round"]))
    add_holm(slopes)
    shown_headings = [data.heading(name, table) for table, name in outcomes][:PANELS]
    suffix = f": the first {PANELS} of {len(outcomes)} outcomes" if len(outcomes) > PANELS else ""
    drawn = [row for row in means if row["outcome"] in shown_headings and row["round"] <= MAX_ROUNDS]
    drawn.sort(key=lambda row: shown_headings.index(row["outcome"]))
    has_several_rounds = frame["round"].nunique() > 1
    figure = charts.lines(
        "rounds", f"Means by round{suffix}", drawn, x="round", facet="outcome", x_title="Round", y_title="Mean or share"
    )
    tables = [
        Table(
            "means",
            "Means by round",
            [
                text("outcome", "Outcome"),
                count("round", "Round"),
                text("measure", "Measure"),
                count("n", "n"),
                count("clusters", "Units"),
                *estimate_columns("Mean"),
                NOTE,
            ],
            means,
        ),
        Table(
            "slopes",
            "Change per round within a match",
            [
                text("outcome", "Outcome"),
                number("estimate", "Slope"),
                number("se", "SE"),
                number("low", "Low"),
                number("high", "High"),
                p_value(),
                p_value("p_holm", "p, Holm"),
                count("n", "n"),
                count("clusters", "Units"),
                NOTE,
            ],
            slopes,
        ),
    ]
    numbers = {
        f"slope of {row['key']}": {
            k: row[k] for k in ("estimate", "se", "low", "high", "p", "n", "clusters", "df", "method", "note")
        }
        for row in slopes
    }
    return Result(
        tables, [figure] if has_several_rounds else [], numbers, n={"clusters": int(frame["cluster"].nunique())}
    )


def _rows(data: Data) -> tuple[pd.DataFrame, list[tuple[str, str]]]:
    """Return rows with match, cluster, round and outcomes, from the rounds table or else from numbers in moves."""
    for table, names in (("rounds", ROUND_COLUMNS), ("decisions", ("round",))):
        round_column = next((name for name in names if data.has(table, "match", name)), None)
        if round_column is None or data.kind(table, round_column) not in ("number", "integer"):
            continue
        not_outcomes = (*NOT_OUTCOMES, round_column, "move_number", "number")
        outcomes = [
            name
            for name in data.names(table)
            if name not in not_outcomes
            and (table == "rounds" or name.startswith("move_"))
            and data.kind(table, name) in ("number", "integer", "boolean")
            and data.column(table, name).notna().any()
        ]
        frame = data.table(table, ["match", round_column, *outcomes]).rename(columns={round_column: "round"})
        frame = frame[frame["round"].notna()]
        if outcomes and len(frame):
            frame = frame.astype({"round": "int64", **dict.fromkeys(outcomes, "float64")})
            return with_dependence(data, frame), [(table, name) for name in outcomes]
    return data.table("matches", ["match"]), []


def _slope(frame: pd.DataFrame, name: str, level: float) -> dict[str, Any] | None:
    """Return OLS of the outcome on round and match dummies, over units; None if no match has several rounds."""
    rows = frame[frame[name].notna()]
    columns = (rows[column].to_numpy() for column in ("round", name, "match", "cluster"))
    slope = within(*columns, level=level, exact=bool(rows["replay"].notna().all()))
    return slope if slope["estimate"] is not None else None


ANALYSES = [
    Analysis(
        id="general.rounds",
        title="Rounds",
        question="How do outcomes change over the rounds?",
        method=(
            "Means by round; slopes from OLS on round and match dummies; standard errors from leaving out one "
            f"independent unit at a time (CR3). {UNITS} P-values raw and Holm-adjusted."
        ),
        columns={"matches": ["match"]},
        run=run,
    )
]
