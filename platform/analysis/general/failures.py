"""general.failures: how often models fail, refuse, or answer with an illegal move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import UNITS, share_of, with_dependence
from analysis.results import NOTE, Analysis, Options, Result, Table, count, estimate_columns, share, text

if TYPE_CHECKING:
    import pandas as pd

OF_CALLS, OF_ANSWERS, OF_TURNS = "of calls", "of answers", "of turns"


def run(data: Data, options: Options) -> Result:
    """Return the failure rates of each model, with intervals over independent units."""
    names = ["match", "role", "answering", "model", "error", "fault", "refused", "try_number", "rung"]
    frame = data.table("llm_calls", [name for name in names if data.has("llm_calls", name)])
    if not len(frame):
        raise SkippedError("No language model was called.")
    frame["model"] = frame["model"].fillna("unknown")
    rows: list[dict[str, Any]] = []
    for model, subset in frame.groupby("model", sort=True):
        for failure, denominator, flags in _measures(subset):
            if not len(flags):
                continue
            flags = with_dependence(data, flags.assign(flag=flags["flag"].astype(float)))
            rate = share_of(flags.drop(columns="replay"), "flag", level=options.level)
            rows.append(
                {"model": str(model), "what": failure, "of": denominator, "count": int(flags["flag"].sum())} | rate
            )
    if not rows:
        raise SkippedError("The calls don't record errors or faults.")
    columns = [
        text("model", "Model"),
        text("what", "Failure"),
        text("of", "Share"),
        count("n", "n"),
        count("count", "Number"),
        *estimate_columns("Share", share),
        count("clusters", "Units"),
        NOTE,
    ]
    order = {failure: index for index, failure in enumerate(dict.fromkeys(row["what"] for row in rows))}
    bars = sorted(
        ({**row, "label": f"{row['what']} ({row['of']})"} for row in rows), key=lambda row: order[row["what"]]
    )
    figure = charts.bars(
        "shares", "Failures of language models", bars, y="model", facet="label", x_title="Share", x_format="%"
    )
    numbers = {
        f"{row['model']}: {row['what']}": {
            k: row[k] for k in ("estimate", "se", "low", "high", "n", "clusters", "note")
        }
        for row in rows
    }
    note = "Includes only matches in the dataset; for matches that models could not finish, see excluded_calls.csv."
    return Result(
        [Table("shares", "Failures of language models", columns, rows, note=note)],
        [figure],
        numbers,
        n={"calls": len(frame)},
    )


def _measures(calls: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """Return (failure, what its share refers to, rows with match and flag) for each kind of failure."""
    measures = []
    answered = calls
    if "error" in calls:
        failed = calls["error"].notna() & (calls["error"] != "")
        measures.append(("No answer", OF_CALLS, calls.assign(flag=failed)))
        answered = calls[~failed]
    for fault, title in (("unreadable", "Unreadable"), ("illegal", "Illegal")):
        if "fault" in calls:
            measures.append((title, OF_ANSWERS, answered.assign(flag=answered["fault"] == fault)))
    if "refused" in calls:
        measures.append(
            ("Refused", OF_ANSWERS, answered.assign(flag=answered["refused"].eq(True).fillna(False).astype(bool)))
        )
    if {"role", "answering"} <= set(calls):
        turns = calls.groupby(["match", "role", "answering"], dropna=False)
        for name, first, title in (("try_number", 1, "Asked again"), ("rung", 0, "Another model took over")):
            if name in calls:
                flags = (turns[name].max() > first).rename("flag").reset_index()
                measures.append((title, OF_TURNS, flags))
    return measures


ANALYSES = [
    Analysis(
        id="general.failures",
        title="Failures of language models",
        question="How often do models fail, refuse, or answer with an illegal move?",
        method=f"Shares of calls, answers and turns by model, with Wilson intervals over independent units. {UNITS}",
        needs="agents",
        columns={"llm_calls": ["match", "model"]},
        run=run,
    )
]
