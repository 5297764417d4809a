"""general.response_times: how long people take to answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from analysis.data import HUMAN, Data
from analysis.errors import SkippedError
from analysis.frames import EXPLORATORY, UNITS, level_text, median_interval, sorted_levels, with_dependence, with_q
from analysis.options import Options
from analysis.results import Result, analysis
from analysis.tables import Chart, Table, number, text
from analysis.toolbox import effects, survival

MAX_STEPS = 120
"""Maximum number of steps drawn in a survival curve."""
MAX_ROUNDS = 30
QUANTILES = {"p10": 0.1, "q1": 0.25, "median": 0.5, "q3": 0.75, "p90": 0.9}
BY = {"role": "Role", "kind": "Kind of move", "round": "Round"}


@analysis(
    "general.response_times", "Response times", "How long do people take to answer?",
    "Seconds from when the screen is shown to the answer: quartiles; OLS of log(seconds + 1) on round and kind "
    "of move, with standard errors from leaving out one independent unit at a time (CR3); Kaplan–Meier curves "
    f"in which unanswered turns are censored. {UNITS}",
    needs="people", columns={"decisions": ["match", "role", "player", "seconds", "shown_at"]},
)  # fmt: skip
def run(data: Data, options: Options) -> Result:
    turns = _turns(data)
    if not len(turns):
        raise SkippedError("No person's turns have recorded times.")
    answered = turns[turns["answered"]]
    too_few = f"fewer than {options.min_group}"
    seconds = _quartiles(answered, too_few, options)
    curves = _curves(data, turns, options)
    tables = [Table(
        "seconds", "Response times in seconds",
        [text("by", "By"), text("level", "Group"), text("people", "People"), "n", "clusters", number("q1", "25 %", "s"),
         number("median", "Median", "s"), "low", "high", number("q3", "75 %", "s")],
        seconds,
        note="Low and high: interval of the median, by bootstrap over independent units.",
        charts=[Chart("lines", name="unanswered", rows=curves, x="seconds", y="share", colour="role",
                      players=data.roles,
                      title="Share of turns still unanswered, by seconds since the screen was shown",
                    titles={"x": "Seconds", "y": "Share unanswered"}, formats={"y": "%"}, step=True, points=False,
                    domain=(0, 1))] if len(curves) else [],
    )]  # fmt: skip
    numbers: dict[str, Any] = {}
    warnings: list[str] = []
    if n_hidden := int((seconds["people"] == too_few).sum()):
        warnings.append(f"Times of {too_few} people are not shown ({n_hidden} groups).")
    if turns["person"].nunique() >= options.min_group:
        numbers["median"] = {"estimate": seconds["median"].iloc[0], "method": "bootstrap",
                             **{name: seconds[name].iloc[0] for name in ("n", "low", "high", "clusters")}}  # fmt: skip
        regression = _regression(answered, options)
        if len(regression):
            tables.append(Table(
                "regression", "Regression of log(seconds + 1)",
                [text("term", "Term"), number("estimate", "Effect"), "se", "low", "high", "p", "q", "n",
                 "components", "method", "note"],
                with_q(regression),
                note=EXPLORATORY,
            ))  # fmt: skip
            numbers |= tables[1].numbers("log seconds: {term}")
    if unanswered := int((~turns["answered"]).sum()):
        warnings.append(
            f"{unanswered:,} turns were never answered; they are censored in the curves and left out elsewhere."
        )
    n = {"decisions": len(turns), "people": int(turns["person"].nunique()), "clusters": int(turns["cluster"].nunique())}
    return Result(tables, numbers=numbers, n=n, warnings=warnings)


def _turns(data: Data) -> pd.DataFrame:
    """Return the turns that people answered themselves or never: role, round, kind, seconds, answered, person."""
    optional = [name for name in ("by", "round", "answered") if data.has("decisions", name)]
    turns = data.table("decisions", ["match", "role", "player", "seconds", "shown_at", *optional])
    turns["kind"] = _kinds_of_moves(data)
    turns["answered"] = turns["answered"].fillna(True).astype(bool) if "answered" in turns else True
    by_person = turns["by"].isna() | ~turns["answered"] if "by" in turns else True
    turns = turns[(turns["player"] == HUMAN) & by_person & turns["seconds"].notna() & turns["shown_at"].notna()].copy()
    turns["round"] = turns["round"].map(level_text) if "round" in turns else None
    people = data.persons.set_axis(data.column("matches", "match")).stack().dropna()
    keys = pd.MultiIndex.from_arrays([turns["match"], "participant_" + turns["role"]])
    known = people.reindex(keys).set_axis(turns.index)
    turns["person"] = known.fillna(turns["match"] + " " + turns["role"]).astype("str")
    return with_dependence(data, turns)


def _kinds_of_moves(data: Data) -> pd.Series:
    """Return the kind of each decision: the game's phase, or else the fields of the move."""
    index = data.column("decisions", "match").index
    phase = data.column("decisions", "phase") if data.has("decisions", "phase") else pd.Series(index=index, dtype="str")
    fields = pd.Series("", index=index, dtype="str")
    for name in data.names("decisions") if phase.isna().any() else ():
        if name.startswith("move_") and name not in ("move_number", "move_message"):
            label = data.heading(name, "decisions").lower()
            is_new = data.column("decisions", name).notna() & (fields != label)
            fields = fields.mask(is_new, fields.where(fields == "", fields + ", ") + label)
    return phase.fillna(fields.mask(fields == "", "other")).astype("str")


