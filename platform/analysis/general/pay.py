"""general.pay: what people earned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis import charts
from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import level_text
from analysis.results import Analysis, Figure, Options, Result, Table, count, estimate_columns, number, text
from analysis.toolbox import mean, pearson

if TYPE_CHECKING:
    import pandas as pd

MEASURES = {"base": "Base", "bonus": "Bonus", "total": "Total", "hourly": "Per hour"}
NUMBER_NAMES = {**{key: title.lower() for key, title in MEASURES.items()}, "total": "together"}
"""Names of the measures in results.json, which never change."""


def run(data: Data, options: Options) -> Result:
    """Return base pay, bonus, total and hourly pay in each currency."""
    rows, figures, numbers, warnings = [], [], {}, []
    people, announced = _people(data), _announced(data)
    for currency, subset in people.groupby("currency", sort=True):
        several_currencies = people["currency"].nunique() > 1
        is_small = len(subset) < options.min_group
        if is_small:
            warnings.append(f"Hourly pay of fewer than {options.min_group} people is not shown ({currency}).")
        for key, title in MEASURES.items():
            values = subset[key].dropna().astype(float)
            if not len(values) or (key == "hourly" and is_small):
                continue
            persons = subset["participant"].map(data.person())[values.index]
            estimate = mean(values.tolist(), clusters=persons.tolist(), level=options.level)
            rows.append(
                {
                    "currency": currency,
                    "what": title,
                    "people": len(values),
                    **estimate,
                    "median": float(values.median()),
                    "smallest": float(values.min()),
                    "largest": float(values.max()),
                }
            )
            numbers[f"{NUMBER_NAMES[key]} ({currency})"] = estimate
        if announced is not None and len(subset):
            rows.append(
                {"currency": currency, "what": "Announced average bonus", "estimate": announced, "people": None}
            )
        correlation = pearson(subset["bonus"].tolist(), subset["payoff"].tolist(), level=options.level)
        numbers[f"bonus and payoff ({currency})"] = correlation
        rows.append(
            {"currency": currency, "what": "Correlation of bonus and payoff", **correlation, "people": correlation["n"]}
        )
        if not is_small:
            figures.append(_histogram(subset, str(currency), announced, several_currencies))
    if not rows:
        raise SkippedError("The dataset has no payments.")
    columns = [
        text("currency", "Currency"),
        text("what", "What"),
        count("people", "People"),
        *estimate_columns("Mean"),
        number("median", "Median"),
        number("smallest", "Smallest"),
        number("largest", "Largest"),
    ]
    return Result(
        [Table("pay", "What people earned", columns, rows)],
        [f for f in figures if f],
        numbers,
        n={"people": len(people)},
        warnings=warnings,
    )


def _people(data: Data) -> pd.DataFrame:
    """Return one row per participant and currency with base, bonus, total, hourly and payoff."""
    import numpy as np

    names = ["participant", "reason", "amount", "currency"]
    frame = data.table("payments", [*names, *(["payoff"] if data.has("payments", "payoff") else [])])
    if not len(frame):
        raise SkippedError("The dataset has no payments.")
    base = frame["reason"] == "base"
    frame["base"], frame["bonus"] = frame["amount"].where(base, 0.0), frame["amount"].where(~base, 0.0)
    frame["payoff"] = frame.get("payoff", np.nan)
    people = frame.groupby(["participant", "currency"], as_index=False).agg(
        base=("base", "sum"), bonus=("bonus", "sum"), total=("amount", "sum"), payoff=("payoff", "max")
    )
    people["hourly"] = np.nan
    if data.has("participants", "participant", "arrived_at", "ended_at"):
        times = data.table("participants", ["participant", "arrived_at", "ended_at"])
        hours = (times["ended_at"] - times["arrived_at"]).dt.total_seconds() / 3600
        if data.has("participants", "seconds"):  # the dataset's points in time are cut
            hours = (data.table("participants", ["seconds"])["seconds"] / 3600).fillna(hours)
        hours = hours.where(hours > 0).set_axis(times["participant"])
        people["hourly"] = people["total"] / people["participant"].map(hours[~hours.index.duplicated()])
    return people


def _announced(data: Data) -> float | None:
    """Return the mean over cells of the announced average bonus."""
    if not data.has("cells", "announced_average"):
        return None
    averages = data.column("cells", "announced_average").dropna()
    return float(averages.mean()) if len(averages) else None


def _histogram(subset: pd.DataFrame, currency: str, announced: float | None, several_currencies: bool) -> Figure:
    marks: dict[str, float] = {"mean": float(subset["bonus"].mean())}
    if announced is not None:
        marks["announced average"] = announced
    name = f"bonus_{level_text(currency).lower()}" if several_currencies else "bonus"
    return charts.histogram(
        name, "Bonuses", subset["bonus"], x_title=f"Bonus ({currency})", y_title="People", marks=marks
    )


ANALYSES = [
    Analysis(
        id="general.pay",
        title="Pay",
        question="What did people earn, and how closely does the bonus follow the payoff?",
        method="Means over participations with t intervals clustered by person; Pearson's correlation with Fisher's z "
        "interval.",
        needs="people",
        columns={"payments": ["participant", "reason", "amount", "currency"]},
        run=run,
    )
]
