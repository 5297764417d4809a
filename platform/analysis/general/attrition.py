"""general.attrition: whether attrition differs between cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.data import CONFIG, FACTOR, Data
from analysis.errors import SkippedError
from analysis.frames import at_level, ranks, shares_by_each, sorted_levels, with_q
from analysis.general.people import STARTED_STAGES, factors, participants
from analysis.options import Options
from analysis.reasons import STAGES, WITHOUT_TREATMENT, reason
from analysis.results import Result, analysis
from analysis.tables import Chart, Table, count, number, numbers, share, text
from analysis.toolbox import balance, effects

PERMUTATIONS = 9_999
MIN_EXPECTED = 5
MAX_UNITS = 2_000
"""Above so many units, χ² is divided by the design effect instead of permuting units."""
DIFFERENT = 0.05
MANY_POINTS = 0.05
"""Difference of the shares lost from which Lee bounds stand beside the effects."""
LOST_DIFFERENTLY, NO_DIFFERENCE, NOBODY_LOST = "lost differently", "no difference found", "nobody was lost"
EVERYBODY, BEGAN = "everybody randomised", "those who began"
FLOW = {"arrived": "Randomised", **{stage: STAGES[stage] for stage in ("consented", "began", "finished")},
        "in_dataset": "Analysed"}  # fmt: skip


@dataclass(frozen=True)
class Loss:
    """How the people randomised were lost by the levels of a factor.

    Attributes:
        people: everybody randomised, with `lost` and the factor's levels.
        matters: whether they were lost differently, or the shares lost differ by more than 5 points.
    """

    people: pd.DataFrame
    matters: bool


def losses(data: Data, options: Options) -> dict[str, Loss]:
    """Return how people were lost, by each factor or parameter between participants; none without participants."""
    if not data.has("participants", "stage", "cell", "version", "in_dataset", "participant"):
        return {}
    try:
        people = _lost(data)
    except SkippedError:
        return {}
    found = {}
    for name in map(str, people.columns):
        if name.startswith((FACTOR, CONFIG)) and people[name].nunique() > 1:
            groups = people[["lost", "cluster"]].assign(level=people[name]).dropna(subset=["level"])
            p, rates = loss_test(groups, options)["p"], groups.groupby("level")["lost"].mean()
            found[name] = Loss(people, bool((p or 1) < DIFFERENT or rates.max() - rates.min() > MANY_POINTS))
    return found


def _lost(data: Data) -> pd.DataFrame:
    """Return everybody randomised; `lost` is 1 if they are not analysed, such as if a partner's leaving ended it."""
    people = participants(data, *(name for name in ("reasons",) if data.has("participants", name)))
    return people.assign(lost=1.0 - people["in_dataset"].fillna(False).astype("float64"))