def _quartiles(answered: pd.DataFrame, too_few: str, options: Options) -> pd.DataFrame:
    rows = []
    for name, title in {"": "All", **BY}.items():
        levels = sorted_levels(answered[name].dropna()) if name else [""]
        for level in levels[:MAX_ROUNDS] if name == "round" else levels:
            here = answered[answered[name] == level] if name else answered
            people = here["person"].nunique()
            row: dict[str, Any] = {"by": title, "level": level, "people": too_few}
            if people >= options.min_group:
                spread = {name: here["seconds"].quantile(q) for name, q in QUANTILES.items()}
                low, high = median_interval(here["seconds"].to_numpy(), here["cluster"].to_numpy(), draws=options.draws,
                                            seed=options.seed, level=options.level)  # fmt: skip
                row |= {"people": str(people), "n": len(here), **spread, "low": low, "high": high,
                        "clusters": here["cluster"].nunique()}  # fmt: skip
            rows.append(row)
    return pd.DataFrame(rows, columns=["by", "level", "n", "clusters", *QUANTILES, "low", "high", "people"])


def _regression(answered: pd.DataFrame, options: Options) -> pd.DataFrame:
    turns = answered.assign(log_seconds=np.log1p(answered["seconds"]))
    factors = {name: turns[name].mode().iloc[0] for name in ("round", "kind")
               if 1 < turns[name].nunique() <= MAX_ROUNDS}  # fmt: skip
    if not factors:
        return pd.DataFrame()
    fit = effects(turns, "log_seconds", factors, people=["person"], group="cluster", interactions=(),
                  level=options.level)  # fmt: skip
    return pd.DataFrame(fit["terms"]).assign(n=fit["n"], clusters=fit["clusters"])


def _curves(data: Data, turns: pd.DataFrame, options: Options) -> pd.DataFrame:
    """Return Kaplan–Meier steps by role, thinned out for drawing, up to the 99th percentile of the times."""
    curves = [pd.DataFrame(columns=["role", "seconds", "share"])]
    for role in sorted_levels(turns["role"].dropna()):
        here = turns[turns["role"] == role]
        if here["person"].nunique() >= options.min_group:
            found = survival(here["seconds"].tolist(), here["answered"].tolist())
            curve = pd.DataFrame({"seconds": [0.0, *found["times"]], "share": [1.0, *found["share"]]})
            curve = curve[curve["seconds"] <= here["seconds"].quantile(0.99)]
            steps = np.linspace(0, len(curve) - 1, min(len(curve), MAX_STEPS)).round().astype(int)
            curves.append(curve.iloc[np.unique(steps)].assign(role=data.role_name(role)))
    return pd.concat([curve for curve in curves if len(curve)] or curves, ignore_index=True)


ANALYSES = [run]
