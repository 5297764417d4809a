"""general.failures: how often models fail, refuse, or answer with an illegal move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.data import Data
from analysis.errors import SkippedError
from analysis.results import Analysis, Options, Result, Table, count, estimated, share, text
from analysis.toolbox import mean

if TYPE_CHECKING:
    import pandas as pd

OF_CALLS, OF_ANSWERS, OF_TURNS = "of calls", "of answers", "of turns"


def run(data: Data, options: Options) -> Result:
    """Return shares per model, clustered by match."""
    wanted = ["match", "role", "answering", "model", "error", "fault", "refused", "try_number", "rung"]
    frame = data.table("llm_calls", [name for name in wanted if data.has("llm_calls", name)])
    if not len(frame):
        raise SkippedError("No language model was called.")
    frame["model"] = frame["model"].fillna("unknown")
    rows: list[dict[str, Any]] = []
    for model, own in frame.groupby("model", sort=True):
        for what, of, flags in _measures(own):
            if not len(flags):
                continue
            found = mean(flags["flag"].astype(float).tolist(), clusters=flags["match"].tolist(), level=options.level)
            low, high = found.get("low"), found.get("high")
            rows.append(
                {
                    "model": str(model),
                    "what": what,
                    "of": of,
                    "n": len(flags),
                    "count": int(flags["flag"].sum()),
                    "estimate": found["estimate"],
                    "se": found.get("se"),
                    "low": None if low is None else max(0.0, low),
                    "high": None if high is None else min(1.0, high),
                    "clusters": found.get("clusters"),
                }
            )
    if not rows:
        raise SkippedError("The calls don't record errors or faults.")
    columns = [
        text("model", "Model"),
        text("what", "What"),
        text("of", "Share"),
        count("n", "n"),
        count("count", "Of them"),
        *estimated("Share", share),
        count("clusters", "Matches"),
    ]
    order = {what: at for at, what in enumerate(dict.fromkeys(row["what"] for row in rows))}
    bars = sorted(
        ({**row, "label": f"{row['what']} ({row['of']})"} for row in rows), key=lambda row: order[row["what"]]
    )
    figure = charts.bars(
        "shares", "Failures of language models", bars, y="model", facet="label", x_title="Share", x_format="%"
    )
    numbers = {
        f"{row['model']}: {row['what']}": {k: row[k] for k in ("estimate", "se", "low", "high", "n", "clusters")}
        for row in rows
    }
    note = "Covers matches in the dataset only; for matches that models could not finish, see excluded_calls.csv."
    return Result(
        [Table("shares", "Failures of language models", columns, rows, note=note)],
        [figure],
        numbers,
        n={"calls": len(frame)},
    )


def _measures(own: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """Return (what, share of what, rows with match and flag)."""
    found = []
    answered = own
    if "error" in own:
        failed = own["error"].notna() & (own["error"] != "")
        found.append(("No answer", OF_CALLS, own.assign(flag=failed)))
        answered = own[~failed]
    for fault, title in (("unreadable", "Unreadable"), ("illegal", "Illegal")):
        if "fault" in own:
            found.append((title, OF_ANSWERS, answered.assign(flag=answered["fault"] == fault)))
    if "refused" in own:
        found.append(
            ("Refused", OF_ANSWERS, answered.assign(flag=answered["refused"].eq(True).fillna(False).astype(bool)))
        )
    if {"role", "answering"} <= set(own):
        turns = own.groupby(["match", "role", "answering"], dropna=False)
        for name, first, title in (("try_number", 1, "Asked again"), ("rung", 0, "Another model took over")):
            if name in own:
                flags = (turns[name].max() > first).rename("flag").reset_index()
                found.append((title, OF_TURNS, flags))
    return found


ANALYSES = [
    Analysis(
        id="general.failures",
        title="Failures of language models",
        question="How often do models fail, refuse, or answer with an illegal move?",
        method="Shares of calls, answers and turns per model, with t intervals clustered by match.",
        needs="agents",
        columns={"llm_calls": ["match", "model"]},
        run=run,
    )
]
