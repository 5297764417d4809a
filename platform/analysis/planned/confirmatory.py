"""general.confirmatory: the planned hypotheses, as they were frozen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import FAR, GROUP, UNITS, far, people_in
from analysis.general.attrition import LOST_DIFFERENTLY, NO_DIFFERENCE, NOBODY_LOST, loss_test
from analysis.general.effects import BOUNDS, lee_row
from analysis.options import Options
from analysis.planned.hypotheses import ASSIGNED, PRIMARY, AnalysisPlan, Hypothesis, plan_of
from analysis.planned.samples import BLOCK, PEOPLE, UNIT, Sample, Y, sample_of
from analysis.results import Result, analysis
from analysis.tables import NUMBERS, Chart, Column, Table, count, number, text
from analysis.toolbox import holm, lee_bounds
from analysis.toolbox.effects import OF_TERM, Effects
from analysis.toolbox.nonlinear import MOST_ANSWERS, logit_effects, ordered_logit
from games.errors import BadText

ID = "general.confirmatory"
NO_PLAN, WITHDRAWN = "No analysis was planned.", "Every planned hypothesis was removed after the launch."
UNTESTED = "was planned and could not be tested"
LINEAR, LOGIT, ORDERED, LOG = "linear", "logit", "ordered", "log"


@dataclass(frozen=True)
class Tested:
    """A hypothesis under one estimand.

    Attributes:
        row: the table's row.
        checks: rows of the robustness table.
    """

    hypothesis: Hypothesis
    sample: Sample
    row: dict[str, Any]
    checks: list[dict[str, Any]]


@analysis(
    ID, "Planned hypotheses", "What do the planned comparisons show?",
    "OLS of each outcome on the planned contrast, the plan's other factors, the position of the match and the "
    "earlier answers named in the plan. Standard errors from leaving out one independent unit at a time (CR3), "
    f"t with Bell and McCaffrey's degrees of freedom. {UNITS} Beside it p by randomisation: units are assigned "
    "again under the plan's rule. Holm's adjustment within each family.",
)  # fmt: skip
def run(data: Data, options: Options) -> Result:
    plan = plan_of(data)
    if plan is None or not plan.hypotheses:
        raise SkippedError(NO_PLAN if plan is None else WITHDRAWN)
    tested, untested = [], []
    for hypothesis in plan.hypotheses:
        try:
            tested += [_tested(data, hypothesis, estimand, options) for estimand in hypothesis.estimands]
        except (SkippedError, BadText) as problem:
            untested.append(f"{hypothesis.name} {UNTESTED}: {problem}")
    rows = pd.DataFrame([one.row for one in tested])
    checks = pd.DataFrame([row for one in tested for row in one.checks])
    warnings = [*plan.warnings, *untested, *(warning for one in tested for warning in _warnings(one, options))]
    if not tested:
        return Result(warnings=warnings)
    rows = _with_holm(rows, plan)
    shown = rows[rows["role"] == PRIMARY] if (rows["role"] == PRIMARY).any() else rows
    tables = [
        Table(
            "hypotheses", "Planned comparisons",
            [text("hypothesis", "Hypothesis"), "outcome", text("contrast", "Comparison"), text("estimand", "Estimand"),
             number("estimate", "Difference"), "se", "low", "high", "p", "p_holm",
             Column("p_randomisation", "p, randomisation", "p"), Column("p_randomisation_holm", "Holm", "p"), "n",
             "components", "method", "note"],
            rows,
            note="Difference: first level minus second. p by the method named, and by randomisation: what would have "
            "been found if units had been assigned otherwise under the plan's rule. Holm's adjustment is within each "
            f"family; intervals are per hypothesis. {_families(plan)}",
            charts=[Chart("dots", name="hypotheses", title="Planned comparisons with confidence intervals", rows=shown,
                          y="contrast", facet="outcome", colour="estimand", line=0, most={"facet": 8, "y": 40})],
        ),
        Table(
            "people", "People randomised and analysed in the arms compared",
            [text("hypothesis", "Hypothesis"), text("estimand", "Estimand"), text("level", "Arm"),
             count("randomised", "Randomised"), count("analysed", "Analysed"), text("verdict", "Attrition"),
             Column("p_attrition", "p, attrition", "p")],
            [row for one in tested for row in _arms(one)],
            note="Attrition: whether people who are not in the dataset were lost differently in the two arms.",
        ),
    ]  # fmt: skip
    if len(checks):
        tables.append(Table(
            "robustness", "Planned comparisons under other assumptions",
            [text("hypothesis", "Hypothesis"), text("estimand", "Estimand"), text("check", "Check"),
             number("estimate", "Difference"), "low", "high", "p", "n", text("lee", "Lee bounds"), "note"],
            checks,
            note="Logit and ordered logit: average marginal effect and log odds ratio, errors clustered by independent "
            "unit (CR1). Lee bounds: the effect on those who would be analysed in either arm, with Imbens and Manski's "
            "interval.",
        ))  # fmt: skip
    named = {f"{row['hypothesis']}: {row['estimand']}": {key: row[key] for key in (*NUMBERS, *BESIDE) if key in row}
             for row in tables[0].records}  # fmt: skip
    if len(checks):
        named |= tables[-1].numbers("{hypothesis}: {estimand}: {check}")
    return Result(tables, numbers=named, warnings=list(dict.fromkeys(warnings)))


BESIDE = ("p_holm", "p_randomisation", "p_randomisation_holm")


def _families(plan: AnalysisPlan) -> str:
    parts = [f"{family}: {', '.join(h.name for h in plan.hypotheses if h.family == family)}"
             for family in plan.families]  # fmt: skip
    return f"Famil{'y' if len(parts) == 1 else 'ies'}: {'; '.join(parts)}."


def _with_holm(rows: pd.DataFrame, plan: AnalysisPlan) -> pd.DataFrame:
    """Return the rows with Holm's p within each family, of headlines and of second estimands.

    A planned test without a p-value counts with 1, so that the others are not adjusted for less than was planned.
    """
    planned = {(family, rank): sum(len(h.estimands) > rank for h in plan.hypotheses if h.family == family)
               for family in plan.families for rank in (0, 1)}  # fmt: skip
    for name in ("p", "p_randomisation"):
        adjusted = np.full(len(rows), np.nan)
        for (family, rank), number_planned in planned.items():
            here = np.flatnonzero((rows["family"] == family) & (rows["rank"] == rank))
            values = rows[name].iloc[here].astype("float64").fillna(1.0).tolist()
            adjusted[here] = holm([*values, *[1.0] * (number_planned - len(values))])[: len(values)]
        rows[f"{name}_holm"] = np.where(rows[name].isna(), np.nan, adjusted)
    return rows


# ---- one hypothesis ------------------------------------------------------------------------------------------


def _tested(data: Data, hypothesis: Hypothesis, estimand: str, options: Options) -> Tested:
    sample = sample_of(data, hypothesis, estimand)
    model = hypothesis.model
    if model == "auto":
        model = LOG if sample.unit == "seconds" else LINEAR
    if model == LOG:
        positive = sample.frame[Y] > 0
        if not positive.all():
            sample.notes.append(f"{int((~positive).sum())} values that are not positive have no logarithm")
        kept = sample.frame[positive].reset_index(drop=True)
        sample = replace(sample, frame=kept.assign(**{Y: np.log(kept[Y])}), bounds=(None, None))
    prepared = _effects(sample, options)
    y = sample.frame[Y].to_numpy(dtype=float)
    fit = prepared.on(y, bounds=sample.bounds, level=options.level)
    term = next((term for term in fit["terms"] if term["term"] == sample.term), None)
    if term is None:
        raise SkippedError(
            f"{hypothesis.first} and {hypothesis.second} cannot be distinguished from the other factors."
        )
    by_randomisation = None if sample.undrawn else prepared.randomised(y, sample.term, level=options.level)
    lost, verdict, p_attrition = _attrition(sample, options)
    row: dict[str, Any] = {
        "hypothesis": hypothesis.name, "claim": hypothesis.claim, "role": hypothesis.role, "family": hypothesis.family,
        "outcome": sample.heading, "contrast": contrast(hypothesis), "estimand": estimand,
        "rank": hypothesis.estimands.index(estimand), "model": model, "yes_no": sample.yes_no, "level": options.level,
        **{key: term[key] for key in OF_TERM},
        "n": fit["n"], "clusters": fit["clusters"], "p_randomisation": (by_randomisation or {}).get("p"),
        "without_randomisation": sample.undrawn or ("" if by_randomisation else "fewer than two units were assigned"),
        "verdict": verdict, "p_attrition": p_attrition, "missing": sample.missing, "left_out": sample.left_out,
    }  # fmt: skip
    if model in (LOGIT, ORDERED):
        found = _nonlinear(model, sample, options)
        row |= dict.fromkeys(("estimate", "se", "low", "high", "p", "df")) | {"method": "none"} if found is None else {
            key: found[key] for key in ("estimate", "se", "low", "high", "p", "df", "method")}  # fmt: skip
        row["note"] = "the model has no solution" if found is None else ""
    elif fit["dropped"]:
        sample.notes.append(f"left out as determined by the others: {', '.join(fit['dropped'])}")
    sample.notes.extend(remark for remark in fit["warnings"] if "does not occur" not in remark)
    checks = [{"check": "wild cluster bootstrap", **term} for term in fit["robustness"] if term["term"] == sample.term]
    checks += _checks(data, hypothesis, estimand, model, sample, options)
    if lost is not None:
        checks.append(lost)
    about = {"hypothesis": hypothesis.name, "outcome": sample.heading, "estimand": estimand}
    shown = ("estimate", "low", "high", "p", "n", "clusters", "method", "note", "lee", "lee_low", "lee_high")
    return Tested(hypothesis, sample, row, [
        {**about, "check": check["check"], **{key: check.get(key) for key in shown}} for check in checks])  # fmt: skip


def contrast(hypothesis: Hypothesis) -> str:
    """Return what is compared, in the researcher's names."""
    if hypothesis.of_players:
        seat = f" as {hypothesis.seat}" if hypothesis.seat else ""
        return f"{hypothesis.first} minus {hypothesis.second}{seat}"
    first, second = hypothesis.levels[0]
    words = f"{hypothesis.factors[0]}: {first} minus {second}"
    if len(hypothesis.factors) == 2:
        of_other, than = hypothesis.levels[1]
        words += f", at {hypothesis.factors[1]}: {of_other} minus {than}"
    return words


