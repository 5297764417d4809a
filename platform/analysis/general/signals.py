"""general.signals: signals from browsers, and whether outcomes depend on the least attentive participants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import estimates, units
from analysis.results import NOTE, Analysis, Options, Result, Table, count, estimate_columns, number, text

if TYPE_CHECKING:
    import pandas as pd

COUNTS = {
    "seconds_open": "Seconds open",
    "seconds_visible": "Seconds visible",
    "times_hidden": "Times hidden",
    "times_blurred": "Times in the background",
    "pastes": "Pastes",
    "characters_pasted": "Characters pasted",
}
SCORE_COLUMNS = ("times_hidden", "times_blurred", "pastes")
TOP_QUANTILE = 0.95
PANELS = 8


def run(data: Data, options: Options) -> Result:
    """Return quartiles of counts per step, and outcomes with and without the 5 % of people with the most signals."""
    names = [name for name in COUNTS if data.has("signals", name)]
    frame = data.table("signals", ["participant", "step", *names])
    if not len(frame) or not names:
        raise SkippedError("Browsers sent no signals.")
    rows, n_hidden = _quartiles(frame, names, options)
    warnings = (
        [f"Counts of fewer than {options.min_group} people are not shown ({n_hidden} steps)."] if n_hidden else []
    )
    columns = [
        text("step", "Step"),
        text("what", "What"),
        count("people", "People"),
        number("q1", "25 %"),
        number("median", "Median"),
        number("q3", "75 %"),
        number("largest", "Largest"),
    ]
    tables = [Table("counts", "Signals from browsers, by step", columns, rows)]
    if data.has("participants", "repeated_messages"):
        repeats = data.column("participants", "repeated_messages").dropna().astype(float)
        if len(repeats) >= options.min_group:
            row = {
                "what": "Repeated messages",
                "people": len(repeats),
                "some": int((repeats > 0).sum()),
                "mean": float(repeats.mean()),
            }
            tables.append(
                Table(
                    "repeated",
                    "Repeated messages",
                    [
                        text("what", "What"),
                        count("people", "People"),
                        count("some", "With at least one"),
                        number("mean", "Mean"),
                    ],
                    [row],
                )
            )
    robust = _robustness(data, frame, [name for name in SCORE_COLUMNS if name in names], options)
    figures = []
    if robust:
        tables.append(
            Table(
                "robustness",
                "Robustness check: outcomes without the 5 % with the most signals",
                [
                    text("outcome", "Outcome"),
                    text("of", "Of"),
                    count("n", "n"),
                    *estimate_columns("Mean or share"),
                    NOTE,
                ],
                robust,
                note="Signals exclude no one from the dataset; this only shows whether results depend on a few people.",
            )
        )
        shown_outcomes = list(dict.fromkeys(row["outcome"] for row in robust))[:PANELS]
        figures.append(
            charts.dots(
                "robustness",
                "Robustness check: with and without the 5 % with the most signals",
                [row for row in robust if row["outcome"] in shown_outcomes],
                y="of",
                facet="outcome",
                x_title="Mean or share",
            )
        )
    numbers = {f"{row['key']}: {row['of']}": {k: row[k] for k in ("estimate", "low", "high", "n")} for row in robust}
    return Result(tables, figures, numbers, n={"people": int(frame["participant"].nunique())}, warnings=warnings)


def _quartiles(frame: pd.DataFrame, names: list[str], options: Options) -> tuple[list[dict[str, Any]], int]:
    rows, n_hidden = [], 0
    for step, subset in frame.groupby("step", sort=False):
        people = subset["participant"].nunique()
        if people < options.min_group:
            n_hidden += 1
            continue
        for name in names:
            values = subset[name].dropna().astype(float)
            if len(values):
                spread = {key: float(values.quantile(q)) for key, q in {"q1": 0.25, "median": 0.5, "q3": 0.75}.items()}
                rows.append(
                    {
                        "step": str(step),
                        "what": COUNTS[name],
                        "people": people,
                        **spread,
                        "largest": float(values.max()),
                    }
                )
    return rows, n_hidden


def _robustness(data: Data, frame: pd.DataFrame, scored: list[str], options: Options) -> list[dict[str, Any]]:
    """Return the outcomes of all matches with people, and of those without the 5 % of people with the most signals."""
    import pandas as pd

    people = [f"participant_{role}" for role in data.roles if data.has("matches", f"participant_{role}")]
    if not scored or not people:
        return []
    score = frame.groupby("participant")[scored].sum().astype(float).sum(axis=1)
    top_participants = set(score[score > score.quantile(TOP_QUANTILE)].index)
    participants = data.table("matches", people)
    match_ids = data.column("matches", "match")
    has_top = pd.Series(participants.isin(top_participants).any(axis=1).to_numpy(), index=match_ids)
    has_person = pd.Series(participants.notna().any(axis=1).to_numpy(), index=match_ids)
    rows: list[dict[str, Any]] = []
    for unit in units(data):
        subset = unit.frame[unit.frame["match"].map(has_person)]
        samples = {"All": subset, "Without the top 5 %": subset[~subset["match"].map(has_top)]}
        for label, sample in samples.items():
            for name, heading in unit.outcomes.items():
                if len(sample):
                    row = estimates(
                        sample.assign(every=""), ["every"], name, share=name in unit.shares, level=options.level
                    ).to_dict("records")[0]
                    rows.append(
                        {
                            "outcome": heading,
                            "key": name,
                            "of": label,
                            **{k: row[k] for k in ("n", "estimate", "low", "high", "note")},
                        }
                    )
    return rows


ANALYSES = [
    Analysis(
        id="general.signals",
        title="Signals of inattention",
        question="What did participants' browsers report, and do outcomes depend on the least attentive participants?",
        method=(
            "Quartiles over people, by step; outcomes with and without the 5 % of people whose pages were most often "
            "hidden, in the background or pasted into. This is a robustness check; no one is excluded."
        ),
        needs="people",
        columns={"signals": ["participant", "step"]},
        run=run,
    )
]
