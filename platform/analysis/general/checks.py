"""general.checks: pass rates of attention checks."""

from __future__ import annotations

from analysis import charts
from analysis.data import CONFIG, Data
from analysis.errors import SkippedError
from analysis.frames import share_of, sorted_levels
from analysis.general.people import factors, participants
from analysis.results import NOTE, Analysis, Options, Result, Table, count, estimate_columns, share, text

MAX_BARS = 24


def run(data: Data, options: Options) -> Result:
    """Return the pass rate of each check among those who reached it."""
    names = [n for n in data.names("participants") if n.startswith("check_") and n.endswith("_passed")]
    if not names:
        raise SkippedError("The study has no attention checks.")
    frame = participants(data, *names)
    rows = []
    for name in names:
        check = charts.label(name.removeprefix("check_").removesuffix("_passed"))
        reached = frame[frame[name].notna()]
        by = {"": "All", **{key: title for key, title in factors(data, frame).items() if not key.startswith(CONFIG)}}
        for key, title in by.items():
            for level in sorted_levels(reached[key].dropna()) if key else [""]:
                subset = reached if not key else reached[reached[key] == level]
                passed = subset.assign(passed=subset[name].astype("float64"))
                rows.append({"check": check, "by": title, "level": level, "passed": int(passed["passed"].sum()),
                             **share_of(passed, "passed", level=options.level)})  # fmt: skip
    if not any(row["n"] for row in rows):
        raise SkippedError("No one reached a check.")
    columns = [
        text("check", "Check"), text("by", "By"), text("level", "Group"), count("n", "Reached"),
        count("passed", "Passed"), *estimate_columns("Share", share), NOTE,
    ]  # fmt: skip
    numbers = {
        row["check"]: {k: row[k] for k in ("estimate", "low", "high", "n")} for row in rows if row["by"] == "All"
    }
    bars = [{**row, "who": charts.level(row["by"], row["level"]) if row["level"] else "All"} for row in rows]
    too_many = len({bar["who"] for bar in bars}) > MAX_BARS
    bars = [bar for bar in bars if not too_many or bar["by"] != "Cell"]
    figure = charts.bars("passed", "Attention checks passed", bars, y="who", facet="check", x_title="Share that passed",
                         x_format="%")  # fmt: skip
    table = Table("passed", "Attention checks passed by those who reached them", columns, rows)
    return Result([table], [figure], numbers, n={"people": int(frame[names].notna().any(axis=1).sum())})


ANALYSES = [
    Analysis(
        id="general.checks",
        title="Attention checks",
        question="Who passed the attention checks?",
        method="Pass rates among those who reached a check, with Wilson intervals over people who did not meet.",
        needs="people",
        columns={"participants": ["cell", "role"]},
        run=run,
    )
]
