"""The twelve regressions: effects of markets, parameters and players (section 4; tables 2 and 3; appendix F)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis import toolbox
from analysis.data import Data
from analysis.frames import with_holm
from analysis.options import Options
from analysis.published.glee import printed
from analysis.published.glee.families import (
    FAMILIES,
    FAMILY,
    GAINS,
    HUMAN,
    MARKET,
    METRIC,
    METRICS,
    ROLES,
    display,
    families,
    frame,
    of_families,
    reference_player,
)
from analysis.results import Result
from analysis.tables import Chart, Table, count, number, numbers, records, text
from analysis.toolbox import ols

POINTS = 100
"""Factor that converts effects to percentage points."""
IN_POINTS = ("estimate", "se", "low", "high")
FORMULA_NOTE = (
    "The published values for {metrics} may come from code whose formulas differ from the paper's; other values should "
    "agree up to rounding."
)
REGRESSION = (
    "OLS of the metric on parameters, market (all combinations as one factor) and both players, one match per row; "
    "intervals from leaving out one independent unit at a time (CR3), classical ones only where the paper shows them; "
)
ALL_MATCHES = "All matches are included, with and without people, because the paper does not say which it used."


@dataclass(frozen=True)
class Fit:
    """A regression.

    Attributes:
        terms: one row per factor's level, with those of `toolbox.effects` in percentage points, and `factor`, `level`,
            the paper's classical standard error and half the width of its interval, and whether the level is a
            reference, whose effect is 0.
    """

    terms: pd.DataFrame
    n: int
    r2: float | None
    warnings: Sequence[str]

    def of(self, factor: str) -> pd.DataFrame:
        """Return the terms of a factor."""
        return self.terms[self.terms["factor"] == factor]


def regress(rows: pd.DataFrame, family: str, metric: str, *, level: float = 0.95) -> Fit:
    """Regress the metric on parameters, market and both players."""
    reference, warning = reference_player(rows)
    factors = {**FAMILIES[family].factors, **dict.fromkeys(ROLES, reference)}
    fit = toolbox.effects(rows, metric, factors, group="cluster", replay="replay", cell=["setting"], interactions=(),
                          level=level)  # fmt: skip
    classical = pd.DataFrame(ols(rows, metric, factors, level=level)["terms"], columns=["term", "se", "low", "high"])
    classical = classical.set_index("term").astype("float64")
    half = (classical["high"] - classical["low"]) / 2
    found = pd.DataFrame(fit["terms"]).reindex(columns=["term", *IN_POINTS, "p", "components", "note"])
    found = found.assign(classical_se=found["term"].map(classical["se"]), classical_half=found["term"].map(half))
    found[[*IN_POINTS, "classical_se", "classical_half"]] *= POINTS
    known = {*found["term"], *fit["dropped"]}
    references = [
        {"term": term, "estimate": 0.0, "reference": True} for factor in factors
        for term in (f"{factor}={value}" for value in sorted(set(rows[factor].dropna().tolist()), key=str))
        if term not in known
    ]  # fmt: skip
    terms = pd.concat([pd.DataFrame(references), found], ignore_index=True)
    names = terms["term"].str.partition("=")
    terms = terms.assign(factor=names[0], level=names[2].map(_level), reference=terms["reference"].notna())
    terms = terms.reindex(columns=[*IN_POINTS, "p", "classical_se", "classical_half", "factor", "level", "components",
                                   "note", "reference"])  # fmt: skip
    place = terms["factor"].map({name: index for index, name in enumerate(("Intercept", *factors))})
    warnings = [warning] + [message for message in fit["warnings"] if not message.startswith(("alice:", "bob:"))]
    if fit["dropped"]:
        warnings.append(f"Dropped because of collinearity with earlier columns: {', '.join(fit['dropped'])}.")
    terms = terms.iloc[place.argsort(kind="stable")].reset_index(drop=True)
    return Fit(terms.fillna({"note": ""}), fit["n"], fit["r2"], [message for message in warnings if message])


def _level(value: str) -> str:
    try:
        return display(float(value))
    except ValueError:
        return value


def _warnings(fits: Sequence[Fit]) -> list[str]:
    return list(dict.fromkeys(message for fit in fits for message in fit.warnings))


def _formula_note(family: str, metrics: Sequence[str]) -> str:
    names = [METRICS[metric].lower() for metric in metrics if metric in FAMILIES[family].other_formulas]
    return FORMULA_NOTE.format(metrics=" and ".join(names)) if names else ""


@of_families(
    "glee.market", "Market conditions (GLEE, table 2)",
    "Do horizon, information and messages change efficiency and fairness?",
    f"{REGRESSION}coefficients of the market, sorted by efficiency. {ALL_MATCHES}",
)  # fmt: skip
def market(data: Data, options: Options) -> Result:
    tables: list[Table] = []
    found: dict[str, Any] = {}
    warnings: list[str] = []
    measures = ("efficiency", "fairness")
    for family in families(data):
        rows = frame(data, family)
        fits = {metric: regress(rows, family, metric, level=options.level) for metric in measures}
        warnings += _warnings([*fits.values()])
        results, widths = market_rows(family, fits)
        note = "Largest half-width of the classical intervals in each column: " + ", ".join(
            f"{METRICS[metric].lower()} ±{width:.1f}" for metric, width in widths.items() if width is not None
        )
        tables.append(Table(
            family, f"{FAMILIES[family].title}: effect of the market, in percentage points",
            [*(text(f"market_{index}", title) for index, (_column, title) in enumerate(FAMILIES[family].market)),
             *(number(metric, METRICS[metric]) for metric in measures),
             *(number(f"published_{metric}", f"Published {metric}") for metric in measures)],
            results,
            note=f"{note}. Bold: within one half-width of the best; underlined: within one half-width of the worst. "
            "Published values are matched by their rank in efficiency (within the same horizon), because the text of "
            "the published table lacks the check marks in the other columns. "
            f"{_formula_note(family, measures)}".strip(),
            bold={metric: f"best_{metric}" for metric in measures},
            underlined={metric: f"worst_{metric}" for metric in measures},
        ))  # fmt: skip
        for metric, fit in fits.items():
            found |= numbers(fit.of(MARKET).assign(n=fit.n), f"{family}.{metric}.{{level}}")
    return Result(tables, numbers=found, warnings=warnings)


def market_rows(family: str, fits: Mapping[str, Fit]) -> tuple[pd.DataFrame, dict[str, float | None]]:
    """Return the rows of table 2, sorted by efficiency, and the half-width of each column."""
    terms = {metric: fit.of(MARKET).set_index("level") for metric, fit in fits.items()}
    ordered = terms["efficiency"].sort_values("estimate", ascending=False, kind="stable")
    levels = ordered.index
    rows = levels.to_series().str.split(" · ", expand=True).add_prefix("market_")
    rows = rows.assign(**{metric: of["estimate"].reindex(levels) for metric, of in terms.items()},
                       reference=ordered["reference"])  # fmt: skip
    widths: dict[str, float | None] = {}
    for metric, of in terms.items():
        rows[f"{metric}_classical_half"] = of["classical_half"].reindex(levels)
        width = of["classical_half"].max()
        widths[metric] = None if np.isnan(width) else width
    for metric, half in widths.items():
        rows[f"best_{metric}"] = rows[metric] >= rows[metric].max() - (half or 0)
        rows[f"worst_{metric}"] = rows[metric] <= rows[metric].min() + (half or 0)
    published = _published(family, rows["market_0"].tolist(), rows["reference"].tolist())
    return rows.join(pd.DataFrame(published, levels, ["published_efficiency", "published_fairness"])), widths


def _published(
    family: str, horizons: Sequence[str], references: Sequence[bool]
) -> list[tuple[float | None, float | None]]:
    """Return published values by horizon and rank; the reference level gets the published reference."""
    remaining = {horizon: list(values) for horizon, values in printed.MARKETS[family].items()}
    found: list[tuple[float | None, float | None]] = []
    for of_row, is_reference in zip(horizons, references, strict=True):
        unused = remaining.get(of_row if "∞" in remaining else "") or []
        pair = next((pair for pair in unused if (pair == printed.REFERENCE) == is_reference), None)
        if pair is not None:
            unused.remove(pair)
        found.append(pair or (None, None))
    return found


@of_families(
    "glee.effects", "All effects of parameters (GLEE, appendix F)", "What is the effect of each parameter?",
    f"{REGRESSION}all coefficients in percentage points, with raw and Holm-adjusted p-values. "
    "We take the published metric values to be these coefficients, not means over configurations.",
)  # fmt: skip
def effects(data: Data, options: Options) -> Result:
    tables: list[Table] = []
    warnings: list[str] = []
    for family in families(data):
        rows, title = frame(data, family), FAMILIES[family].title
        fits = {metric: regress(rows, family, metric, level=options.level) for metric in METRICS}
        names = {column: heading for column, (heading, _reference) in FAMILIES[family].parameters.items()}
        names |= {MARKET: " · ".join(heading for _column, heading in FAMILIES[family].market), "alice": "Alice",
                  "bob": "Bob", "Intercept": "Intercept"}  # fmt: skip
        found = pd.concat([fit.terms.assign(metric=METRICS[metric], n=fit.n, r2=fit.r2)
                           for metric, fit in fits.items()], ignore_index=True)  # fmt: skip
        found = with_holm(found.assign(factor=found["factor"].map(names)))
        drawn = found[~found["factor"].isin(["Alice", "Bob", "Intercept"])]
        warnings += _warnings([*fits.values()])
        tables.append(Table(
            family, f"{title}: coefficients, in percentage points",
            [METRIC, "factor", "level", number("estimate", "Effect"), "se", "low", "high", "p", "p_holm",
             number("classical_se", "SE, classical"), "n", "components", "note"],
            found,
            note="Effects are relative to the level whose effect is 0. The paper's standard errors are the "
            "classical ones, and its p-values are unadjusted.",
            charts=[Chart("dots", title=f"{title}: effects of parameters and markets", y="where", facet="metric",
                          rows=drawn.assign(where=drawn["factor"] + ": " + drawn["level"]), line=0,
                          titles={"x": "Percentage points"})],
        ))  # fmt: skip
        if family == "negotiation" and len(rows):
            fairness = rows["fairness"].dropna()
            share_in_range = POINTS * (1 - (~fairness.between(0, 1)).sum() / max(1, len(fairness)))
            warnings.append(
                f"Negotiation: fairness is not bounded; {share_in_range:.1f} % of its values lie in [0, 1]."
            )
        if rows["unverified"].any():
            warnings.append(_robustness(rows, family, fits))
    return Result(tables, warnings=warnings)


def _robustness(rows: pd.DataFrame, family: str, fits: Mapping[str, Fit]) -> str:
    """Return a sentence on how much coefficients change without the unverified matches."""
    verified = rows[~rows["unverified"]]
    changes: list[float] = []
    for metric, fit in fits.items():
        without = regress(verified, family, metric).terms if len(verified) else fit.terms[:0]
        both = fit.terms.merge(without, on=["factor", "level"])
        changes += (both["estimate_x"] - both["estimate_y"]).abs().tolist()
    return (
        f"{FAMILIES[family].title}: {int(rows['unverified'].sum()):,} matches that break the rules are included; "
        f"without them, no coefficient changes by more than {max(changes, default=0):.2f} percentage points."
    )


def player_terms(data: Data, family: str, options: Options) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Return the coefficients of the players on their own self-gain, by role from the highest, and warnings."""
    rows = frame(data, family)
    fits = {role: regress(rows, family, metric, level=options.level)
            for role, metric in zip(ROLES, GAINS, strict=True)}  # fmt: skip
    terms = {
        role: fit.of(role).assign(player=fit.of(role)["level"], role=role.capitalize(), n=fit.n,
                                  matches=fit.of(role)["level"].map(rows[role].value_counts()).fillna(0).astype(int))
        .sort_values("estimate", ascending=False, kind="stable")
        for role, fit in fits.items()
    }  # fmt: skip
    return terms, _warnings([*fits.values()])


