"""general.rounds: changes over the rounds."""

from __future__ import annotations

from typing import Any

import pandas as pd

from analysis.data import OUTCOMES, Data
from analysis.errors import SkippedError
from analysis.frames import EXPLORATORY, UNITS, estimates, with_dependence, with_q
from analysis.options import Options
from analysis.results import Result, analysis
from analysis.tables import Chart, Table, count, number, text
from analysis.toolbox.effects import within

ROUND_COLUMNS = ("round", "run", "period", "month", "day", "item", "auction")
"""Names that games give to the column of the rounds' table that numbers the rounds."""
NOT_OUTCOMES = ("match", "row", "role", "dataset")
MAX_ROUNDS = 120


@analysis(
    "general.rounds", "Rounds", "How do outcomes change over the rounds?",
    "Means by round; slopes from OLS on round and match dummies; standard errors from leaving out one "
    f"independent unit at a time (CR3). {UNITS} P-values with q-values (Benjamini and Hochberg).",
    columns={"matches": ["match"]},
)  # fmt: skip
def run(data: Data, options: Options) -> Result:
    rounds, table, outcomes = _rounds(data)
    if rounds is None:
        raise SkippedError("Neither rounds nor moves have numeric values for each round.")
    means, slopes = [], []
    for name in outcomes:
        heading, share = data.heading(name, table), data.kind(table, name) == "boolean"
        rows = estimates(rounds, ["round"], name, share=share, level=options.level, bounds=data.range(table, name))
        means.append(rows[rows["n"] > 0].sort_values("round").assign(
            outcome=heading, key=name, measure="share" if share else "mean"))  # fmt: skip
        slopes.append({"outcome": heading, "key": name, **_slope(rounds, name, options.level)})
    by_round = pd.concat(means, ignore_index=True)
    has_several_rounds = rounds["round"].nunique() > 1
    slopes_frame = pd.DataFrame(slopes)
    tables = [
        Table(
            "means", "Means by round",
            ["outcome", count("round", "Round"), text("measure", "Measure"), "n", "clusters",
             number("estimate", "Mean"), "low", "high", "method", "note"],
            by_round.sort_values(["outcome", "round"], kind="stable"),
            charts=[Chart("lines", name="rounds", x="round", facet="outcome", titles={"y": "Mean or share"},
                        rows=by_round[by_round["round"] <= MAX_ROUNDS], most={"facet": 8})]
            if has_several_rounds else [],
        ),
        Table(
            "slopes", "Change per round within a match",
            ["outcome", number("estimate", "Slope"), "se", "low", "high", "p", "q", "n", "clusters", "method", "note"],
            with_q(slopes_frame[slopes_frame["estimate"].notna()]),
            note=EXPLORATORY,
        ),
    ]  # fmt: skip
    return Result(tables, numbers=tables[1].numbers("slope of {key}"),
                  n={"clusters": int(rounds["cluster"].nunique())})  # fmt: skip


def _rounds(data: Data) -> tuple[pd.DataFrame | None, str, list[str]]:
    """Return rows with match, cluster, round and outcomes, from the rounds table or else from numbers in moves."""
    for table, names in (("rounds", ROUND_COLUMNS), ("decisions", ("round",))):
        numbered = next((name for name in names if data.has(table, "match", name)), None)
        if numbered is None or data.kind(table, numbered) not in ("number", "integer"):
            continue
        others = (*NOT_OUTCOMES, numbered, "move_number", "number")
        outcomes = [
            name for name in data.names(table)
            if name not in others and (table == "rounds" or name.startswith("move_"))
            and data.kind(table, name) in OUTCOMES and data.column(table, name).notna().any()
        ]  # fmt: skip
        rounds = data.table(table, ["match", numbered, *outcomes]).rename(columns={numbered: "round"})
        rounds = rounds[rounds["round"].notna()]
        if outcomes and len(rounds):
            rounds = rounds.astype({"round": "int64", **dict.fromkeys(outcomes, "float64")})
            return with_dependence(data, rounds), table, outcomes
    return None, "", []


def _slope(rounds: pd.DataFrame, name: str, level: float) -> dict[str, Any]:
    """Return OLS of the outcome on round and match dummies, over units; no estimate if no match has several rounds."""
    rows = rounds[rounds[name].notna()]
    columns = (rows[column].to_numpy() for column in ("round", name, "match", "cluster"))
    return within(*columns, level=level, exact=bool(rows["replay"].notna().all()))


ANALYSES = [run]
