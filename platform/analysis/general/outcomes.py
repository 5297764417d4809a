"""general.outcomes: payoffs and metrics by cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import LARGE, UNITS, Groups, Unit, at_level, median_interval, ranks, units
from analysis.options import Options
from analysis.results import Analysis, Result
from analysis.tables import Chart, Table, number, numbers, text

MAX_DOTS = 16
MAX_MEDIANS = 600
"""Maximum number of rows for which intervals of medians are computed."""
MAX_CELLS = 5_000
NOBODY = "none"
"""The player of a seat that some matches do not have."""
ALL, VERIFIED = "All matches", "Without unverified ones"
COLUMNS = (
    "outcome", text("measure", "Measure"), "n", "clusters", "estimate", "low", "high", "sd", "median",
    number("median_low", "Median, low"), number("median_high", "Median, high"), "missing", "note",
)  # fmt: skip


def run(data: Data, options: Options) -> Result:
    """Return means, medians and shares by cell and by each factor separately."""
    if not len(data.column("matches", "match")):
        raise SkippedError("The dataset has no matches.")
    tables: list[Table] = []
    named: dict[str, Any] = {}
    warnings: list[str] = []
    for unit in units(data):
        if not unit.outcomes:
            continue
        overall, by = _rows(unit, [], options), unit.factors
        named |= numbers(overall, "{key}" if unit.name == "match" else unit.name + ".{key}")
        if by and unit.frame.groupby(by, dropna=False).ngroups > MAX_CELLS:
            by = [name for name in by if name in unit.config]
            warnings.append(
                f"There are more than {MAX_CELLS:,} cells, so the table of cells distinguishes parameters only."
            )
        verified = _verified(data, unit)
        cells = _rows(unit, by, options) if by else overall
        factors = pd.concat([
            overall.assign(factor=ALL, level=""),
            *([] if verified is None else [_rows(verified, [], options).assign(factor=VERIFIED, level="")]),
            *(_rows(unit, [name], options).rename(columns={name: "level"}).assign(factor=unit.heading(name))
              for name in unit.factors),
        ])  # fmt: skip
        suffix, of = ("", "matches") if unit.name == "match" else ("_seats", "seats")
        drawn = _chart(unit, by, cells, factors, f"outcomes{suffix}")
        headings = [text(name, unit.heading(name)) for name in by]
        tables.append(Table(f"cells{suffix}", f"Outcomes by cell (observations: {of})", [*headings, *COLUMNS], cells,
                            charts=[drawn]))  # fmt: skip
        tables.append(Table(f"factors{suffix}", f"Outcomes by factor (observations: {of})",
                            ["factor", "level", *COLUMNS], factors))  # fmt: skip
    if not tables:
        raise SkippedError("The game has no numeric or boolean outcome.")
    return Result(tables, numbers=named, warnings=warnings)


def _rows(unit: Unit, by: Sequence[str], options: Options) -> pd.DataFrame:
    """Return one row per group and outcome, with intervals of the medians if there are few."""
    frame = unit.frame.fillna(dict.fromkeys(by, NOBODY)) if by else unit.frame.assign(**{ALL: ""})
    groups = Groups(frame, list(by) or [ALL])
    few = len(unit.outcomes) * len(groups.levels) <= MAX_MEDIANS
    parts = []
    for name, heading in unit.outcomes.items():
        share = name in unit.shares
        medians = _medians(groups, name, options) if few and not share else np.full((len(groups.levels), 2), np.nan)
        parts.append(groups.estimates(name, share=share, level=options.level).assign(
            outcome=heading, key=name, measure="share" if share else "mean", median_low=medians[:, 0],
            median_high=medians[:, 1],
        ))  # fmt: skip
    rows = pd.concat(parts, ignore_index=True)
    if by:
        rows = rows.sort_values([*by], key=ranks, kind="stable")
    return rows.drop(columns=[ALL, "smallest", "largest"], errors="ignore").reset_index(drop=True)


def _medians(groups: Groups, name: str, options: Options) -> np.ndarray:
    """Return the intervals of an outcome's medians in each group."""
    values, code, cluster = groups.values(name)
    intervals = np.full((len(groups.levels), 2), np.nan)
    for group in np.flatnonzero(~groups.exact):
        here = slice(*np.searchsorted(code, [group, group + 1]))
        intervals[group] = median_interval(
            values[here], cluster[here], draws=options.draws, seed=options.seed, level=options.level
        )
    return intervals


def _verified(data: Data, unit: Unit) -> Unit | None:
    """Return the unit without imported matches marked as unverified; None if there are none."""
    if not data.has("matches", "unverified"):
        return None
    rows = data.table("matches", ["match", "unverified"])
    unverified = set(rows["match"][rows["unverified"].notna() & (rows["unverified"] != "")])
    verified = unit.frame[~unit.frame["match"].isin(unverified)]
    return replace(unit, frame=verified) if unverified and len(verified) else None


def _chart(unit: Unit, by: Sequence[str], cells: pd.DataFrame, factors: pd.DataFrame, name: str) -> Chart:
    """Return dots with intervals, one panel per outcome: by cell if there are few cells, otherwise by factor."""
    by_cell = bool(by) and len(cells) <= MAX_DOTS * len(unit.outcomes)
    if by_cell:
        labels = pd.concat([unit.heading(name) + ": " + cells[name] for name in by], axis=1)
        rows = cells.assign(where=labels.agg(" · ".join, axis=1))
    else:
        rows = factors.assign(where=at_level(factors))
    return Chart("dots", name=name, title="Outcomes by cell" if by_cell else "Outcomes by factor", y="where",
                 facet="outcome", titles={"x": "Mean or share"}, most={"facet": 8},
                 rows=rows[["where", "outcome", "estimate", "low", "high", "n"]])  # fmt: skip


ANALYSES = [
    Analysis(
        id="general.outcomes",
        title="Outcomes",
        question="What were the outcomes in each cell, and by each parameter and player separately?",
        method=(
            f"Means, shares and medians of matches, with intervals over independent units. {UNITS} Means: standard "
            "errors from leaving out one unit at a time (CR3). Shares: Wilson's interval with n divided by the design "
            f"effect. Medians: bootstrap over units (for more than {LARGE:,} values, from the share below). Missing "
            "values are left out and counted."
        ),
        columns={"matches": ["match", "player_*"]},
        run=run,
    )
]