@of_families(
    "glee.players", "Players' self-gain (GLEE, table 3)", "Which players gain, and in which role?",
    f"{REGRESSION}coefficients of the players as Alice and as Bob on their own self-gain, relative to "
    f"gemini-1.5-flash. {ALL_MATCHES}",
)  # fmt: skip
def players(data: Data, options: Options) -> Result:
    tables: list[Table] = []
    found: dict[str, Any] = {}
    warnings: list[str] = []
    for family in families(data):
        terms_by_role, notes = player_terms(data, family, options)
        warnings += notes
        title = f"{FAMILIES[family].title}: effect of the player on their own self-gain"
        measures = ("classical_half", "low", "high", "p", "matches")
        columns, sides = [text("player", "Player")], []
        for role, terms in terms_by_role.items():
            columns += [number(role, role.capitalize()), number(f"{role}_classical_half", "±, classical"),
                        number(f"{role}_low", "Low"), number(f"{role}_high", "High"),
                        text(f"published_{role}", f"{role.capitalize()}, published")]  # fmt: skip
            of = terms.set_index("player")[["estimate", *measures]]
            of.columns = [role, *(f"{role}_{name}" for name in measures)]
            of[f"published_{role}"] = [printed.player(str(name), family, role) for name in of.index]
            sides.append(of)
            shown = terms[~terms["reference"]]
            found |= numbers(shown.assign(n=shown["matches"]), f"{family}.{role}.{{player}}")
        table = pd.concat(sides, axis=1).reset_index(names="player")
        tables.append(Table(
            family, f"{title}, in percentage points", columns,
            table.sort_values("alice", ascending=False, kind="stable"),
            note="±, classical: as published, half the width of the interval for independent matches. Sorted by effect "
            f"as Alice. {_formula_note(family, GAINS)}".strip(),
            charts=[Chart("dots", title=title, y="player", facet="role", line=0, titles={"x": "Percentage points"},
                          rows=pd.concat(terms_by_role.values()))],
        ))  # fmt: skip
    return Result(tables, numbers=found, warnings=warnings)


