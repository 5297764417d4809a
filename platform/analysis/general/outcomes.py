"""general.outcomes: payoffs and metrics by cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from analysis import charts
from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import LARGE, UNITS, Groups, Unit, level_key, median_interval, units
from analysis.results import (
    NOTE,
    Analysis,
    Column,
    Figure,
    Options,
    Result,
    Table,
    count,
    estimate_columns,
    number,
    text,
)

PANELS = 8
MAX_DOTS = 16
MAX_MEDIANS = 600
"""Maximum number of rows for which intervals of medians are computed."""
MAX_CELLS = 5_000
ALL, VERIFIED = "all matches", "without unverified ones"
COLUMNS: tuple[Column, ...] = (
    text("outcome", "Outcome"), text("measure", "Measure"), count("n", "n"), count("clusters", "Units"),
    *estimate_columns("Estimate"),
    number("sd", "SD"), number("median", "Median"),
    number("median_low", "Median, low"), number("median_high", "Median, high"), count("missing", "Missing"),
    NOTE,
)  # fmt: skip


def run(data: Data, options: Options) -> Result:
    """Return means, medians and shares by cell and by each factor separately."""
    if not len(data.column("matches", "match")):
        raise SkippedError("The dataset has no matches.")
    tables, figures, numbers, warnings = [], [], {}, []
    for unit in units(data):
        if not unit.outcomes:
            continue
        overall = _rows(unit, [], options)
        by = unit.factors
        if by and unit.frame.groupby(by, dropna=False).ngroups > MAX_CELLS:
            by = [name for name in by if name in unit.config]
            warnings.append(
                f"There are more than {MAX_CELLS:,} cells, so the table of cells distinguishes parameters only."
            )
        cells = _rows(unit, by, options) if by else overall
        by_factor = [_factor(unit, name, options) for name in unit.factors]
        verified = _verified(data, unit)
        if verified is not None:
            by_factor.insert(0, _rows(verified, [], options).assign(factor=VERIFIED, level=""))
        factors = pd.concat([overall.assign(factor=ALL, level=""), *by_factor])
        for row in overall.to_dict("records"):
            numbers[f"{unit.name}.{row['key']}" if unit.name != "match" else row["key"]] = {
                key: row[key] for key in ("estimate", "se", "low", "high", "n", "clusters", "note")
            }
        suffix = "" if unit.name == "match" else "_seats"
        observation = "matches" if unit.name == "match" else "seats"
        headings = [text(name, unit.heading(name)) for name in by]
        tables.append(
            Table(f"cells{suffix}", f"Outcomes by cell (observations: {observation})", [*headings, *COLUMNS], cells)
        )
        tables.append(Table(
            f"factors{suffix}", f"Outcomes by factor (observations: {observation})",
            [text("factor", "Factor"), text("level", "Level"), *COLUMNS],
            factors.assign(factor=[unit.heading(name) for name in factors["factor"]]),
        ))  # fmt: skip
        figures.append(_figure(unit, by, cells, factors, f"outcomes{suffix}"))
    if not tables:
        raise SkippedError("The game has no numeric or boolean outcome.")
    return Result(tables, figures, numbers, warnings=warnings)


def _rows(unit: Unit, by: Sequence[str], options: Options) -> pd.DataFrame:
    """Return one row per group and outcome."""
    frame = unit.frame if by else unit.frame.assign(**{ALL: ""})
    keys = list(by) or [ALL]
    groups = Groups(frame, keys)
    by_outcome = {}
    for name, heading in unit.outcomes.items():
        share = name in unit.shares
        by_outcome[name] = groups.estimates(name, share=share, level=options.level).assign(
            outcome=heading, key=name, measure="share" if share else "mean", median_low=np.nan, median_high=np.nan
        )
    if len(by_outcome) * len(groups.levels) <= MAX_MEDIANS:
        means = {name: estimates for name, estimates in by_outcome.items() if name not in unit.shares}
        _add_medians(means, groups, options)
    rows = pd.concat(by_outcome.values(), ignore_index=True)
    if by:
        rows = rows.sort_values(keys, key=_ranks, kind="stable")
    return rows.drop(columns=[ALL, "smallest", "largest"], errors="ignore").reset_index(drop=True)


def _ranks(column: pd.Series) -> pd.Series:
    """Return each value's rank in the order of levels."""
    levels = column.unique()
    return column.map({level: rank for rank, level in enumerate(sorted(levels, key=level_key))})


def _add_medians(estimates_by_outcome: Mapping[str, pd.DataFrame], groups: Groups, options: Options) -> None:
    """Add confidence intervals of the medians to each outcome's rows."""
    values_by_outcome = {name: groups.values(name) for name in estimates_by_outcome}
    intervals = {name: np.full((len(groups.levels), 2), np.nan) for name in estimates_by_outcome}
    # Outcomes of the same group follow each other because they share cached draws.
    for group in np.flatnonzero(~groups.exact):
        for name, (values, code, cluster) in values_by_outcome.items():
            rows_of_group = slice(*np.searchsorted(code, [group, group + 1]))
            intervals[name][group] = median_interval(
                values[rows_of_group],
                cluster[rows_of_group],
                draws=options.draws,
                seed=options.seed,
                level=options.level,
            )
    for name, estimates in estimates_by_outcome.items():
        estimates[["median_low", "median_high"]] = intervals[name]


def _factor(unit: Unit, name: str, options: Options) -> pd.DataFrame:
    rows = _rows(unit, [name], options)
    return rows.rename(columns={name: "level"}).assign(factor=name)


def _verified(data: Data, unit: Unit) -> Unit | None:
    """Return the unit without imported matches marked as unverified; None if there are none."""
    if not data.has("matches", "unverified"):
        return None
    rows = data.table("matches", ["match", "unverified"])
    unverified = set(rows["match"][rows["unverified"].notna() & (rows["unverified"] != "")])
    verified = unit.frame[~unit.frame["match"].isin(unverified)]
    return replace(unit, frame=verified) if unverified and len(verified) else None


def _figure(unit: Unit, by: Sequence[str], cells: pd.DataFrame, factors: pd.DataFrame, name: str) -> Figure:
    """Return dots with intervals, one panel per outcome: by cell if there are few cells, otherwise by factor."""
    shown_keys = list(dict.fromkeys(cells["key"]))[:PANELS]
    number_of_cells = len(cells) // max(1, len(unit.outcomes))
    by_cell = bool(by) and number_of_cells <= MAX_DOTS
    rows = cells if by_cell else factors
    drawn: list[dict[str, Any]] = []
    for row in rows[rows["key"].isin(shown_keys)].to_dict("records"):
        if by_cell:
            label = " · ".join(f"{unit.heading(key)}: {row[key]}" for key in by)
        else:
            label = (
                row["factor"] if row["factor"] in (ALL, VERIFIED) else f"{unit.heading(row['factor'])}: {row['level']}"
            )
        drawn.append(
            {"where": label, "outcome": row["outcome"], **{k: row[k] for k in ("estimate", "low", "high", "n")}}
        )
    has_too_many = len(unit.outcomes) > PANELS
    title = "Outcomes by cell" if by_cell else "Outcomes by factor"
    return charts.dots(
        name, title + (f": the first {PANELS} of {len(unit.outcomes)}" if has_too_many else ""), drawn, y="where",
        facet="outcome", x_title="Mean or share", columns=2,
    )  # fmt: skip


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
