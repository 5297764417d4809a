"""general.effects: effects of parameters and players on outcomes."""

from __future__ import annotations

from collections import Counter
from typing import Any

from analysis import charts
from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import Unit, add_holm, drawn_for_each_match, units
from analysis.results import Analysis, Options, Result, Table, count, number, p_value, text
from analysis.toolbox import ols

PANELS, MAX_TERMS = 6, 40
COLUMNS = (
    text("outcome", "Outcome"), text("factor", "Factor"), text("level", "Level"), text("reference", "Reference"),
    number("estimate", "Effect"), number("se", "SE"), number("low", "Low"), number("high", "High"), p_value(),
    p_value("p_holm", "p, Holm"), number("robust_se", "Robust SE"), p_value("robust_p", "Robust p"), count("n", "n"),
)  # fmt: skip


def run(data: Data, options: Options) -> Result:
    """Return OLS regressions of every outcome on all varying parameters and on who played."""
    rows: list[dict[str, Any]] = []
    warnings: list[str] = []
    for unit in units(data):
        factors = {name: unit.frame[name] for name in unit.factors if unit.frame[name].nunique() > 1}
        references = {name: Counter(values.dropna()).most_common(1)[0][0] for name, values in factors.items()}
        if references:
            for outcome in unit.outcomes:
                rows += _terms(unit, outcome, references, options, warnings)
    if not rows:
        raise SkippedError("No parameter varies, and every match had the same players.")
    estimated = add_holm([row for row in rows if row["factor"] != "Intercept"])
    if drawn := drawn_for_each_match(data):
        warnings.append(f"Left out because of too many distinct values: {', '.join(map(data.heading, drawn))}.")
    numbers = {
        f"{row['key']}: {row['term']}": {k: row[k] for k in ("estimate", "se", "low", "high", "p", "n", "clusters")}
        for row in estimated
    }
    note = "Robust standard errors are clustered if a person or match has several rows; otherwise they are HC1."
    table = Table("coefficients", "Effects on each outcome", COLUMNS, rows, note=note)
    return Result([table], [_forest(estimated)], numbers, warnings=list(dict.fromkeys(warnings)))


def _terms(
    unit: Unit, outcome: str, references: dict[str, str], options: Options, warnings: list[str]
) -> list[dict[str, Any]]:
    frame = unit.frame[[outcome, "cluster", *references]].dropna(subset=[outcome])
    if frame[outcome].nunique() < 2:
        return []
    fit = ols(frame, outcome, references, level=options.level)
    clustered = frame["cluster"].nunique() < len(frame)
    robust = ols(frame, outcome, references, clusters="cluster", level=options.level) if clustered else ols(
        frame, outcome, references, covariance="HC1", level=options.level
    )  # fmt: skip
    robust_terms = {term["term"]: term for term in robust["terms"]}
    heading = unit.outcomes[outcome]
    if fit["dropped"]:
        warnings.append(f"{heading}: dropped because of collinearity: {', '.join(fit['dropped'])}.")
    rows = []
    for term in fit["terms"]:
        name, _equals, level = term["term"].partition("=")
        robust_term = robust_terms.get(term["term"], {})
        rows.append({
            "outcome": heading, "factor": unit.heading(name), "level": level,
            "reference": references.get(name, ""), **{k: term[k] for k in ("estimate", "se", "low", "high", "p")},
            "p_holm": None, "robust_se": robust_term.get("se"), "robust_low": robust_term.get("low"),
            "robust_high": robust_term.get("high"), "robust_p": robust_term.get("p"), "n": fit["n"],
                "r2": fit["r2"],
            "df": fit["df"], "clusters": int(frame["cluster"].nunique()), "key": outcome, "term": term["term"],
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
            "OLS of each outcome on all varying parameters and on the players as factors, relative to the most "
            "frequent level; classical and robust standard errors; p-values raw and Holm-adjusted over the whole "
            "table."
        ),
        columns={"matches": ["match", "player_*"]},
        run=run,
    )
]
