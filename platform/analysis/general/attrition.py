"""general.attrition: whether attrition differs between cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.data import Data
from analysis.frames import add_holm, share_of, sorted_levels
from analysis.general.people import STARTED_STAGES, factors, participants
from analysis.report import STAGES
from analysis.results import (
    NOTE,
    Analysis,
    Options,
    Result,
    Table,
    count,
    estimate_columns,
    number,
    p_value,
    share,
    text,
)
from analysis.toolbox import balance, effects

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

PERMUTATIONS = 9_999
MIN_EXPECTED = 5
MAX_UNITS = 2_000
"""Above so many units, χ² is divided by the design effect instead of permuting units."""
DIFFERENT = 0.05
LOST_DIFFERENTLY, NO_DIFFERENCE, NOBODY_LOST = "lost differently", "no difference found", "nobody was lost"
EVERYBODY, BEGAN = "everybody randomised", "those who began"
FLOW = {"arrived": "Randomised", **{stage: STAGES[stage] for stage in ("consented", "began", "finished")},
        "in_dataset": "Analysed"}  # fmt: skip


def run(data: Data, options: Options) -> Result:
    """Return the share of people not analysed, of everybody randomised and of those who began, by each factor."""
    frame = participants(data)
    frame["lost"] = 1.0 - frame["in_dataset"].fillna(False).astype(float)
    shares: list[dict[str, Any]] = []
    tests: list[dict[str, Any]] = []
    numbers: dict[str, Any] = {}
    began = frame[frame["stage"].isin(STARTED_STAGES)]
    for population, people in {EVERYBODY: frame, BEGAN: began}.items():
        if not len(people):
            continue
        rows = _shares(data, people, options)
        prefix = "" if population == EVERYBODY else "began: "
        numbers[f"{prefix}all"] = {k: rows[0][k] for k in ("estimate", "low", "high", "n", "clusters")}
        for heading, groups in _by_factor(data, people):
            test = {"of": population, "factor": heading, **_test(groups, options), **_largest(groups, options)}
            is_different = test["p"] is not None and test["p"] < DIFFERENT
            test["verdict"] = LOST_DIFFERENTLY if is_different else NO_DIFFERENCE if rows[0]["lost"] else NOBODY_LOST
            tests.append(test)
            numbers[f"{prefix}{heading}"] = {"estimate": test["difference"], "low": test["difference_low"],
                "high": test["difference_high"], "p": test["p"], "n": len(people)}  # fmt: skip
        shares += [{"of": population, **row} for row in rows]
    add_holm(tests)
    tables = [Table("arms", "People by arm, from randomised to analysed",
                    [text("arm", "Cell"), *(count(stage, title) for stage, title in FLOW.items())], _arms(frame)),
              Table("shares", "People who are not analysed", [
        text("of", "Of"), text("factor", "By"), text("level", "Group"), count("n", "People"),
        count("lost", "Not analysed"), *estimate_columns("Share", share), NOTE,
    ], shares)]  # fmt: skip
    if tests:
        note = (
            f"If an expected count is below {MIN_EXPECTED}, p is from a permutation test with {PERMUTATIONS:,} draws. "
            "People who met are permuted together; for many of them, χ² is divided by the design effect instead."
        )
        tables.append(Table("tests", "Tests for differential attrition", [
            text("of", "Of"), text("factor", "By"), number("chi2", "χ²"), count("df", "df"), p_value(),
            p_value("p_holm", "p, Holm"), text("test", "Test"), number("cramers_v", "Cramér's V"),
            text("groups", "Largest difference"), share("difference", "Difference"), share("difference_low", "Low"),
            share("difference_high", "High"), text("verdict", "Verdict"),
        ], tests, note=note))  # fmt: skip
    different = [test for test in tests if test["verdict"] == LOST_DIFFERENTLY]
    warnings = [
        f"Of {test['of']}, people were lost differently by {test['factor'].lower()} ({test['groups']}: "
        f"{100 * test['difference']:.0f} points). Effects compare those who remained."
        for test in different
    ]
    dots = [{**row, "where": charts.level(row["factor"], row["level"]) if row["level"] else "All"}
            for row in shares if row["of"] == EVERYBODY]  # fmt: skip
    figure = charts.dots("shares", "Attrition: share of everybody randomised who is not analysed", dots, y="where",
                         x_title="Share not analysed", x_format="%", line=shares[0]["estimate"])  # fmt: skip
    return Result(tables, [figure], numbers, n={"people": len(frame), "clusters": int(frame["cluster"].nunique())},
                  warnings=warnings)  # fmt: skip


def _arms(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return how many people of each arm reached each stage."""
    order = {stage: place for place, stage in enumerate(STAGES)}
    reached = frame["stage"].map(order).fillna(0)
    return [
        {"arm": arm, **{stage: int((reached[frame["arm"] == arm] >= order[stage]).sum()) for stage in FLOW}}
        for arm in sorted_levels(frame["arm"])
    ]


