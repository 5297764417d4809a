"""general.attrition: whether attrition differs between cells."""

from __future__ import annotations

from typing import Any

from analysis import charts
from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import adjusted, sorted_levels
from analysis.general.people import BEGAN, factors, participants
from analysis.results import Analysis, Options, Result, Table, count, estimated, number, p_value, share, text
from analysis.toolbox import balance, proportion, proportion_difference

PERMUTATIONS = 9_999
FEW = 5


def run(data: Data, options: Options) -> Result:
    """Return the share of those who began but are not in the dataset, by factor, with a test per factor."""
    frame = participants(data)
    began = frame[frame["stage"].isin(BEGAN)]
    if not len(began):
        raise SkippedError("Nobody started the game.")
    lost = ~began["in_dataset"].fillna(False).astype(bool)
    total = proportion(int(lost.sum()), len(lost), level=options.level)
    shares: list[dict[str, Any]] = [{"factor": "All", "level": "", **total, "lost": int(lost.sum())}]
    tests = []
    for name, heading in factors(data, began).items():
        groups = {level: lost[began[name] == level] for level in sorted_levels(began[name].dropna())}
        own = [
            {"factor": heading, "level": level, "lost": int(of.sum()),
             **proportion(int(of.sum()), len(of), level=options.level)}
            for level, of in groups.items()
        ]  # fmt: skip
        shares += own
        tests.append({"factor": heading, **_test([(row["lost"], row["n"] - row["lost"]) for row in own], options)}
                     | _largest(own, options))  # fmt: skip
    adjusted(tests)
    tables = [Table("shares", "Started the game but not in the dataset", [
        text("factor", "By"), text("level", "Group"), count("n", "Began"), count("lost", "Not in the dataset"),
        *estimated("Share", share),
    ], shares)]  # fmt: skip
    if tests:
        note = f"If an expected count is below {FEW}, p comes from {PERMUTATIONS:,} permutations."
        tables.append(Table("tests", "Whether it differs between groups", [
            text("factor", "By"), number("chi2", "χ²"), count("df", "df"), p_value(), p_value("p_holm", "p, Holm"),
            text("test", "Test"), number("cramers_v", "Cramér's V"), text("groups", "Largest difference"),
            share("difference", "Difference"), share("difference_low", "Low"), share("difference_high", "High"),
        ], tests, note=note))  # fmt: skip
    dots = [{**row, "where": charts.level(row["factor"], row["level"]) if row["level"] else "All"} for row in shares]
    figure = charts.dots("shares", "Share of those who started who are not in the dataset", dots, y="where",
                         x_title="Share not in the dataset", x_format="%", line=total["estimate"])  # fmt: skip
    numbers = {"all": {k: total[k] for k in ("estimate", "low", "high", "n")}} | {
        test["factor"]: {"estimate": test["cramers_v"], "p": test["p"], "n": len(began)} for test in tests
    }
    return Result(tables, [figure], numbers, n={"people": len(began)})


def _test(counts: list[tuple[int, int]], options: Options) -> dict[str, Any]:
    """Return χ² of lost and kept by group; by permutation if expected counts are small."""
    found = balance(counts)
    test = "χ²"
    if found["smallest_expected"] is not None and found["smallest_expected"] < FEW:
        found["p"], test = _permuted(counts, found["chi2"], options.seed), "permutation"
    return {key: found[key] for key in ("chi2", "df", "p", "cramers_v")} | {
        "test": test if found["p"] is not None else ""
    }


def _permuted(counts: list[tuple[int, int]], observed: float, seed: int) -> float:
    """Return (1 + b)/10,000, where b of 9,999 shuffles of who was lost have a χ² at least as large."""
    import numpy as np

    sizes = np.array([lost + kept for lost, kept in counts])
    lost = sum(one for one, _kept in counts)
    drawn = np.random.default_rng(seed).multivariate_hypergeometric(sizes, lost, size=PERMUTATIONS)
    expected = sizes * lost / sizes.sum()
    rest = sizes - expected
    chi2 = ((drawn - expected) ** 2 / np.where(expected > 0, expected, 1)).sum(axis=1)
    chi2 += ((drawn - expected) ** 2 / np.where(rest > 0, rest, 1)).sum(axis=1)
    return (1 + int((chi2 >= observed - 1e-9).sum())) / (PERMUTATIONS + 1)


def _largest(rows: list[dict[str, Any]], options: Options) -> dict[str, Any]:
    """Return the difference between the largest and the smallest share lost."""
    ordered = sorted((row for row in rows if row["n"]), key=lambda row: row["estimate"])
    low, high = ordered[0], ordered[-1]
    found = proportion_difference(high["lost"], high["n"], low["lost"], low["n"], level=options.level)
    named = f"{high['level']} − {low['level']}"
    return {
        "groups": named,
        "difference": found["estimate"],
        "difference_low": found["low"],
        "difference_high": found["high"],
    }


ANALYSES = [
    Analysis(
        id="general.attrition",
        title="Attrition",
        question="Do some cells lose more people than others?",
        method=(
            "Of those who began the game, the share that is not in the dataset, with Wilson's intervals; χ² by each "
            "factor (by permutation where few are expected), Cramér's V, and the largest difference with Newcombe's "
            "interval."
        ),
        needs="people",
        columns={"participants": ["stage", "cell", "version", "role", "in_dataset"]},
        run=run,
    )
]
