"""general.models: calls to language models, with tokens, cost and times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.data import Data
from analysis.errors import SkippedError
from analysis.results import Analysis, Options, Result, Table, count, number, share, text

if TYPE_CHECKING:
    import pandas as pd

TIMES = {"latency": "Full answer", "first_text": "First words"}


def run(data: Data, options: Options) -> Result:
    """Return calls, tokens, cost and times by model."""
    names = ["match", "model", "outcome", "input_tokens", "output_tokens", "cached_tokens", "cost", *TIMES]
    frame = data.table("llm_calls", [name for name in names if data.has("llm_calls", name)])
    if not len(frame):
        raise SkippedError("No language model was called.")
    frame["model"] = frame["model"].fillna("unknown")
    rows = [_row(str(model), subset) for model, subset in frame.groupby("model", sort=True)]
    times = [
        {"model": str(model), "what": title, **_quantiles(subset[name]), "n": int(subset[name].notna().sum())}
        for name, title in TIMES.items()
        if name in frame
        for model, subset in frame.groupby("model", sort=True)
        if subset[name].notna().any()
    ]
    tables = [
        Table(
            "models",
            "Calls to language models",
            [
                text("model", "Model"),
                count("calls", "Calls"),
                count("matches", "Matches"),
                count("input_tokens", "Input tokens"),
                count("output_tokens", "Output tokens"),
                number("cost", "Cost ($)"),
                number("cost_per_match", "Cost per match"),
                number("cost_per_move", "Cost per decision"),
                share("priced", "Calls with known price"),
            ],
            rows,
            note="All costs, including those per match and per decision, cover only calls with a known price.",
        ),
        Table(
            "times",
            "Duration of calls, in seconds",
            [
                text("model", "Model"),
                text("what", "Time to"),
                count("n", "Calls"),
                number("q1", "25 %"),
                number("median", "Median"),
                number("q3", "75 %"),
                number("p90", "90 %"),
            ],
            times,
        ),
    ]
    figures = []
    if times:
        dots = [{**row, "estimate": row["median"], "low": row["q1"], "high": row["p90"]} for row in times]
        figures.append(
            charts.dots(
                "times",
                "Duration of calls in seconds: median, with 25 % and 90 % quantiles",
                dots,
                y="model",
                facet="what",
                x_title="Seconds",
            )
        )
    numbers = {f"{row['model']}: cost": {"estimate": row["cost"], "n": row["calls"]} for row in rows}
    numbers |= {f"{row['model']}: {row['what'].lower()}": {"estimate": row["median"], "n": row["n"]} for row in times}
    return Result(tables, figures, numbers, n={"calls": len(frame)})


def _row(model: str, subset: pd.DataFrame) -> dict[str, Any]:
    priced = subset[subset["cost"].notna()] if "cost" in subset else subset[:0]
    moves = int((priced["outcome"] == "move").sum()) if "outcome" in subset else 0
    cost = float(priced["cost"].sum()) if len(priced) else None
    return {
        "model": model,
        "calls": len(subset),
        "matches": int(subset["match"].nunique()),
        **{
            name: int(subset[name].sum())
            for name in ("input_tokens", "output_tokens", "cached_tokens")
            if name in subset
        },
        "cost": cost,
        "cost_per_match": cost / priced["match"].nunique() if cost is not None else None,
        "cost_per_move": cost / moves if cost is not None and moves else None,
        "priced": len(priced) / len(subset),
    }


def _quantiles(values: pd.Series) -> dict[str, float]:
    values = values.dropna()
    return {name: float(values.quantile(q)) for name, q in {"q1": 0.25, "median": 0.5, "q3": 0.75, "p90": 0.9}.items()}


ANALYSES = [
    Analysis(
        id="general.models",
        title="Language models",
        question="How many tokens and how much money and time did model calls take?",
        method="Totals by model; quantiles of the calls' durations in seconds.",
        needs="agents",
        columns={"llm_calls": ["match", "model"]},
        run=run,
    )
]
