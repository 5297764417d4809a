"""general.failures: how often models fail, refuse, or answer with an illegal move."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import UNITS, shares, with_dependence
from analysis.options import Options
from analysis.results import Result, analysis
from analysis.tables import Chart, Table, count, share, text

COLUMNS = ("match", "role", "answering", "model", "error", "fault", "refused", "try_number", "rung")
OF_CALLS, OF_ANSWERS, OF_TURNS = "of calls", "of answers", "of turns"


@analysis(
    "general.failures", "Failures of language models",
    "How often do models fail, refuse, or answer with an illegal move?",
    f"Shares of calls, answers and turns by model, with Wilson intervals over independent units. {UNITS}",
    needs="agents", columns={"llm_calls": ["match", "model"]},
)  # fmt: skip
def run(data: Data, options: Options) -> Result:
    calls = data.table("llm_calls", [name for name in COLUMNS if data.has("llm_calls", name)])
    if not len(calls):
        raise SkippedError("No language model was called.")
    calls["model"] = calls["model"].fillna("unknown").astype("str")
    calls = with_dependence(data, calls).drop(columns="replay")
    parts = [
        shares(flags.astype({"flag": "float64"}), ["model"], "flag", level=options.level).assign(what=what, of=of)
        for what, of, flags in _failures(calls) if len(flags)
    ]  # fmt: skip
    if not parts:
        raise SkippedError("The calls don't record errors or faults.")
    rows = pd.concat(parts, ignore_index=True).rename(columns={"number": "count"})
    table = Table(
        "shares", "Failures of language models",
        ["model", text("what", "Failure"), text("of", "Share"), "n", count("count", "Number"),
         share("estimate", "Share"), "low", "high", "clusters", "method",
         "note"],
        rows.sort_values("model", kind="stable"),
        note="Includes only matches in the dataset; for matches that models could not finish, see excluded_calls.csv.",
        charts=[Chart("bars", y="model", facet="label",
                      rows=rows.assign(label=rows["what"] + " (" + rows["of"] + ")"))],
    )  # fmt: skip
    return Result([table], numbers=table.numbers("{model}: {what}"), n={"calls": len(calls)})


def _failures(calls: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield each kind of failure, what its share refers to, and rows with model, cluster and flag."""
    answers = calls
    if "error" in calls:
        failed = calls["error"].notna() & (calls["error"] != "")
        yield "No answer", OF_CALLS, calls.assign(flag=failed)
        answers = calls[~failed]
    if "fault" in calls:
        yield "Unreadable", OF_ANSWERS, answers.assign(flag=answers["fault"] == "unreadable")
        yield "Illegal", OF_ANSWERS, answers.assign(flag=answers["fault"] == "illegal")
    if "refused" in calls:
        yield "Refused", OF_ANSWERS, answers.assign(flag=answers["refused"].eq(True).fillna(False))
    if {"role", "answering"} <= set(calls):
        turns = calls.groupby(["model", "match", "role", "answering", "cluster"], dropna=False)
        for name, first, what in (("try_number", 1, "Asked again"), ("rung", 0, "Another model took over")):
            if name in calls:
                yield what, OF_TURNS, (turns[name].max() > first).rename("flag").reset_index()


ANALYSES = [run]
