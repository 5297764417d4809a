"""general.effects: effects of factors, parameters and players on outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import (
    EXPLORATORY,
    FAR,
    GROUP,
    POSITION,
    UNITS,
    Unit,
    drawn_for_each_match,
    estimates,
    factors_and_levels,
    far,
    people_in,
    sorted_levels,
    units,
    with_q,
    without_unverified,
)
from analysis.general.attrition import Loss, losses
from analysis.options import Options
from analysis.reasons import without_treatment
from analysis.results import Result, analysis
from analysis.tables import Chart, Table, formatted, number, text
from analysis.toolbox import lee_bounds
from analysis.toolbox.effects import OF_TERM, Effects
from analysis.toolbox.nonlinear import MOST_ANSWERS, logit_effects, ordered_logit

OF_LEE = ("lee", "lee_low", "lee_high", "trimmed")
MOST_CONTRASTS = 12
"""Pairs of factors with more interaction contrasts than this are left out."""
LEE = (text("lee", "Lee bounds"),)
BOUNDS = "Lee bounds"
WITH_EXCLUDED = "assigned: with those excluded after treatment"


@dataclass
class Found:
    """Rows of the tables, collected over units and outcomes.

    Attributes:
        lost: how people were lost by each factor between participants; see `general.attrition`.
    """

    options: Options
    data: Data
    lost: Mapping[str, Loss]
    terms: list[dict[str, Any]] = field(default_factory=list)
    robust: list[dict[str, Any]] = field(default_factory=list)
    cells: list[pd.DataFrame] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@analysis(
    "general.effects", "Effects of parameters and players", "What are the effects of the parameters and the players?",
    "OLS of each outcome on the plan's factors, on parameters that vary otherwise, on the players and on the "
    "position of the match, relative to the most frequent level; contrasts of crossed factors from a "
    "regression with their interactions. Standard errors from leaving out one independent unit at a time "
    f"(CR3), t with Bell and McCaffrey's degrees of freedom. {UNITS} P-values with q-values (Benjamini and "
    "Hochberg).",
    columns={"matches": ["match", "player_*"]},
)  # fmt: skip
def run(data: Data, options: Options) -> Result:
    found = Found(options, data, losses(data, options))
    for unit in units(data):
        _effects(unit, found)
    if not found.terms:
        raise SkippedError("No parameter varies, and every match had the same players.")
    if drawn := drawn_for_each_match(data):
        found.warnings.append(f"Left out because of too many distinct values: {', '.join(map(data.heading, drawn))}.")
    terms = pd.DataFrame(found.terms)
    is_effect = terms["term"] != "Intercept"
    effects = with_q(terms[is_effect])
    where = effects["factor"] + ": " + effects["level"] + " (vs " + effects["reference"] + ")"
    lee = LEE if "lee_low" in terms else ()
    table = Table(
        "coefficients", "Effects on each outcome",
        ["outcome", "factor", "level", text("reference", "Reference"), number("estimate", "Effect"), "se", "low",
         "high", "p", "q", "n", "components", "method", *lee, "note"],
        terms.assign(q=effects["q"]),
        note=f"{EXPLORATORY} Units: independent units in the smallest of the cells compared. Effects of factors are "
        "averages over the factors with which they are crossed; A × B is the contrast of the effects of A between the "
        "levels of B.",
        charts=[Chart("dots", name="effects", title="Effects with confidence intervals",
                      rows=effects.assign(where=where), y="where", facet="outcome", line=0,
                      most={"facet": 6, "y": 40})],
    )  # fmt: skip
    tables = [table]
    if found.cells:
        cells = pd.concat(found.cells, ignore_index=True)
        drawn_cells = cells[cells["factors"] == cells["factors"].iloc[0]]
        tables.append(Table(
            "crossed", "Means and shares by the levels of crossed factors",
            ["outcome", text("factors", "Factors"), text("first", "First"), text("second", "Second"), "n", "clusters",
             "estimate", "low", "high", "method", "note"],
            cells,
            charts=[Chart("dots", name="crossed", title=f"Means by {drawn_cells['factors'].iloc[0]}", y="first",
                          colour="second", facet="outcome", titles={"x": "Mean or share"}, most={"facet": 6},
                          rows=drawn_cells)],
        ))  # fmt: skip
    if found.robust:
        tables.append(Table(
            "robustness", "Effects under other assumptions",
            ["outcome", "factor", "level", text("check", "Check"), number("estimate", "Effect"), "low", "high", "p",
             "n", "clusters", *(LEE if any(row["check"] == BOUNDS for row in found.robust) else ()), "note"],
            pd.DataFrame(found.robust),
            note="Marginal effects and odds ratios: errors clustered by independent unit (CR1). Lee bounds: the effect "
            "on those who would be analysed in either arm, with Imbens and Manski's interval for it.",
        ))  # fmt: skip
    named = table.numbers("{key}: {term}", is_effect)
    if found.robust:
        named |= tables[-1].numbers("{key}: {term}: {check}")
    return Result(tables, numbers=named, warnings=list(dict.fromkeys(found.warnings)))


def _effects(unit: Unit, found: Found) -> None:
    frame = unit.frame
    references = {name: Counter(frame[name].dropna()).most_common(1)[0][0]
                  for name in unit.factors if frame[name].nunique() > 1}  # fmt: skip
    if not references:
        return
    pairs = [*_crossed(unit, [*references], found.warnings)]
    if POSITION in frame:
        references[POSITION] = sorted_levels(frame[POSITION])[0]

    def prepared(rows: pd.DataFrame) -> tuple[pd.DataFrame, Effects]:
        return rows, Effects(rows, references, people_in(rows), "cluster", "replay", ["cell"], interactions=pairs,
                             set_by=GROUP, seed=found.options.seed)  # fmt: skip

    def fitted(rows: pd.DataFrame, effects: Effects, outcome: str) -> dict[str, Any]:
        return effects.on(rows[outcome].to_numpy(dtype=float), bounds=unit.ranges[outcome], level=found.options.level)

    main = prepared(frame)
    others = {"without unverified matches": without_unverified(found.data, frame),
              WITH_EXCLUDED: _assigned(found.data, unit)}  # fmt: skip
    of_others = {check: prepared(rows) for check, rows in others.items() if rows is not None}
    for outcome, heading in unit.outcomes.items():
        if frame[outcome].nunique() < 2:
            continue
        fit = fitted(*main, outcome)
        found.warnings += [f"{heading}: {remark}." for remark in fit["warnings"]]
        if fit["dropped"]:
            found.warnings.append(f"{heading}: dropped because of collinearity: {', '.join(fit['dropped'])}.")
        checks: list[tuple[str, list[dict[str, Any]]]] = [("wild cluster bootstrap", fit["robustness"])]
        checks += _other_models(unit, outcome, references, found.options)
        known, is_far = int(frame[outcome].notna().sum()), far(frame[outcome])
        samples = dict(of_others)
        if outcome not in unit.shares and 0 < is_far.sum() < known:
            without = f"without {int(is_far.sum())} values beyond {FAR} interquartile ranges"
            samples = {without: prepared(frame[~is_far]), **of_others}
        for check, (rows, effects) in samples.items():
            if 0 < rows[outcome].notna().sum() != known:
                other = fitted(rows, effects, outcome)
                size = {key: other[key] for key in ("n", "clusters")}
                checks.append((check, [term | size for term in other["terms"]]))
        lee = {f"{name}={level}": bounds_of for name, reference in references.items() if name in found.lost
               for level, bounds_of in _lee(unit, outcome, name, reference, found)}  # fmt: skip
        about = {"outcome": heading, "key": outcome, "unit": unit.name}
        by_term = {}
        for term in fit["terms"]:
            row = {**about, "term": term["term"], "n": fit["n"], "r2": fit["r2"], "clusters": fit["clusters"],
                   **_named(term["term"], unit, references), **{key: term[key] for key in OF_TERM}}  # fmt: skip
            by_term[term["term"]] = row
            if (of_lee := lee.get(term["term"])) and found.lost[term["term"].partition("=")[0]].matters:
                row |= {key: value for key, value in lee_row(of_lee).items() if key in OF_LEE}
            found.terms.append(row)
        checks.append((BOUNDS, [{"term": name, **lee_row(row)} for name, row in lee.items()]))
        for check, rows_of in checks:
            for row in rows_of:
                if (own := by_term.get(row["term"])) and row["term"] != "Intercept":
                    kept = {key: row.get(key) for key in ("estimate", "low", "high", "p", "method", "note", *OF_LEE)}
                    found.robust.append({**own, **kept, "n": row.get("n", own["n"]), "check": check,
                                         "clusters": row.get("clusters", own["clusters"])})  # fmt: skip
                    if check == WITH_EXCLUDED and row["estimate"] * own["estimate"] < 0:
                        found.warnings.append(f"{heading}: the effect of {own['factor']}: {own['level']} has the other "
                                              "sign if those excluded after treatment are counted.")  # fmt: skip
        for pair in pairs:
            means = estimates(frame, pair, outcome, share=outcome in unit.shares, level=found.options.level,
                              bounds=unit.ranges[outcome]).sort_values([*pair], kind="stable")  # fmt: skip
            factors = " × ".join(map(unit.heading, pair))
            found.cells.append(means.rename(columns=dict(zip(pair, ("first", "second"), strict=True))).assign(
                **about, factors=factors))  # fmt: skip


def _crossed(unit: Unit, factors: list[str], warnings: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of factors of which every combination of levels occurs."""
    for pair in combinations(factors, 2):
        levels = [unit.frame[name].nunique() for name in pair]
        if unit.frame.groupby([*pair]).ngroups < levels[0] * levels[1]:
            continue
        if (levels[0] - 1) * (levels[1] - 1) > MOST_CONTRASTS:
            warnings.append(f"The interaction of {' and '.join(map(unit.heading, pair))} has too many contrasts.")
        else:
            yield pair