@of_families(
    "glee.humans", "People among the players (GLEE, question 3)", "Are people different from models?",
    f"{REGRESSION}rank of people among the coefficients on self-gain, and their interval compared with the "
    "best and the worst model's coefficient.",
    needs="both",
)  # fmt: skip
def humans(data: Data, options: Options) -> Result:
    ranks: list[dict[str, Any]] = []
    charts: list[Chart] = []
    warnings: list[str] = []
    for family in families(data):
        terms_by_role, notes = player_terms(data, family, options)
        warnings += notes
        drawn = []
        for role, terms in terms_by_role.items():
            if (row := rank_of_humans(terms)) is not None:
                ranks.append({"family": FAMILIES[family].title, "role": role.capitalize(), **row,
                              "published": printed.HUMANS[family, role], "key": f"{family}.{role}"})  # fmt: skip
                drawn.append(terms.assign(who=np.where(terms["player"] == HUMAN, "people", "models")))
        if drawn:
            charts.append(Chart("dots", name=family, title=f"{FAMILIES[family].title}: people among the players",
                                y="player", colour="who", facet="role", line=0, rows=pd.concat(drawn),
                                titles={"x": "Effect on their own self-gain, percentage points"}))  # fmt: skip
    found = pd.DataFrame(ranks)
    table = Table(
        "ranks", "Rank of people among the players, by effect on their own self-gain",
        [FAMILY, "role", count("rank", "Rank"), count("of", "of"), number("estimate", "People"), "low", "high",
         text("best", "Best model"), number("best_estimate", "Its effect"), text("worst", "Worst model"),
         number("worst_estimate", "Its effect"), text("verdict", "People's interval"),
         text("published", "Published rank")],
        found.drop(columns="key", errors="ignore"), charts=charts,
        note="Percentage points; rank 1 is the highest. See general.human_vs_model for people and models in "
        "the same configuration and role, against the same opponents.",
    )  # fmt: skip
    return Result([table], numbers=numbers(found, "{key}"), warnings=warnings)


def rank_of_humans(terms: pd.DataFrame) -> dict[str, Any] | None:
    """Return the rank of people among these sorted coefficients, and how their interval compares with the models."""
    people = records(terms[terms["player"] == HUMAN])
    models = records(terms[terms["player"] != HUMAN])
    if not people or not models:
        return None
    person, best, worst = people[0], models[0], models[-1]
    verdict = "within the range of models"
    if person["low"] is None:
        verdict = "unknown"
    elif person["low"] > best["estimate"]:
        verdict = "above the best model"
    elif person["high"] < worst["estimate"]:
        verdict = "below the worst model"
    return {
        "rank": 1 + sum(term["estimate"] > person["estimate"] for term in models), "of": len(models) + 1,
        "estimate": person["estimate"], "low": person["low"], "high": person["high"], "n": person["matches"],
        "best": best["player"], "best_estimate": best["estimate"],
        "worst": worst["player"], "worst_estimate": worst["estimate"], "verdict": verdict,
    }  # fmt: skip