@analysis(
    "general.attrition", "Attrition", "Do some cells lose more people than others?",
    "Share of people who are not analysed, of everybody randomised (placed in a cell) and of those who began; "
    "Wilson intervals over independent units. For each factor, Fisher's exact test or a χ² test (a permutation "
    "test if expected counts are small or people met), Cramér's V, and the largest difference with an interval "
    "from leaving out one unit at a time.",
    needs="people", columns={"participants": ["stage", "cell", "version", "role", "in_dataset"]},
)  # fmt: skip
def run(data: Data, options: Options) -> Result:
    people = _lost(data)
    parts: list[pd.DataFrame] = []
    tests: list[dict[str, Any]] = []
    named: dict[str, Any] = {}
    for population, rows in {EVERYBODY: people, BEGAN: people[people["stage"].isin(STARTED_STAGES)]}.items():
        if not len(rows):
            continue
        by = factors(data, rows)
        found = shares_by_each(rows, "lost", by, level=options.level).rename(columns={"number": "lost"})
        parts.append(found.assign(of=population))
        prefix = "" if population == EVERYBODY else "began: "
        named |= numbers(found[:1], f"{prefix}all")
        for name, heading in by.items():
            groups = rows[["lost", "cluster"]].assign(level=rows[name]).dropna(subset=["level"])
            test = {"of": population, "factor": heading, **loss_test(groups, options), **_largest(groups, options)}
            is_different = test["p"] is not None and test["p"] < DIFFERENT
            nothing = NO_DIFFERENCE if rows["lost"].any() else NOBODY_LOST
            tests.append({**test, "verdict": LOST_DIFFERENTLY if is_different else nothing})
            named[f"{prefix}{heading}"] = {"estimate": test["difference"], "low": test["difference_low"],
                "high": test["difference_high"], "p": test["p"], "n": len(rows), "method": test["test"],
                "clusters": int(groups["cluster"].nunique())}  # fmt: skip
    shares = pd.concat(parts, ignore_index=True)
    drawn, arms = shares[shares["of"] == EVERYBODY], _arms(people)
    tables = [
        Table("arms", "People by arm, from randomised to analysed",
              [text("arm", "Cell"), *(count(stage, title) for stage, title in FLOW.items())], arms,
              charts=[Chart("bars", name="flow", title="Share of everybody randomised who reached each stage, by arm",
                            y="stage", facet="arm", rows=_long(arms), titles={"x": "Share of those randomised"},
                            most={"facet": 8})]),
        Table("shares", "People who are not analysed",
              [text("of", "Of"), text("factor", "By"), text("level", "Group"), count("n", "People"),
               count("lost", "Not analysed"), share("estimate", "Share"), "low", "high", "clusters", "note"],
              shares,
              charts=[Chart("dots", title="Attrition: share of everybody randomised who is not analysed", y="where",
                          titles={"x": "Share not analysed"}, line=shares["estimate"].iloc[0],
                          rows=drawn.assign(where=at_level(drawn)))]),
    ]  # fmt: skip
    if len(exclusions := _exclusions(people)):
        tables.insert(1, Table(
            "exclusions", "Why people are not analysed, by arm",
            [text("arm", "Cell"), text("reason", "Reason"), text("when", "When"), count("people", "People")],
            exclusions,
            note="A person may have several reasons. Exclusions after randomisation can depend on the arm: compare "
            "effects with and without them, and see the Lee bounds.",
        ))  # fmt: skip
    if tests:
        tables.append(Table(
            "tests", "Tests for differential attrition",
            [text("of", "Of"), text("factor", "By"), number("chi2", "χ²"), count("df", "df"), "p", "q",
             text("test", "Test"), number("cramers_v", "Cramér's V"), text("groups", "Largest difference"),
             share("difference", "Difference"), share("difference_low", "Low"), share("difference_high", "High"),
             text("verdict", "Verdict")],
            with_q(pd.DataFrame(tests)),
            note=f"Two groups: Fisher's exact test. If an expected count is below {MIN_EXPECTED}, p is from a "
            f"permutation test with {PERMUTATIONS:,} draws. People who met are permuted together; for many of them, χ² "
            "is divided by the design effect instead. q is Benjamini and Hochberg's.",
        ))  # fmt: skip
    warnings = [
        f"Of {test['of']}, people were lost differently by {test['factor'].lower()} ({test['groups']}: "
        f"{100 * test['difference']:.0f} points). Effects compare those who remained."
        for test in tests if test["verdict"] == LOST_DIFFERENTLY
    ]  # fmt: skip
    n = {"people": len(people), "clusters": int(people["cluster"].nunique())}
    return Result(tables, numbers=named, n=n, warnings=warnings)


def _exclusions(people: pd.DataFrame) -> pd.DataFrame:
    """Return how many people of each arm were lost for each reason, and whether it arose after they were randomised."""
    if "reasons" not in people:
        return pd.DataFrame()
    lost = people[(people["lost"] == 1) & people["reasons"].notna()]
    each = lost.assign(name=lost["reasons"].str.split(";")).explode("name")
    counts = each.groupby(["arm", "name"], sort=False).size().rename("people").reset_index()
    counts = counts.sort_values("arm", key=ranks, kind="stable")
    when = np.where(counts["name"].isin(WITHOUT_TREATMENT), "no part of the comparison", "after randomisation")
    return counts.assign(reason=counts["name"].map(reason), when=when).drop(columns="name")


def _arms(people: pd.DataFrame) -> pd.DataFrame:
    """Return how many people of each arm reached each stage."""
    place = {stage: place for place, stage in enumerate(STAGES)}
    reached = people["stage"].map(place).fillna(0)
    counts = pd.DataFrame({stage: (reached >= place[stage]).groupby(people["arm"]).sum() for stage in FLOW})
    return counts.loc[sorted_levels(people["arm"])].rename_axis("arm").reset_index()