def _effects(sample: Sample, options: Options) -> Effects:
    """Return the regression: the contrast, the other factors, the position and the earlier answers."""
    names = [name.partition("=")[0] for name in sample.term.split(":")]
    pairs = [(names[0], names[1])] if len(names) == 2 else []
    assignment = {} if sample.undrawn else {"unit": UNIT, "block": BLOCK}
    return Effects(
        sample.frame, sample.factors, people_in(sample.frame), "cluster", None, (), assignment, seed=options.seed,
        interactions=pairs, covariates=sample.covariates, set_by=GROUP,
    )  # fmt: skip


def _checks(
    data: Data, hypothesis: Hypothesis, estimand: str, model: str, sample: Sample, options: Options
) -> Iterator[dict[str, Any]]:
    """Yield the comparison under other models, without far values, and with those whom the plan excludes."""
    low, high = sample.bounds
    values = sample.frame[Y]
    others = []
    if model == LINEAR and (sample.yes_no or set(values.unique()) == {0.0, 1.0}):
        others.append(LOGIT)
    elif model == LINEAR and low is not None and high is not None and high - low < MOST_ANSWERS and (
        values == values.round()).all():  # fmt: skip
        others.append(ORDERED)
    for other in others:
        if found := _nonlinear(other, sample, options):
            yield {"check": "logit, average marginal effect" if other == LOGIT else "ordered logit, log odds ratio",
                   **found}  # fmt: skip
    if model in (LOGIT, ORDERED):
        yield {"check": "linear", **_linear(sample, options)}
    is_far = far(values)
    if is_far.any() and not sample.yes_no:
        kept = replace(sample, frame=sample.frame[~is_far].reset_index(drop=True))
        yield {"check": f"without {int(is_far.sum())} values beyond {FAR} interquartile ranges",
               **_linear(kept, options)}  # fmt: skip
    if hypothesis.adjust:
        yield {"check": "without the adjustment", **_linear(replace(sample, covariates=[]), options)}
    if sample.left_out:
        everybody = sample_of(data, hypothesis, estimand, exclude=False)
        yield {"check": f"with the {sample.left_out} whom the plan excludes", **_linear(everybody, options)}


