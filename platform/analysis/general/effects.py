"""general.effects: effects of parameters and players on outcomes."""

from __future__ import annotations

from collections import Counter
from typing import Any

from analysis import charts
from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import Unit, adjusted, drawn_for_each_match, units
from analysis.results import Analysis, Options, Result, Table, count, number, p_value, text
from analysis.toolbox import ols

PANELS, MOST_TERMS = 6, 40
COLUMNS = (
    text("outcome", "Outcome"), text("factor", "Factor"), text("level", "Level"), text("reference", "Compared with"),
    number("estimate", "Effect"), number("se", "SE"), number("low", "Low"), number("high", "High"), p_value(),
    p_value("p_holm", "p, Holm"), number("robust_se", "Robust SE"), p_value("robust_p", "Robust p"), count("n", "n"),
)  # fmt: skip


def run(data: Data, options: Options) -> Result:
    """Return OLS of every outcome on all parameters that vary and on who played."""
    rows: list[dict[str, Any]] = []
    warnings: list[str] = []
    for unit in units(data):
        factors = {name: unit.frame[name] for name in unit.factors if unit.frame[name].nunique() > 1}
        references = {name: Counter(values.dropna()).most_common(1)[0][0] for name, values in factors.items()}
        if references:
            for outcome in unit.outcomes:
                rows += _terms(unit, outcome, references, options, warnings)
    if not rows:
        raise SkippedError("No parameter varies, and the same players played every match.")
    estimated = adjusted([row for row in rows if row["factor"] != "Intercept"])
    if drawn := drawn_for_each_match(data):
        warnings.append(f"Left out because they take too many values: {', '.join(map(data.heading, drawn))}.")
    numbers = {
        f"{row['key']}: {row['term']}": {k: row[k] for k in ("estimate", "se", "low", "high", "p", "n", "clusters")}
        for row in estimated
    }
    note = "Robust errors are clustered if a person or match has several rows, else HC1."
    table = Table("coefficients", "Effects on each outcome", COLUMNS, rows, note=note)
    return Result([table], [_forest(estimated)], numbers, warnings=list(dict.fromkeys(warnings)))


def _terms(
    unit: Unit, outcome: str, references: dict[str, str], options: Options, warnings: list[str]
) -> list[dict[str, Any]]:
    frame = unit.frame[[outcome, "cluster", *references]].dropna(subset=[outcome])
    if frame[outcome].nunique() < 2:
        return []
    found = ols(frame, outcome, references, level=options.level)
    clustered = frame["cluster"].nunique() < len(frame)
    robust = ols(frame, outcome, references, clusters="cluster", level=options.level) if clustered else ols(
        frame, outcome, references, covariance="HC1", level=options.level
    )  # fmt: skip
    beside = {term["term"]: term for term in robust["terms"]}
    heading = unit.outcomes[outcome]
    if found["dropped"]:
        warnings.append(f"{heading}: dropped as combinations of others: {', '.join(found['dropped'])}.")
    rows = []
    for term in found["terms"]:
        name, _equals, level = term["term"].partition("=")
        other = beside.get(term["term"], {})
        rows.append({
            "outcome": heading, "factor": unit.heading(name), "level": level,
            "reference": references.get(name, ""), **{k: term[k] for k in ("estimate", "se", "low", "high", "p")},
            "p_holm": None, "robust_se": other.get("se"), "robust_low": other.get("low"),
            "robust_high": other.get("high"), "robust_p": other.get("p"), "n": found["n"], "r2": found["r2"],
            "df": found["df"], "clusters": int(frame["cluster"].nunique()), "key": outcome, "term": term["term"],
            "unit": unit.name,
        })  # fmt: skip
    return rows


def _forest(rows: list[dict[str, Any]]) -> Any:
    outcomes = list(dict.fromkeys(row["outcome"] for row in rows))
    terms = list(dict.fromkeys(row["term"] for row in rows))
    shown = [row for row in rows if row["outcome"] in outcomes[:PANELS] and row["term"] in terms[:MOST_TERMS]]
    for row in shown:
        row["where"] = f"{row['factor']}: {row['level']} (vs {row['reference']})"
    part = []
    if len(outcomes) > PANELS:
        part.append(f"the first {PANELS} of {len(outcomes)} outcomes")
    if len(terms) > MOST_TERMS:
        part.append(f"the first {MOST_TERMS} of {len(terms)} terms")
    title = "Effects with intervals" + (f": {', '.join(part)}" if part else "")
    return charts.dots("effects", title, shown, y="where", facet="outcome", x_title="Effect", line=0)


ANALYSES = [
    Analysis(
        id="general.effects",
        title="Effects of parameters and players",
        question="What are the effects of the parameters and the players?",
        method=(
            "Least squares of each outcome on every parameter that varies and every player as factors, compared with "
            "the most frequent level; classical and robust errors, p-values raw and adjusted by Holm's method "
            "over the table."
        ),
        columns={"matches": ["match", "player_*"]},
        run=run,
    )
]
