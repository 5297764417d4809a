"""general.signals: signals from browsers, and whether outcomes depend on the least attentive participants."""

from __future__ import annotations

import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import IN_SHORT, estimates, quantiles, units
from analysis.options import Options
from analysis.results import Result, analysis
from analysis.tables import Chart, Table, count, number, text

COUNTS = {
    "seconds_open": "Seconds open", "seconds_visible": "Seconds visible", "times_hidden": "Times hidden",
    "times_blurred": "Times in the background", "pastes": "Pastes", "characters_pasted": "Characters pasted",
}  # fmt: skip
SCORED = ("times_hidden", "times_blurred", "pastes")
TOP_QUANTILE = 0.95
QUANTILES = {"q1": 0.25, "median": 0.5, "q3": 0.75, "largest": 1.0}


@analysis(
    "general.signals", "Signals of inattention",
    "What did participants' browsers report, and do outcomes depend on the least attentive participants?",
    "Quartiles over people, by step; outcomes with and without the 5 % of people whose pages were most often "
    "hidden, in the background or pasted into. This is a robustness check; no one is excluded.",
    needs="people", columns={"signals": ["participant", "step"]},
)  # fmt: skip
def run(data: Data, options: Options) -> Result:
    names = [name for name in COUNTS if data.has("signals", name)]
    signals = data.table("signals", ["participant", "step", *names])
    if not len(signals) or not names:
        raise SkippedError("Browsers sent no signals.")
    people = signals.groupby("step", sort=False)["participant"].nunique()
    shown = people.index[people >= options.min_group]
    n_hidden = len(people) - len(shown)
    warnings = [f"Counts of fewer than {options.min_group} people are not shown ({n_hidden} steps)."] * bool(n_hidden)
    counted = signals[signals["step"].isin(shown)]
    rows = pd.concat([quantiles(counted, ["step"], name, QUANTILES).assign(what=COUNTS[name]) for name in names])
    tables = [Table(
        "counts", "Signals from browsers, by step",
        [text("step", "Step"), text("what", "What"), count("people", "People"), "q1", "median", "q3",
         number("largest", "Largest")],
        rows.drop(columns="n").assign(people=rows["step"].map(people))
        .sort_values("step", key=lambda steps: steps.map(list(shown).index), kind="stable"),
    )]  # fmt: skip
    if data.has("participants", "repeated_messages"):
        repeats = data.column("participants", "repeated_messages").dropna().astype("float64")
        if len(repeats) >= options.min_group:
            row = {"what": "Repeated messages", "people": len(repeats), "some": int((repeats > 0).sum()),
                   "mean": repeats.mean()}  # fmt: skip
            tables.append(Table(
                "repeated", "Repeated messages",
                [text("what", "What"), count("people", "People"), count("some", "With at least one"),
                 number("mean", "Mean")],
                [row],
            ))  # fmt: skip
    robust = _robustness(data, signals, [name for name in SCORED if name in names], options)
    if robust is not None:
        table = Table(
            "robustness", "Robustness check: outcomes without the 5 % with the most signals",
            ["outcome", text("of", "Of"), "n", "clusters", number("estimate", "Mean or share"), "low", "high",
             "method", "note"],
            robust,
            note="Signals exclude no one from the dataset; this only shows whether results depend on a few people.",
            charts=[Chart("dots", title="Robustness check: with and without the 5 % with the most signals", y="of",
                        facet="outcome", most={"facet": 8})],
        )  # fmt: skip
        tables.append(table)
    numbers = {} if robust is None else table.numbers("{key}: {of}")
    return Result(tables, numbers=numbers, n={"people": int(signals["participant"].nunique())}, warnings=warnings)


def _robustness(data: Data, signals: pd.DataFrame, scored: list[str], options: Options) -> pd.DataFrame | None:
    """Return the outcomes of all matches with people, and of those without the 5 % of people with the most signals."""
    names = [f"participant_{role}" for role in data.roles if data.has("matches", f"participant_{role}")]
    if not scored or not names:
        return None
    score = signals.groupby("participant")[scored].sum().astype("float64").sum(axis=1)
    top = set(score[score > score.quantile(TOP_QUANTILE)].index)
    participants = data.table("matches", names).set_axis(data.column("matches", "match"))
    has_top, has_person = participants.isin(top).any(axis=1), participants.notna().any(axis=1)
    parts = []
    for unit in units(data):
        of_people = unit.frame[unit.frame["match"].map(has_person)]
        for of, rows in {"All": of_people, "Without the top 5 %": of_people[~of_people["match"].map(has_top)]}.items():
            for name, heading in unit.outcomes.items() if len(rows) else ():
                found = estimates(rows.assign(of=of), ["of"], name, share=name in unit.shares, level=options.level,
                                  bounds=unit.ranges[name])  # fmt: skip
                parts.append(found.assign(outcome=heading, key=name))
    return pd.concat(parts)[["outcome", "key", "of", *IN_SHORT]] if parts else None


ANALYSES = [run]