def _linear(sample: Sample, options: Options) -> dict[str, Any]:
    fit = _effects(sample, options).on(sample.frame[Y].to_numpy(dtype=float), bounds=sample.bounds, level=options.level)
    term: dict[str, Any] = next((term for term in fit["terms"] if term["term"] == sample.term), {})
    return {**dict.fromkeys(OF_TERM), **term, "n": fit["n"], "clusters": fit["clusters"]}


def _nonlinear(model: str, sample: Sample, options: Options) -> dict[str, Any] | None:
    """Return the contrast by logit or ordered logit with the factors; None without a solution."""
    if ":" in sample.term:
        return None
    fitted = logit_effects if model == LOGIT else ordered_logit
    rows = fitted(sample.frame, Y, sample.factors, "cluster", level=options.level)
    return next((row for row in rows if row["term"] == sample.term), None)


def _attrition(sample: Sample, options: Options) -> tuple[dict[str, Any] | None, str, float | None]:
    """Return Lee bounds, the verdict on attrition and its p-value; nothing for a factor within participants."""
    people = sample.people
    if not sample.between or not len(people) or people["level"].nunique() < 2:
        return None, "", None
    people = people.assign(lost=1.0 - people["in_dataset"].fillna(False).astype("float64"))
    p = loss_test(people[["lost", "level", "cluster"]], options)["p"]
    different = p is not None and p < 1 - options.level
    verdict = LOST_DIFFERENTLY if different else NO_DIFFERENCE if people["lost"].any() else NOBODY_LOST
    rows = pd.DataFrame({"participant": sample.frame[PEOPLE], "outcome": sample.frame[Y]}).explode("participant")
    by_person = rows.groupby("participant")["outcome"].mean()
    first = sample.term.partition(":")[0].partition("=")[2]
    people = people.assign(outcome=people["participant"].map(by_person), arm=people["level"] == first)
    people["analysed"] = people["outcome"].notna()
    if people["analysed"].all() or ":" in sample.term:
        return None, verdict, p
    bounds = lee_bounds(people, "outcome", "arm", "analysed", group="cluster", draws=options.draws, seed=options.seed,
                        level=options.level)  # fmt: skip
    if bounds["low"] is None:
        return None, verdict, p
    return {"check": BOUNDS, **lee_row(bounds)}, verdict, p


