"""general.effects: effects of factors, parameters and players on outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import UNITS, Unit, drawn_for_each_match, units, with_holm
from analysis.options import Options
from analysis.results import Analysis, Result
from analysis.tables import Chart, Table, number, text
from analysis.toolbox.effects import Effects

OF_TERM = ("estimate", "se", "low", "high", "p", "df", "components", "method", "note")


def run(data: Data, options: Options) -> Result:
    """Return OLS regressions of every outcome on all varying factors and parameters and on who played."""
    warnings: list[str] = []
    terms = pd.DataFrame([term for unit in units(data) for term in _terms(unit, options, warnings)])
    if not len(terms):
        raise SkippedError("No parameter varies, and every match had the same players.")
    if drawn := drawn_for_each_match(data):
        warnings.append(f"Left out because of too many distinct values: {', '.join(map(data.heading, drawn))}.")
    is_effect = terms["term"] != "Intercept"
    effects = with_holm(terms[is_effect])
    where = effects["factor"] + ": " + effects["level"] + " (vs " + effects["reference"] + ")"
    table = Table(
        "coefficients", "Effects on each outcome",
        ["outcome", "factor", "level", text("reference", "Reference"), number("estimate", "Effect"), "se", "low",
         "high", "p", "p_holm", "n", "components", "note"],
        terms.assign(p_holm=effects["p_holm"]),
        note="Units: independent units on the smaller side of the comparison. Holm's adjustment is over the whole "
        "table.",
        charts=[Chart("dots", name="effects", title="Effects with confidence intervals",
                      rows=effects.assign(where=where), y="where", facet="outcome", line=0,
                      most={"facet": 6, "y": 40})],
    )  # fmt: skip
    return Result([table], numbers=table.numbers("{key}: {term}", is_effect), warnings=list(dict.fromkeys(warnings)))


def _terms(unit: Unit, options: Options, warnings: list[str]) -> Iterator[dict[str, Any]]:
    frame = unit.frame
    references = {name: Counter(frame[name].dropna()).most_common(1)[0][0]
                  for name in unit.factors if frame[name].nunique() > 1}  # fmt: skip
    if not references:
        return
    prepared = Effects(frame, references, group="cluster", replay="replay", cell=["cell"])
    for outcome, heading in unit.outcomes.items():
        if frame[outcome].nunique() < 2:
            continue
        bounds = (0.0, 1.0) if outcome in unit.shares else None
        fit = prepared.on(frame[outcome].to_numpy(dtype=float), bounds=bounds, level=options.level)
        if fit["dropped"]:
            warnings.append(f"{heading}: dropped because of collinearity: {', '.join(fit['dropped'])}.")
        for term in fit["terms"]:
            name, _equals, level = term["term"].partition("=")
            yield {
                "outcome": heading, "factor": unit.heading(name), "level": level,
                "reference": references.get(name, ""), **{key: term[key] for key in OF_TERM}, "n": fit["n"],
                "r2": fit["r2"], "clusters": fit["clusters"], "key": outcome, "term": term["term"], "unit": unit.name,
            }  # fmt: skip


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