def _long(arms: pd.DataFrame) -> pd.DataFrame:
    """Return the arms' numbers by stage as shares of those randomised."""
    rows = arms.melt("arm", var_name="key", value_name="n").join(arms.set_index("arm")["arrived"], on="arm")
    return rows.assign(stage=rows["key"].map(FLOW), estimate=rows["n"] / rows["arrived"])


def loss_test(groups: pd.DataFrame, options: Options) -> dict[str, Any]:
    """Return the test of attrition by level (`lost`, `level`, `cluster`), for people who may have met."""
    from scipy.stats import chi2 as chi2_distribution
    from scipy.stats import fisher_exact

    level, unit = (np.unique(groups[name].astype("str"), return_inverse=True)[1] for name in ("level", "cluster"))
    lost = groups["lost"].to_numpy()
    counts = np.array([np.bincount(level, lost), np.bincount(level, 1 - lost)]).T.astype(int)
    found, test = balance(counts.tolist()), "χ²"
    size, lost_per_unit, rng = np.bincount(unit), np.bincount(unit, lost), np.random.default_rng(options.seed)
    first = level[np.unique(unit, return_index=True)[1]]
    if found["chi2"] is None:
        test = ""
    elif size.max() == 1 and counts.shape == (2, 2):
        found["p"], test = float(fisher_exact(counts).pvalue), "Fisher"
    elif size.max() > 1 and (first[unit] == level).all():
        if len(size) <= MAX_UNITS:
            found["p"], test = _permuted(found["chi2"], first, size, lost_per_unit, rng), "permutation of units"
        else:
            share_lost = lost.mean()
            effect = ((lost_per_unit - share_lost * size) ** 2).sum() / (len(lost) * share_lost * (1 - share_lost))
            found["p"], test = float(chi2_distribution.sf(found["chi2"] / max(1, effect), found["df"])), "χ², units"
    elif found["smallest_expected"] < MIN_EXPECTED:
        drawn = rng.multivariate_hypergeometric(counts.sum(axis=1), int(counts[:, 0].sum()), size=PERMUTATIONS)
        found["p"], test = _p(_chi2(drawn, counts.sum(axis=1)), found["chi2"]), "permutation"
    return {key: found[key] for key in ("chi2", "df", "p", "cramers_v")} | {"test": test}


def _permuted(
    observed: float, level: np.ndarray, size: np.ndarray, lost: np.ndarray, rng: np.random.Generator
) -> float:
    """Return the p-value of `observed` when units, with all their people, are assigned to the levels at random."""
    chi2 = []
    for _block in range(9):
        drawn = rng.permuted(np.tile(level, (PERMUTATIONS // 9, 1)), axis=1)
        here = [drawn == code for code in range(level.max() + 1)]
        chi2.append(_chi2(np.stack([is_here @ lost for is_here in here], axis=1),
                          np.stack([is_here @ size for is_here in here], axis=1)))  # fmt: skip
    return _p(np.concatenate(chi2), observed)


def _chi2(lost: np.ndarray, people: np.ndarray) -> np.ndarray:
    """Return χ² of each draw, from the people lost at each level and all people there."""
    share_lost = lost.sum(axis=1, keepdims=True) / people.sum(axis=-1, keepdims=True)
    people = np.maximum(people, 1)
    return ((lost - people * share_lost) ** 2 / (people * share_lost * (1 - share_lost))).sum(axis=1)


def _p(drawn: np.ndarray, observed: float) -> float:
    """Return (1 + b)/10,000, where b of the 9,999 draws are at least as large as observed."""
    return (1 + int((drawn >= observed - 1e-9).sum())) / (PERMUTATIONS + 1)


def _largest(groups: pd.DataFrame, options: Options) -> dict[str, Any]:
    """Return the difference between the largest and the smallest share lost."""
    rates = groups.groupby("level")["lost"].mean().sort_values(kind="stable")
    low, high = rates.index[0], rates.index[-1]
    fit = effects(groups[groups["level"].isin([low, high])], "lost", {"level": low}, group="cluster", bounds=(0.0, 1.0),
                  level=options.level)  # fmt: skip
    term = next((term for term in fit["terms"] if term["term"] != "Intercept"), {"low": None, "high": None})
    return {"groups": f"{high} − {low}", "difference": float(rates.iloc[-1] - rates.iloc[0]),
            "difference_low": term["low"], "difference_high": term["high"]}  # fmt: skip


ANALYSES = [run]
