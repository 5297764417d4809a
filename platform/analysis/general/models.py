"""general.models: calls to language models, with tokens, cost and times."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import median_interval, quantiles, with_dependence
from analysis.options import Options
from analysis.results import Result, analysis
from analysis.tables import Chart, Table, count, number, share, text
from analysis.toolbox.dependence import FEWEST_UNITS
from analysis.toolbox.resampling import bootstrap_ratio

TIMES = {"latency": "Full answer", "first_text": "First words"}
TOKENS = ("input_tokens", "output_tokens", "cached_tokens")
QUANTILES = {"q1": 0.25, "median": 0.5, "q3": 0.75, "p90": 0.9}


@analysis(
    "general.models", "Language models", "How many tokens and how much money and time did model calls take?",
    "Totals by model; quantiles of the calls' durations in seconds; intervals by bootstrap over independent "
    "units.",
    needs="agents", columns={"llm_calls": ["match", "model"]},
)  # fmt: skip
def run(data: Data, options: Options) -> Result:
    names = ["match", "model", "outcome", *TOKENS, "cost", *TIMES]
    calls = data.table("llm_calls", [name for name in names if data.has("llm_calls", name)])
    if not len(calls):
        raise SkippedError("No language model was called.")
    calls["model"] = calls["model"].fillna("unknown").astype("str")
    calls = with_dependence(data, calls)
    models = Table(
        "models", "Calls to language models",
        ["model", count("calls", "Calls"), count("matches", "Matches"), count("input_tokens", "Input tokens"),
         count("output_tokens", "Output tokens"), number("cost", "Cost", "$"),
         number("cost_per_match", "Cost per match"), "low", "high", "clusters",
         number("cost_per_move", "Cost per decision"), share("priced", "Calls with known price")],
        _totals(calls, options),
        note="All costs, including those per match and per decision, cover only calls with a known price. Low and "
        "high: interval of the cost per match, by bootstrap over independent units.",
    )  # fmt: skip
    times = Table(
        "times", "Duration of calls, in seconds",
        ["model", text("what", "Time to"), count("n", "Calls"), "q1", number("median", "Median"), "low", "high", "q3",
         number("p90", "90 %"), "clusters"],
        _times(calls, options),
        note="Low and high: interval of the median, by bootstrap over independent units.",
        charts=[Chart("dots", x="median", low="q1", high="p90", y="model", facet="what", titles={"x": "Seconds"},
                    title="Duration of calls in seconds: median, with 25 % and 90 % quantiles")],
    )  # fmt: skip
    numbers = {f"{row['model']}: cost": {"estimate": row["cost"], "n": row["calls"]} for row in models.records}
    kept = ("low", "high", "clusters")
    numbers |= {f"{row['model']}: cost per match": {"estimate": row["cost_per_match"], "n": row["matches"],
                                                    **{key: row[key] for key in kept}, "method": "bootstrap"}
                for row in models.records}  # fmt: skip
    numbers |= {f"{row['model']}: {row['what'].lower()}": {"estimate": row["median"], "n": row["n"],
                                                           **{key: row[key] for key in kept}, "method": "bootstrap"}
                for row in times.records}  # fmt: skip
    return Result([models, times], numbers=numbers, n={"calls": len(calls)})


def _totals(calls: pd.DataFrame, options: Options) -> pd.DataFrame:
    cost = calls["cost"] if "cost" in calls else calls["match"].map(lambda _match: float("nan"))
    moves = calls["outcome"] == "move" if "outcome" in calls else cost.isna() & False
    by_model = calls.assign(priced=cost.notna(), moves=moves & cost.notna()).groupby("model")
    rows = by_model.agg(
        calls=("match", "size"), matches=("match", "nunique"), **{n: (n, "sum") for n in TOKENS if n in calls},
        priced=("priced", "mean"), moves=("moves", "sum"),
    )  # fmt: skip
    rows["cost"] = cost.groupby(calls["model"]).sum(min_count=1)
    rows["cost_per_match"] = rows["cost"] / calls[cost.notna()].groupby("model")["match"].nunique()
    rows["cost_per_move"] = rows["cost"] / rows.pop("moves").where(lambda moves: moves > 0)
    priced = calls.assign(cost=cost)[cost.notna()]
    of_match = priced.groupby(["model", "match", "cluster"])["cost"].sum().reset_index()
    for model, costs in of_match.groupby("model"):
        found = bootstrap_ratio(costs["cost"], [1.0] * len(costs), costs["cluster"], options.draws, options.seed,
                                level=options.level)  # fmt: skip
        enough = found["clusters"] >= FEWEST_UNITS
        rows.loc[model, ["low", "high"]] = [found["low"], found["high"]] if enough else [np.nan, np.nan]
        rows.loc[model, "clusters"] = found["clusters"]
    return rows.reset_index()


def _times(calls: pd.DataFrame, options: Options) -> pd.DataFrame:
    parts = []
    for name, title in TIMES.items():
        known = calls[calls[name].notna()] if name in calls else calls[:0]
        if not len(known):
            continue
        ends = pd.DataFrame([
            {"model": model, "clusters": rows["cluster"].nunique(), **dict(zip(("low", "high"), median_interval(
                rows[name].to_numpy(dtype=float), rows["cluster"].to_numpy(), draws=options.draws, seed=options.seed,
                level=options.level), strict=True))}
            for model, rows in known.groupby("model")
        ])  # fmt: skip
        parts.append(quantiles(known, ["model"], name, QUANTILES).merge(ends, on="model").assign(what=title))
    return pd.concat([pd.DataFrame(columns=["model", "what", "n", *QUANTILES]), *parts], ignore_index=True)


ANALYSES = [run]
