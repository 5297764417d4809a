"""general.power: the differences that a study of this size can detect."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd

from analysis.data import OUTCOMES, Data
from analysis.errors import DataError, SkippedError
from analysis.frames import units
from analysis.general.people import participants
from analysis.options import Options
from analysis.results import Result, analysis
from analysis.tables import Chart, Table, count, number
from analysis.toolbox import mde

SIZES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
"""Points of the curve, as multiples of the dataset's size."""


@analysis(
    "general.power", "Power", "Which differences can a study of this size detect?",
    "Minimum detectable effect: the difference between two levels that a two-sided t test detects with 80 % "
    "or 90 % power, given the standard deviation within cells and the intra-cluster correlation.",
    columns={"matches": ["match", "player_*"]},
)  # fmt: skip
def run(data: Data, options: Options) -> Result:
    rows: list[dict[str, Any]] = []
    curve: list[dict[str, Any]] = []
    for unit in units(data):
        for outcome, heading in unit.outcomes.items():
            observed = unit.frame[unit.frame[outcome].notna()]
            sd, (icc, cluster_size) = pooled_sd(observed, unit.factors, outcome), correlation_within(observed, outcome)
            if sd is None:
                continue
            two_levels = [name for name in unit.factors if observed[name].nunique() == 2]
            for factor in two_levels:
                first, second = (int(n) for n in observed[factor].value_counts())
                detect = partial(mde, sd, alpha=1 - options.level, icc=icc, cluster_size=cluster_size)
                rows.append({"outcome": heading, "factor": unit.heading(factor), "key": outcome, "n1": first,
                             "n2": second, "sd": sd, "icc": icc, "cluster_size": cluster_size,
                             "mde_80": detect(n1=first, n2=second, power=0.8)["estimate"],
                             "mde_90": detect(n1=first, n2=second, power=0.9)["estimate"]})  # fmt: skip
                if factor == two_levels[0]:
                    curve += [{"outcome": heading, "n": round((first + second) * times),
                               "estimate": detect(n1=first * times, n2=second * times, power=0.8)["estimate"]}
                              for times in SIZES]  # fmt: skip
    if not rows:
        raise SkippedError("No factor has exactly two levels in which outcomes vary.")
    table = Table(
        "smallest", "Minimum detectable effects (MDE)",
        ["outcome", "factor", count("n1", "n, larger level"), count("n2", "n, smaller level"),
         number("sd", "SD within cells"), number("icc", "ICC"), number("cluster_size", "Cluster size"),
         number("mde_80", "MDE, 80 % power"), number("mde_90", "MDE, 90 % power")],
        pd.DataFrame(rows),
        note="Effects are in units of the outcome; the design effect is 1 + (cluster size − 1) · ICC.",
        charts=[Chart("lines", name="curve", title="Minimum detectable effect at 80 % power", rows=curve, x="n",
                    facet="outcome", titles={"x": "Observations", "y": "Difference"}, most={"facet": 8})],
    )  # fmt: skip
    numbers = {f"{row['key']}: {row['factor']}": {"estimate": row["mde_80"], "n": row["n1"] + row["n2"]}
               for row in rows}  # fmt: skip
    return Result([table], numbers=numbers)


def pooled_sd(frame: pd.DataFrame, factors: list[str], outcome: str) -> float | None:
    """Return the pooled standard deviation within cells; None if nothing varies or every cell has one row."""
    if not factors:
        return None
    groups = frame.groupby(factors, dropna=False)[outcome]
    df = len(frame) - groups.ngroups
    return float((((frame[outcome] - groups.transform("mean")) ** 2).sum() / df) ** 0.5) or None if df > 0 else None


def correlation_within(frame: pd.DataFrame, outcome: str) -> tuple[float, float]:
    """Return the intra-cluster correlation from a one-way ANOVA (at least 0), and the mean cluster size."""
    groups = frame.groupby("cluster")[outcome]
    sizes = groups.size()
    n, k = len(frame), len(sizes)
    if k < 2 or n <= k:
        return 0.0, n / max(k, 1)
    between = float((sizes * (groups.mean() - frame[outcome].mean()) ** 2).sum()) / (k - 1)
    within = float(((frame[outcome] - groups.transform("mean")) ** 2).sum()) / (n - k)
    effective_size = (n - float((sizes**2).sum()) / n) / (k - 1)
    total = between + (effective_size - 1) * within
    return (max(0.0, (between - within) / total) if total > 0 else 0.0), n / k


def spread(data: Data, stage: str, name: str) -> dict[str, Any]:
    """Return the spread of an outcome within cells: sd, icc (of dependent rows), n and units.

    Args:
        stage: of the plan; if the dataset has no such stage, all matches are taken.
        name: of a result or question.

    Raises:
        DataError: the dataset has no such outcome, or it does not vary.
    """
    frame, factors, column = _rows_of(data, stage, name)
    known = frame[frame[column].notna()]
    sd = pooled_sd(known, factors or ["cell"], column) if len(known) else None
    if sd is None:
        raise DataError(f"“{name}” does not vary within the cells of the dataset.")
    cells = known.groupby(factors or ["cell"], dropna=False)[column]
    icc, _size = correlation_within(known.assign(**{column: known[column] - cells.transform("mean")}), column)
    return {"sd": sd, "icc": icc, "n": len(known), "units": int(known["cluster"].nunique())}


def _rows_of(data: Data, stage: str, name: str) -> tuple[pd.DataFrame, list[str], str]:
    """Return rows with an outcome, the factors that tell cells apart, and the outcome's column."""
    for unit in reversed(units(data)):
        payoffs = [
            key
            for key in unit.outcomes
            if key.startswith("payoffs_") and f"person_of_participant_{key[9:]}" in unit.frame
        ]
        column = next((key for key in (name, *(payoffs if name == "payoff" else ())) if key in unit.outcomes), None)
        if column is not None:
            frame = unit.frame
            if data.has("matches", "stage"):
                stages = data.column("matches", "stage").set_axis(data.column("matches", "match"))
                of_stage = frame["match"].map(stages) == stage
                frame = frame[of_stage] if of_stage.any() else frame
            return frame, unit.factors, column
    asked = [column for column in data.names("participants") if column.startswith("survey_")]
    for column in asked:
        if column.endswith(f"_{name}") and data.kind("participants", column) in OUTCOMES:
            people = participants(data, column)
            return people.assign(**{column: people[column].astype("float64")}), ["arm"], column
    raise DataError(f"The dataset has no outcome “{name}”.")


ANALYSES = [run]
