"""general.attrition: whether attrition differs between cells."""

from __future__ import annotations

from typing import Any

from analysis import charts
from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import add_holm, sorted_levels
from analysis.general.people import STARTED_STAGES, factors, participants
from analysis.results import Analysis, Options, Result, Table, count, estimate_columns, number, p_value, share, text
from analysis.toolbox import balance, proportion, proportion_difference

PERMUTATIONS = 9_999
MIN_EXPECTED = 5


def run(data: Data, options: Options) -> Result:
    """Return the share of participants who started but are not in the dataset, with a test for each factor."""
    frame = participants(data)
    starters = frame[frame["stage"].isin(STARTED_STAGES)]
    if not len(starters):
        raise SkippedError("No one started the game.")
    lost = ~starters["in_dataset"].fillna(False).astype(bool)
    total = proportion(int(lost.sum()), len(lost), level=options.level)
    shares: list[dict[str, Any]] = [{"factor": "All", "level": "", **total, "lost": int(lost.sum())}]
    tests = []
    for name, heading in factors(data, starters).items():
        groups = {level: lost[starters[name] == level] for level in sorted_levels(starters[name].dropna())}
        group_rows = [
            {"factor": heading, "level": level, "lost": int(flags.sum()),
             **proportion(int(flags.sum()), len(flags), level=options.level)}
            for level, flags in groups.items()
        ]  # fmt: skip
        shares += group_rows
        tests.append({"factor": heading, **_test([(row["lost"], row["n"] - row["lost"]) for row in group_rows],
            options)}
                     | _largest_difference(group_rows, options))  # fmt: skip
    add_holm(tests)
    tables = [Table("shares", "Participants who started the game but are not in the dataset", [
        text("factor", "By"), text("level", "Group"), count("n", "Started"), count("lost", "Not in the dataset"),
        *estimate_columns("Share", share),
    ], shares)]  # fmt: skip
    if tests:
        note = (
            f"If an expected count is below {MIN_EXPECTED}, p is from a permutation test with {PERMUTATIONS:,} draws."
        )
        tables.append(Table("tests", "Tests for differential attrition", [
            text("factor", "By"), number("chi2", "χ²"), count("df", "df"), p_value(), p_value("p_holm", "p, Holm"),
            text("test", "Test"), number("cramers_v", "Cramér's V"), text("groups", "Largest difference"),
            share("difference", "Difference"), share("difference_low", "Low"), share("difference_high", "High"),
        ], tests, note=note))  # fmt: skip
    dots = [{**row, "where": charts.level(row["factor"], row["level"]) if row["level"] else "All"} for row in shares]
    figure = charts.dots("shares", "Attrition: share of those who started who are not in the dataset", dots, y="where",
                         x_title="Share not in the dataset", x_format="%", line=total["estimate"])  # fmt: skip
    numbers = {"all": {k: total[k] for k in ("estimate", "low", "high", "n")}} | {
        test["factor"]: {"estimate": test["cramers_v"], "p": test["p"], "n": len(starters)} for test in tests
    }
    return Result(tables, [figure], numbers, n={"people": len(starters)})


def _test(counts: list[tuple[int, int]], options: Options) -> dict[str, Any]:
    """Return the χ² test of attrition by group; a permutation test if expected counts are small."""
    chi2 = balance(counts)
    test = "χ²"
    if chi2["smallest_expected"] is not None and chi2["smallest_expected"] < MIN_EXPECTED:
        chi2["p"], test = _permutation_p(counts, chi2["chi2"], options.seed), "permutation"
    return {key: chi2[key] for key in ("chi2", "df", "p", "cramers_v")} | {
        "test": test if chi2["p"] is not None else ""
    }


def _permutation_p(counts: list[tuple[int, int]], observed: float, seed: int) -> float:
    """Return the p-value (1 + b)/10,000, where b of 9,999 permutations have a χ² at least as large as observed."""
    import numpy as np

    sizes = np.array([lost + kept for lost, kept in counts])
    lost = sum(lost_here for lost_here, _kept in counts)
    drawn = np.random.default_rng(seed).multivariate_hypergeometric(sizes, lost, size=PERMUTATIONS)
    expected = sizes * lost / sizes.sum()
    expected_others = sizes - expected
    chi2 = ((drawn - expected) ** 2 / np.where(expected > 0, expected, 1)).sum(axis=1)
    chi2 += ((drawn - expected) ** 2 / np.where(expected_others > 0, expected_others, 1)).sum(axis=1)
    return (1 + int((chi2 >= observed - 1e-9).sum())) / (PERMUTATIONS + 1)


def _largest_difference(rows: list[dict[str, Any]], options: Options) -> dict[str, Any]:
    """Return the difference between the largest and the smallest attrition rate."""
    ordered = sorted((row for row in rows if row["n"]), key=lambda row: row["estimate"])
    low, high = ordered[0], ordered[-1]
    difference = proportion_difference(high["lost"], high["n"], low["lost"], low["n"], level=options.level)
    groups = f"{high['level']} − {low['level']}"
    return {
        "groups": groups,
        "difference": difference["estimate"],
        "difference_low": difference["low"],
        "difference_high": difference["high"],
    }


ANALYSES = [
    Analysis(
        id="general.attrition",
        title="Attrition",
        question="Do some cells lose more people than others?",
        method=(
            "Share of participants who started the game but are not in the dataset, with Wilson intervals; for each "
            "factor, a χ² test (a permutation test if expected counts are small), Cramér's V, and the largest "
            "difference with Newcombe's interval."
        ),
        needs="people",
        columns={"participants": ["stage", "cell", "version", "role", "in_dataset"]},
        run=run,
    )
]
