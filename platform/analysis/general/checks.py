"""general.checks: pass rates of attention checks."""

from __future__ import annotations

import pandas as pd

from analysis.data import CONFIG, Data, label
from analysis.errors import SkippedError
from analysis.frames import at_level, shares_by_each
from analysis.general.people import factors, participants
from analysis.options import Options
from analysis.results import Result, analysis
from analysis.tables import Chart, Table, count, share, text

MAX_BARS = 24


@analysis(
    "general.checks", "Attention checks", "Who passed the attention checks?",
    "Pass rates among those who reached a check, with Wilson intervals over independent units: people who "
    "met are one.",
    needs="people", columns={"participants": ["cell", "role"]},
)  # fmt: skip
def run(data: Data, options: Options) -> Result:
    names = [n for n in data.names("participants") if n.startswith("check_") and n.endswith("_passed")]
    if not names:
        raise SkippedError("The study has no attention checks.")
    people = participants(data, *names)
    by = {name: heading for name, heading in factors(data, people).items() if not name.startswith(CONFIG)}
    parts = {}
    for name in names:
        reached = people[people[name].notna()].astype({name: "float64"})
        check = label(name.removeprefix("check_").removesuffix("_passed"))
        parts[check] = shares_by_each(reached, name, by, level=options.level)
    rows = pd.concat(parts, names=["check"]).reset_index(level=0)
    if not rows["n"].any():
        raise SkippedError("No one reached a check.")
    bars = rows.assign(who=at_level(rows))
    table = Table(
        "passed", "Attention checks passed by those who reached them",
        [text("check", "Check"), text("by", "By"), text("level", "Group"), count("n", "Reached"),
         count("passed", "Passed"), share("estimate", "Share"), "low", "high", "clusters", "method",
         "note"],
        rows.rename(columns={"factor": "by", "number": "passed"}),
        charts=[Chart("bars", title="Attention checks passed", y="who", facet="check",
                      titles={"x": "Share that passed"},
                      rows=bars if bars["who"].nunique() <= MAX_BARS else bars[bars["factor"] != "Cell"])],
    )  # fmt: skip
    numbers = table.numbers("{check}", table.frame["by"] == "All")
    return Result([table], numbers=numbers, n={"people": int(people[names].notna().any(axis=1).sum())})


ANALYSES = [run]
