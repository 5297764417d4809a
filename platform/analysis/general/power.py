"""general.power: the differences that a study of this size can detect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import units
from analysis.results import Analysis, Options, Result, Table, count, number, text
from analysis.toolbox import mde

if TYPE_CHECKING:
    import pandas as pd

POWERS = (0.8, 0.9)
SIZES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
"""Points of the curve, as multiples of the dataset's size."""
PANELS = 8


def run(data: Data, options: Options) -> Result:
    """Return the minimum detectable effect on each outcome of every factor with two levels."""
    rows: list[dict[str, Any]] = []
    curve: list[dict[str, Any]] = []
    for unit in units(data):
        for outcome, heading in unit.outcomes.items():
            observed = unit.frame[unit.frame[outcome].notna()]
            for factor in unit.factors:
                sizes = observed[factor].value_counts()
                if len(sizes) != 2:
                    continue
                sd = _pooled_sd(observed, unit.factors, outcome)
                if sd is None or sd <= 0:
                    continue
                icc, cluster_size = _icc(observed, outcome)
                first, second = (int(n) for n in sizes.tolist())
                labels = {"outcome": heading, "factor": unit.heading(factor), "key": outcome}
                effects = {
                    f"mde_{power * 100:.0f}": mde(sd, first, second, 1 - options.level, power, icc, cluster_size)[
                        "estimate"
                    ]
                    for power in POWERS
                }
                rows.append(
                    {
                        **labels,
                        "n1": first,
                        "n2": second,
                        "sd": sd,
                        "icc": icc,
                        "cluster_size": cluster_size,
                        **effects,
                    }
                )
                if factor == next(f for f in unit.factors if observed[f].nunique() == 2):
                    for multiple in SIZES:
                        smallest = mde(
                            sd, first * multiple, second * multiple, 1 - options.level, 0.8, icc, cluster_size
                        )
                        curve.append(
                            {
                                "outcome": heading,
                                "n": round((first + second) * multiple),
                                "estimate": smallest["estimate"],
                            }
                        )
    if not rows:
        raise SkippedError("No factor has exactly two levels in which outcomes vary.")
    columns = [
        text("outcome", "Outcome"),
        text("factor", "Factor"),
        count("n1", "n, larger level"),
        count("n2", "n, smaller level"),
        number("sd", "SD within cells"),
        number("icc", "ICC"),
        number("cluster_size", "Cluster size"),
        number("mde_80", "MDE, 80 % power"),
        number("mde_90", "MDE, 90 % power"),
    ]
    outcomes = list(dict.fromkeys(row["outcome"] for row in curve))
    suffix = f": the first {PANELS} of {len(outcomes)} outcomes" if len(outcomes) > PANELS else ""
    figure = charts.lines(
        "curve",
        f"Minimum detectable effect at 80 % power{suffix}",
        [row for row in curve if row["outcome"] in outcomes[:PANELS]],
        x="n",
        facet="outcome",
        x_title="Observations",
        y_title="Difference",
    )
    numbers = {
        f"{row['key']}: {row['factor']}": {"estimate": row["mde_80"], "n": row["n1"] + row["n2"]} for row in rows
    }
    note = "Effects are in units of the outcome; the design effect is 1 + (cluster size − 1) · ICC."
    return Result([Table("smallest", "Minimum detectable effects (MDE)", columns, rows, note=note)], [figure], numbers)


def _pooled_sd(frame: pd.DataFrame, factors: list[str], outcome: str) -> float | None:
    """Return the pooled standard deviation within cells."""
    groups = frame.groupby(factors, dropna=False)[outcome]
    df = len(frame) - groups.ngroups
    if df < 1:
        return None
    return float((((frame[outcome] - groups.transform("mean")) ** 2).sum() / df) ** 0.5)


def _icc(frame: pd.DataFrame, outcome: str) -> tuple[float, float]:
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


ANALYSES = [
    Analysis(
        id="general.power",
        title="Power",
        question="Which differences can a study of this size detect?",
        method=(
            "Minimum detectable effect: the difference between two levels that a two-sided t test detects with 80 % "
            "or 90 % power, given the standard deviation within cells and the intra-cluster correlation."
        ),
        columns={"matches": ["match", "player_*"]},
        run=run,
    )
]