def _named(term: str, unit: Unit, references: Mapping[str, str]) -> dict[str, str]:
    """Return the factor, level and reference of a term in the researcher's words."""
    factors, levels = factors_and_levels(term, references)
    return {
        "factor": " × ".join(map(unit.heading, factors or [term])),
        "level": " · ".join(levels),
        "reference": " · ".join(references.get(name, "") for name in factors),
    }


def _other_models(
    unit: Unit, outcome: str, references: Mapping[str, str], options: Options
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield logit marginal effects of a yes/no outcome, or the ordered logit of an ordered one, beside the linear."""
    rows = unit.frame[[outcome, *references, "cluster"]]
    low, high = unit.ranges[outcome]
    values = rows[outcome].dropna()
    if unit.frame["replay"].notna().all():
        return
    if outcome in unit.shares or set(values.unique()) == {0.0, 1.0}:
        yield "logit, average marginal effect", logit_effects(rows, outcome, references, "cluster", level=options.level)
    elif low is not None and high is not None and high - low < MOST_ANSWERS and (values == values.round()).all():
        yield "ordered logit, log odds ratio", ordered_logit(rows, outcome, references, "cluster", level=options.level)


def _assigned(data: Data, unit: Unit) -> pd.DataFrame | None:
    """Return the unit's rows with those that were excluded after treatment; None if the dataset holds none."""
    everything = data.with_excluded
    if everything is None:
        return None
    rows = next((other.frame for other in units(everything) if other.name == unit.name), None)
    if rows is None or not {*unit.outcomes, *unit.factors} <= set(rows):
        return None
    reasons = everything.table("matches", ["match", "reasons"]) if everything.has("matches", "reasons") else None
    if reasons is None:
        return rows
    left_out = set(reasons["match"][reasons["reasons"].fillna("").map(without_treatment)])
    return rows[~rows["match"].isin(left_out)]


def _lee(unit: Unit, outcome: str, factor: str, reference: str, found: Found) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield Lee bounds of each level's effect on the people's mean outcomes, if anybody was lost."""
    people = found.lost[factor].people
    if not people["lost"].any():
        return
    outcomes = _by_participant(found.data, unit, outcome)
    rows = people.assign(outcome=people["participant"].map(outcomes), analysed=people["lost"] == 0)
    for level in sorted(set(rows[factor].dropna()) - {reference}):
        of_both = rows[rows[factor].isin([reference, level])]
        of_both = of_both.assign(arm=of_both[factor] == level)
        bounds = lee_bounds(of_both, "outcome", "arm", "analysed", group="cluster", draws=found.options.draws,
                            seed=found.options.seed, level=found.options.level)  # fmt: skip
        if bounds["low"] is not None:
            yield level, bounds


def _by_participant(data: Data, unit: Unit, outcome: str) -> pd.Series:
    """Return the mean outcome of each participant's matches or seats."""
    if unit.name == "seat":
        seats = data.table("seats", ["match", "role", "participant"]).dropna()
        rows = unit.frame[["match", "role", outcome]].merge(seats, on=["match", "role"])
    else:
        names = [name for name in data.names("matches") if name.startswith("participant_")]
        of_match = data.table("matches", ["match", *names]).melt("match", value_name="participant").dropna()
        rows = unit.frame[["match", outcome]].merge(of_match[["match", "participant"]], on="match")
    return rows.groupby("participant")[outcome].mean()


def lee_row(bounds: Mapping[str, Any]) -> dict[str, Any]:
    """Return Lee bounds as a row; what is between them is no estimate."""
    return {"estimate": None, "method": "Imbens–Manski", "low": bounds["ci_low"], "high": bounds["ci_high"],
            "n": bounds["n"], "clusters": bounds["clusters"], "lee_low": bounds["low"], "lee_high": bounds["high"],
            "lee": f"{formatted(bounds['low'], 'number')} to {formatted(bounds['high'], 'number')}",
            "trimmed": bounds["trimmed"], "note": bounds.get("note", "")}  # fmt: skip


ANALYSES = [run]