def _arms(tested: Tested) -> Iterator[dict[str, Any]]:
    """Yield each arm with the numbers of people randomised and analysed."""
    sample, hypothesis = tested.sample, tested.hypothesis
    factor = sample.term.partition("=")[0]
    for level in hypothesis.levels[0]:
        here = sample.frame[sample.frame[factor] == level]
        analysed = {person for people in here[PEOPLE] for person in people}
        randomised = None if hypothesis.of_players else len(
            sample.people[sample.people["level"] == level] if sample.between else sample.people)  # fmt: skip
        yield {"hypothesis": hypothesis.name, "estimand": tested.row["estimand"], "level": level,
               "randomised": randomised, "analysed": len(here) if hypothesis.of_players else len(analysed),
               "matches": here["match"].nunique() if "match" in here else len(analysed),
               "verdict": tested.row["verdict"], "p_attrition": tested.row["p_attrition"]}  # fmt: skip


def _warnings(tested: Tested, options: Options) -> Iterator[str]:
    """Yield what a reader of the estimate should know."""
    row, sample = tested.row, tested.sample
    about = f"{row['hypothesis']}, {row['estimand']}"
    for note in sample.notes:
        yield f"{about}: {note}."
    if row["note"]:
        yield f"{about}: no interval, because {row['note']}."
    if row["without_randomisation"]:
        yield f"{about}: no p by randomisation, because {row['without_randomisation']}."
    if row["missing"]:
        rows = "row" if row["missing"] == 1 else "rows"
        yield f"{about}: left out without the outcome: {row['missing']:,} {rows}."
    if row["estimand"] == ASSIGNED and sample.between:
        arms = [*_arms(tested)]
        randomised = sum(arm["randomised"] for arm in arms)
        if (lacking := randomised - sum(arm["analysed"] for arm in arms)) > 0:
            yield (f"{about}: the dataset has no outcome of {lacking:,} of {randomised:,} people randomised; see the "
                   "Lee bounds.")  # fmt: skip
    if row["verdict"] == LOST_DIFFERENTLY:
        yield f"{about}: the arms lost people differently; see the Lee bounds."


ANALYSES = [run]