def _by_factor(data: Data, people: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return each factor's heading with the people's `level`, `lost` and `cluster`."""
    return [
        (heading, people[["lost", "cluster"]].assign(level=people[name]).dropna(subset=["level"]))
        for name, heading in factors(data, people).items()
    ]


def _shares(data: Data, people: pd.DataFrame, options: Options) -> list[dict[str, Any]]:
    """Return the share lost of all people, and of each level of each factor."""
    rows = [{"factor": "All", "level": "", "lost": int(people["lost"].sum()),
             **share_of(people, "lost", level=options.level)}]  # fmt: skip
    for heading, groups in _by_factor(data, people):
        for level in sorted_levels(groups["level"]):
            group = groups[groups["level"] == level]
            rows.append({"factor": heading, "level": level, "lost": int(group["lost"].sum()),
                         **share_of(group, "lost", level=options.level)})  # fmt: skip
    return rows


def _test(groups: pd.DataFrame, options: Options) -> dict[str, Any]:
    """Return the test of attrition by level, for people who may have met."""
    import numpy as np
    from scipy.stats import chi2 as chi2_distribution

    _levels, level = np.unique(groups["level"].astype("str"), return_inverse=True)
    lost = groups["lost"].to_numpy()
    counts = np.bincount(level, lost), np.bincount(level, 1 - lost)
    found = balance(np.array(counts).T.astype(int).tolist())
    test, unit = "χ²", np.unique(groups["cluster"], return_inverse=True)[1]
    if found["chi2"] is None:
        return {**{key: None for key in ("chi2", "df", "p", "cramers_v")}, "test": ""}
    size = np.bincount(unit)
    first = level[np.unique(unit, return_index=True)[1]]
    if size.max() > 1 and (first[unit] == level).all():
        lost_per_unit = np.bincount(unit, lost)
        if len(size) <= MAX_UNITS:
            found["p"], test = (
                _permuted(found["chi2"], first, size, lost_per_unit, options.seed),
                "permutation of units",
            )
        else:
            share_lost = lost.mean()
            effect = ((lost_per_unit - share_lost * size) ** 2).sum() / (len(lost) * share_lost * (1 - share_lost))
            found["p"], test = float(chi2_distribution.sf(found["chi2"] / max(1, effect), found["df"])), "χ², units"
    elif found["smallest_expected"] < MIN_EXPECTED:
        found["p"], test = _permutation_p(list(zip(*counts, strict=True)), found["chi2"], options.seed), "permutation"
    return {key: found[key] for key in ("chi2", "df", "p", "cramers_v")} | {"test": test}


def _permuted(observed: float, level: np.ndarray, size: np.ndarray, lost: np.ndarray, seed: int) -> float:
    """Return the p-value of `observed` when units, with all their people, are assigned to the levels at random."""
    import numpy as np

    rng, extreme, share_lost = np.random.default_rng(seed), 0, lost.sum() / size.sum()
    for _block in range(9):
        drawn = rng.permuted(np.tile(level, (PERMUTATIONS // 9, 1)), axis=1)
        chi2 = np.zeros(len(drawn))
        for code in range(level.max() + 1):
            here = drawn == code
            people = np.maximum(here @ size, 1)
            chi2 += (here @ lost - people * share_lost) ** 2 / (people * share_lost * (1 - share_lost))
        extreme += int((chi2 >= observed - 1e-9).sum())
    return (1 + extreme) / (PERMUTATIONS + 1)


def _permutation_p(counts: Sequence[tuple[float, float]], observed: float, seed: int) -> float:
    """Return the p-value (1 + b)/10,000, where b of 9,999 permutations have a χ² at least as large as observed."""
    import numpy as np

    sizes = np.array([int(lost + kept) for lost, kept in counts])
    lost = int(sum(lost_here for lost_here, _kept in counts))
    drawn = np.random.default_rng(seed).multivariate_hypergeometric(sizes, lost, size=PERMUTATIONS)
    expected = sizes * lost / sizes.sum()
    expected_others = sizes - expected
    chi2 = ((drawn - expected) ** 2 / np.where(expected > 0, expected, 1)).sum(axis=1)
    chi2 += ((drawn - expected) ** 2 / np.where(expected_others > 0, expected_others, 1)).sum(axis=1)
    return (1 + int((chi2 >= observed - 1e-9).sum())) / (PERMUTATIONS + 1)


def _largest(groups: pd.DataFrame, options: Options) -> dict[str, Any]:
    """Return the difference between the largest and the smallest share lost, and the verdict on it."""
    rates = groups.groupby("level")["lost"].mean().sort_values(kind="stable")
    low, high = rates.index[0], rates.index[-1]
    fit = effects(groups[groups["level"].isin([low, high])], "lost", {"level": low}, group="cluster", bounds=(0.0, 1.0),
                  level=options.level)  # fmt: skip
    term = next((term for term in fit["terms"] if term["term"] != "Intercept"), {"low": None, "high": None})
    return {"groups": f"{high} − {low}", "difference": float(rates.iloc[-1] - rates.iloc[0]),
            "difference_low": term["low"], "difference_high": term["high"]}  # fmt: skip


ANALYSES = [
    Analysis(
        id="general.attrition",
        title="Attrition",
        question="Do some cells lose more people than others?",
        method=(
            "Share of people who are not analysed, of everybody randomised (placed in a cell) and of those who began; "
            "Wilson intervals over independent units. For each factor, a χ² test (a permutation test if expected "
            "counts are small or people met), Cramér's V, and the largest difference with an interval from leaving "
            "out one unit at a time."
        ),
        needs="people",
        columns={"participants": ["stage", "cell", "version", "role", "in_dataset"]},
        run=run,
    )
]
