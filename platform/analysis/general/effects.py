"""general.effects: effects of factors, parameters and players on outcomes."""

from __future__ import annotations

from collections import Counter
from typing import Any

from analysis import charts
from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import UNITS, Unit, add_holm, drawn_for_each_match, units
from analysis.results import NOTE, Analysis, Options, Result, Table, count, number, p_value, text
from analysis.toolbox.effects import Effects

PANELS, MAX_TERMS = 6, 40
COLUMNS = (
    text("outcome", "Outcome"), text("factor", "Factor"), text("level", "Level"), text("reference", "Reference"),
    number("estimate", "Effect"), number("se", "SE"), number("low", "Low"), number("high", "High"), p_value(),
    p_value("p_holm", "p, Holm"), count("n", "n"), count("components", "Units"), NOTE,
)  # fmt: skip
OF_TERM = ("estimate", "se", "low", "high", "p", "df", "components", "method", "note")
NUMBERS = ("n", "clusters", *OF_TERM)


def run(data: Data, options: Options) -> Result:
    """Return OLS regressions of every outcome on all varying factors and parameters and on who played."""
    rows: list[dict[str, Any]] = []
    warnings: list[str] = []
    for unit in units(data):
        rows += _terms(unit, options, warnings)
    if not rows:
        raise SkippedError("No parameter varies, and every match had the same players.")
    estimated = add_holm([row for row in rows if row["factor"] != "Intercept"])
    if drawn := drawn_for_each_match(data):
        warnings.append(f"Left out because of too many distinct values: {', '.join(map(data.heading, drawn))}.")
    numbers = {f"{row['key']}: {row['term']}": {key: row[key] for key in NUMBERS} for row in estimated}
    note = "Units: independent units on the smaller side of the comparison. Holm's adjustment is over the whole table."
    table = Table("coefficients", "Effects on each outcome", COLUMNS, rows, note=note)
    return Result([table], [_forest(estimated)], numbers, warnings=list(dict.fromkeys(warnings)))


def _terms(unit: Unit, options: Options, warnings: list[str]) -> list[dict[str, Any]]:
    frame = unit.frame
    references = {
        name: Counter(frame[name].dropna()).most_common(1)[0][0] for name in unit.factors if frame[name].nunique() > 1
    }
    if not references:
        return []
    prepared = Effects(frame, references, group="cluster", replay="replay", cell=["cell"])
    rows = []
    for outcome, heading in unit.outcomes.items():
        if frame[outcome].nunique() < 2:
            continue
        bounds = (0.0, 1.0) if outcome in unit.shares else None
        fit = prepared.on(frame[outcome].to_numpy(dtype=float), bounds=bounds, level=options.level)
        if fit["dropped"]:
            warnings.append(f"{heading}: dropped because of collinearity: {', '.join(fit['dropped'])}.")
        for term in fit["terms"]:
            name, _equals, level = term["term"].partition("=")
            rows.append({
                "outcome": heading, "factor": unit.heading(name), "level": level,
                "reference": references.get(name, ""), **{key: term[key] for key in OF_TERM}, "p_holm": None,
                "n": fit["n"], "r2": fit["r2"], "clusters": fit["clusters"], "key": outcome, "term": term["term"],
                "unit": unit.name,
            })  # fmt: skip
    return rows


def _forest(rows: list[dict[str, Any]]) -> Any:
    outcomes = list(dict.fromkeys(row["outcome"] for row in rows))
    terms = list(dict.fromkeys(row["term"] for row in rows))
    shown_rows = [row for row in rows if row["outcome"] in outcomes[:PANELS] and row["term"] in terms[:MAX_TERMS]]
    for row in shown_rows:
        row["where"] = f"{row['factor']}: {row['level']} (vs {row['reference']})"
    limits = []
    if len(outcomes) > PANELS:
        limits.append(f"the first {PANELS} of {len(outcomes)} outcomes")
    if len(terms) > MAX_TERMS:
        limits.append(f"the first {MAX_TERMS} of {len(terms)} terms")
    title = "Effects with confidence intervals" + (f": {', '.join(limits)}" if limits else "")
    return charts.dots("effects", title, shown_rows, y="where", facet="outcome", x_title="Effect", line=0)


ANALYSES = [
    Analysis(
        id="general.effects",
        title="Effects of parameters and players",
        question="What are the effects of the parameters and the players?",
        method=(
            "OLS of each outcome on the plan's factors, on parameters that vary otherwise and on the players, relative "
            "to the most frequent level. Standard errors from leaving out one independent unit at a time (CR3), t with "
            f"Bell and McCaffrey's degrees of freedom. {UNITS} P-values raw and Holm-adjusted."
        ),
        columns={"matches": ["match", "player_*"]},
        run=run,
    )
]
