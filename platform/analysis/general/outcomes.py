"""general.outcomes: payoffs and metrics by cell."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import (
    FAR,
    LARGE,
    UNITS,
    Groups,
    Unit,
    at_level,
    far,
    median_interval,
    ranks,
    units,
    without_unverified,
)
from analysis.options import Options
from analysis.results import Result, analysis
from analysis.tables import Chart, Table, number, numbers, text
from analysis.toolbox.dependence import FEWEST_ON_A_SIDE

MAX_DOTS = 16
MAX_MEDIANS = 600
"""Maximum number of rows for which intervals of medians are computed."""
MAX_CELLS = 5_000
UNEVENLY = 0.1
"""Difference of the shares missing of which the report warns."""
NOBODY = "none"
"""The player of a seat that some matches do not have."""
ALL, VERIFIED = "All matches", "Without unverified ones"
COLUMNS = (
    "outcome", text("measure", "Measure"), "n", "clusters", "estimate", "low", "high", "method", "sd", "median",
    number("median_low", "Median, low"), number("median_high", "Median, high"), "missing", "note",
)  # fmt: skip


@analysis(
    "general.outcomes", "Outcomes", "What were the outcomes in each cell, and by each parameter and player separately?",
    f"Means, shares and medians of matches, with intervals over independent units. {UNITS} Means: standard "
    "errors from leaving out one unit at a time (CR3), on the logit scale of the outcome's range. Shares: "
    "Wilson's interval with n divided by the design "
    f"effect. Medians: bootstrap over units (for more than {LARGE:,} values, from the share below). Missing "
    "values are left out and counted.",
    columns={"matches": ["match", "player_*"]},
)  # fmt: skip
def run(data: Data, options: Options) -> Result:
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
        verified = without_unverified(data, unit.frame)
        cells = _rows(unit, by, options) if by else overall
        factors = pd.concat([
            overall.assign(factor=ALL, level=""),
            *([] if verified is None else
              [_rows(replace(unit, frame=verified), [], options).assign(factor=VERIFIED, level="")]),
            *(_rows(unit, [name], options).rename(columns={name: "level"}).assign(factor=unit.heading(name))
              for name in unit.factors),
        ])  # fmt: skip
        suffix, of = ("", "matches") if unit.name == "match" else ("_seats", "seats")
        drawn = _chart(unit, by, cells, factors, f"outcomes{suffix}")
        warnings += [*_small_cells(unit), *_unevenly_missing(unit), *_far_values(unit)]
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
        parts.append(groups.estimates(name, share=share, level=options.level, bounds=unit.ranges[name]).assign(
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


def _small_cells(unit: Unit) -> Iterator[str]:
    """Yield warnings about combinations of levels with few units or none."""
    by = [name for name in unit.factors if name in unit.config]
    if not by:
        return
    of = f"{', '.join(map(unit.heading, by))} ({unit.name}{'es' if unit.name == 'match' else 's'})"
    sizes = unit.frame.groupby(by)["cluster"].nunique()
    if few := int((sizes < FEWEST_ON_A_SIDE).sum()):
        yield f"{few:,} of {len(sizes):,} cells of {of} have fewer than {FEWEST_ON_A_SIDE} independent units."
    possible = math.prod(unit.frame[name].nunique() for name in by)
    if len(sizes) < possible <= MAX_CELLS:
        yield f"{possible - len(sizes):,} of {possible:,} combinations of levels of {of} do not occur."


def _unevenly_missing(unit: Unit) -> Iterator[str]:
    """Yield a warning for each outcome that is missing much more often at one level, or in one cell, than another."""
    if not unit.factors:
        return
    missing = unit.frame[[*unit.outcomes]].isna()
    missing = missing.loc[:, missing.any()]
    cells = unit.frame[unit.factors].fillna(NOBODY).agg(", ".join, axis=1) if len(unit.factors) > 1 else None
    by = {unit.heading(name): unit.frame[name] for name in unit.factors} | ({} if cells is None else {"cell": cells})
    for heading, levels in by.items():
        shares = missing.groupby(levels).mean()
        for name in missing.columns[(shares.max() - shares.min()) > UNEVENLY]:
            ordered = shares[name].sort_values(kind="stable")
            yield (f"{unit.outcomes[name]} is missing for {100 * ordered.iloc[-1]:.0f} % at {heading}: "
                   f"{ordered.index[-1]}, but for {100 * ordered.iloc[0]:.0f} % at {ordered.index[0]}.")  # fmt: skip


def _far_values(unit: Unit) -> Iterator[str]:
    """Yield a warning for each outcome with values very far from the others."""
    for name, heading in unit.outcomes.items():
        if name not in unit.shares and (number := int(far(unit.frame[name]).sum())):
            yield (f"{heading}: {number:,} {'value is' if number == 1 else 'values are'} further than {FAR} "
                   "interquartile ranges from the quartiles; see the effects with and without.")  # fmt: skip


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


ANALYSES = [run]
