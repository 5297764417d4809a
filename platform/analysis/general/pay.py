"""general.pay: what people earned."""

from __future__ import annotations

from typing import Any

import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import estimates, level_text
from analysis.general.people import unit_of
from analysis.options import Options
from analysis.results import Result, analysis
from analysis.tables import NUMBERS, Chart, Table, count, number, records, text
from analysis.toolbox import pearson
from analysis.toolbox.numbers import finite

MEASURES = {"base": "Base", "bonus": "Bonus", "total": "Total", "hourly": "Per hour"}
NUMBER_NAMES = {**{key: title.lower() for key, title in MEASURES.items()}, "total": "together"}
"""Names of the measures in results.json, which never change."""


@analysis(
    "general.pay", "Pay", "What did people earn, and how closely does the bonus follow the payoff?",
    "Means over participations, with standard errors from leaving out one independent unit at a time (CR3); "
    "Pearson's correlation with Fisher's z interval for the number of units. People who met are one unit.",
    needs="people", columns={"payments": ["participant", "reason", "amount", "currency"]},
)  # fmt: skip
def run(data: Data, options: Options) -> Result:
    rows: list[dict[str, Any]] = []
    charts: list[Chart] = []
    numbers: dict[str, Any] = {}
    warnings: list[str] = []
    people, announced = _people(data), _announced(data)
    for currency, subset in people.groupby("currency"):
        is_small = len(subset) < options.min_group
        if is_small:
            warnings.append(f"Hourly pay of fewer than {options.min_group} people is not shown ({currency}).")
        for key, title in MEASURES.items():
            rows_of = subset[subset[key].notna()].assign(what=title)
            if not len(rows_of) or (key == "hourly" and is_small):
                continue
            found = estimates(rows_of.astype({key: "float64"}), ["what"], key, share=False, level=options.level,
                              bounds=(0, None))  # fmt: skip
            rows.append({"currency": currency, "people": len(rows_of), **records(found)[0]})
            numbers[f"{NUMBER_NAMES[key]} ({currency})"] = {key: rows[-1][key] for key in NUMBERS if key in rows[-1]}
        if announced is not None:
            rows.append({"currency": currency, "what": "Announced average bonus", "estimate": announced})
        both = subset.dropna(subset=["bonus", "payoff"])
        correlation = pearson(both["bonus"].tolist(), both["payoff"].tolist(), units=both["cluster"].nunique(),
                              level=options.level)  # fmt: skip
        numbers[f"bonus and payoff ({currency})"] = correlation
        what = "Correlation of bonus and payoff"
        rows.append({"currency": currency, "what": what, "clusters": both["cluster"].nunique(), "method": "Fisher's z",
                     **correlation, "people": correlation["n"]})  # fmt: skip
        if not is_small:
            name = f"bonus_{level_text(currency).lower()}" if people["currency"].nunique() > 1 else "bonus"
            marks = {"mean": float(subset["bonus"].mean())} | ({} if announced is None else
                                                              {"announced average": announced})  # fmt: skip
            charts.append(Chart("histogram", "bonus", rows=subset, name=name, title="Bonuses", lines=marks,
                                titles={"x": f"Bonus ({currency})", "y": "People"}))  # fmt: skip
    if not rows:
        raise SkippedError("The dataset has no payments.")
    table = Table(
        "pay", "What people earned",
        [text("currency", "Currency"), text("what", "What"), count("people", "People"), number("estimate", "Mean"),
         "low", "high", "p", "clusters", "method", "median", number("smallest", "Smallest"),
         number("largest", "Largest"), "note"],
        pd.DataFrame(rows),
        charts=charts,
    )  # fmt: skip
    return Result([table], numbers=numbers, n={"people": len(people)}, warnings=warnings)


def _people(data: Data) -> pd.DataFrame:
    """Return one row per participant and currency with base, bonus, total, hourly and payoff."""
    payoff = ["payoff"] if data.has("payments", "payoff") else []
    payments = data.table("payments", ["participant", "reason", "amount", "currency", *payoff])
    if not len(payments):
        raise SkippedError("The dataset has no payments.")
    base = payments["amount"].where(payments["reason"] == "base", 0.0)
    payments = payments.assign(base=base, bonus=payments["amount"].where(payments["reason"] != "base", 0.0))
    people = payments.reindex(columns=[*payments, *({"payoff"} - set(payments))]).groupby(
        ["participant", "currency"], as_index=False
    ).agg(base=("base", "sum"), bonus=("bonus", "sum"), total=("amount", "sum"), payoff=("payoff", "max"))  # fmt: skip
    people = people.assign(hourly=float("nan"), cluster=unit_of(data, people["participant"]).astype("str"))
    if data.has("participants", "participant", "arrived_at", "ended_at"):
        times = data.table("participants", ["participant", "arrived_at", "ended_at"])
        hours = (times["ended_at"] - times["arrived_at"]).dt.total_seconds() / 3600
        if data.has("participants", "seconds"):  # the dataset's points in time are cut
            hours = (data.column("participants", "seconds") / 3600).fillna(hours)
        hours = hours.where(hours > 0).groupby(times["participant"]).first()
        people["hourly"] = people["total"] / people["participant"].map(hours)
    return people


def _announced(data: Data) -> float | None:
    """Return the mean over cells of the announced average bonus."""
    if not data.has("cells", "announced_average"):
        return None
    return finite(data.column("cells", "announced_average").astype("float64").mean())


ANALYSES = [run]
