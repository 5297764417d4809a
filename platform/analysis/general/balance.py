"""general.balance: whether cells filled evenly and their participants are comparable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import pandas as pd

from analysis.data import Data, label
from analysis.errors import SkippedError
from analysis.frames import level_text, sorted_levels, with_holm
from analysis.general.people import participants
from analysis.options import Options
from analysis.results import Result, analysis
from analysis.tables import Chart, Table, count, number, text
from analysis.toolbox import balance, smd

PRE_GAME = "survey_before_"
MAX_OPTIONS = 20
SMD_LINE = 0.1
MAX_DOTS = 40
CELL = ["dataset", "version", "cell"]


@analysis(
    "general.balance", "Balance of cells",
    "Did the cells fill evenly, and were their participants comparable before the game?",
    "Everybody randomised (placed in a cell): χ² goodness-of-fit test of arrivals against quotas; for each "
    "question asked before the game, the largest standardised mean difference between two cells, with a χ² "
    "test (choices) or a one-way F test (numbers); Holm-adjusted p-values.",
    needs="people", columns={"participants": ["cell", "version"]},
)  # fmt: skip
def run(data: Data, options: Options) -> Result:
    people = participants(data, *(n for n in data.names("participants") if n.startswith(PRE_GAME)))
    tables: list[Table] = []
    numbers: dict[str, Any] = {}
    warnings: list[str] = []
    arrivals = _arrivals(people, data)
    if len(arrivals):
        numbers["arrivals"] = fit = _fit(arrivals)
        tables.append(Table(
            "arrivals", "Arrivals and quotas by cell",
            [text("arm", "Cell"), count("quota", "Quota (people)"), count("arrived", "Arrived"),
             number("expected", "Expected")],
            arrivals,
            note="No test: there is only one cell, or there are no arrivals." if fit["p"] is None else
            f"χ² = {fit['estimate']:.3f}, df = {fit['df']}, p = {fit['p']:.3f}. Cells fill evenly by design, so p is "
            "expected to be close to 1.",
        ))  # fmt: skip
    small_cells: set[str] = set()
    answers = pd.DataFrame([*_answers(people, data, options, small_cells)])
    known = int(answers["known"].min()) if len(answers) else len(people)
    if known < len(people):
        warnings.append(
            f"Answers are known of {known:,} of {len(people):,} people randomised. A dataset holds those of people "
            "with a match in it; export it with excluded rows to compare everybody who answered."
        )
    if small_cells:
        warnings.append(
            f"Cells with fewer than {options.min_group} answers are left out: {', '.join(sorted(small_cells))}."
        )
    if len(answers):
        dots = answers.assign(estimate=answers["smd"].abs()).dropna(subset=["estimate"])
        tables.append(Table(
            "answers", "Answers given before the game, by cell",
            [text("question", "Question"), text("option", "Option"), "n", count("groups", "Cells"),
             number("smd", "Largest difference (SD)"), text("pair", "Between"), text("test", "Test"),
             number("statistic", "Statistic"), "p", "p_holm"],
            with_holm(answers),
            charts=[Chart("dots", name="love", title="Largest pre-game difference between two cells", y="where",
                        rows=dots.sort_values("estimate", ascending=False, kind="stable")[:MAX_DOTS],
                        titles={"x": "Absolute standardised mean difference (line at .1)"}, line=SMD_LINE, zero=True)],
        ))  # fmt: skip
        numbers |= {row["where"]: {"estimate": row["smd"], "p": row["p"], "n": row["n"]} for row in tables[-1].records}
    if not tables:
        raise SkippedError("There are no quotas, and no questions were asked before the game.")
    n = {"people": len(people), "clusters": int(people["cluster"].nunique())}
    return Result(tables, numbers=numbers, n=n, warnings=warnings)


def _arrivals(people: pd.DataFrame, data: Data) -> pd.DataFrame:
    """Return quotas and arrivals by cell. Both count people: quotas are multiplied by the people per match."""
    if not data.has("cells", "version", "cell", "quota"):
        return pd.DataFrame()
    cells = data.table("cells", [*CELL, "quota", *(["seats"] if data.has("cells", "seats") else [])])
    cells = cells[cells["quota"].fillna(0) > 0].astype({"dataset": "str"})
    arrivals = people.astype({"dataset": "str"}).groupby(CELL).agg(arm=("arm", "first"), arrived=("arm", "size"))
    cells = cells.join(arrivals, on=CELL)
    seats = cells["seats"].fillna("").str.count('"person"').clip(lower=1) if "seats" in cells else 1
    quota, arrived = cells["quota"].astype("float64") * seats, cells["arrived"].fillna(0).astype("int64")
    arm = cells["arm"].fillna("cell " + cells["cell"].map(level_text))
    expected = quota * arrived.sum() / quota.sum()
    return pd.DataFrame({"arm": arm, "quota": quota, "arrived": arrived, "expected": expected})


def _fit(arrivals: pd.DataFrame) -> dict[str, Any]:
    """Return the χ² goodness-of-fit test of arrivals against quotas."""
    n = int(arrivals["arrived"].sum())
    if len(arrivals) < 2 or not n:
        return {"estimate": None, "p": None, "n": n}
    from scipy.stats import chisquare

    test = chisquare(arrivals["arrived"], arrivals["expected"])
    return {"estimate": float(test.statistic), "df": len(arrivals) - 1, "p": float(test.pvalue), "n": n}


def _answers(people: pd.DataFrame, data: Data, options: Options, small_cells: set[str]) -> Iterator[dict[str, Any]]:
    """Yield, for each question (and option), the largest difference between two cells and a test over all cells."""
    for name in [n for n in people.columns if n.startswith(PRE_GAME)]:
        values, kind = people[name], data.kind("participants", name)
        if kind == "text" or (values.nunique() > MAX_OPTIONS and kind == "choice"):
            continue
        groups = {arm: values[people["arm"] == arm].dropna() for arm in sorted_levels(people["arm"])}
        small_cells |= {arm for arm, answers in groups.items() if 0 < len(answers) < options.min_group}
        groups = {arm: answers for arm, answers in groups.items() if len(answers) >= options.min_group}
        if len(groups) < 2:
            continue
        question = label(name.removeprefix(PRE_GAME))
        of_question = {"question": question, "n": sum(map(len, groups.values())), "groups": len(groups),
                       "known": int(values.notna().sum())}  # fmt: skip
        if kind in ("number", "integer"):
            numbers = {arm: answers.astype("float64").tolist() for arm, answers in groups.items()}
            yield {**of_question, "option": "", **_anova([*numbers.values()]), **_largest_smd(numbers),
                   "where": question}  # fmt: skip
            continue
        texts = {arm: answers.map(level_text) for arm, answers in groups.items()}
        levels = sorted_levels(values.dropna().map(level_text))
        found = balance([[int((answers == level).sum()) for level in levels] for answers in texts.values()])
        test = {"test": "χ²", "statistic": found["chi2"], "p": found["p"]}
        for level in levels:
            flags = {arm: (answers == level).astype("float64").tolist() for arm, answers in texts.items()}
            yield {**of_question, "option": level, **test, **_largest_smd(flags), "where": f"{question}: {level}"}
            test = dict.fromkeys(test)  # the test is of all options together


def _largest_smd(groups: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Return the pair of cells that differ most, and their standardised mean difference."""
    differences = {
        f"{first} − {second}": smd(groups[first], groups[second])["estimate"]
        for first, second in combinations(groups, 2)
    }
    defined = {pair: value for pair, value in differences.items() if value is not None}
    pair = max(defined, key=lambda pair: abs(defined[pair]), default="")
    return {"smd": defined.get(pair), "pair": pair}


def _anova(groups: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Return a one-way F test, without values if there is no variation within groups."""
    from scipy.stats import f_oneway

    if all(len(set(group)) == 1 for group in groups):
        return {"test": "F", "statistic": None, "p": None}
    test = f_oneway(*groups)
    return {"test": "F", "statistic": float(test.statistic), "p": float(test.pvalue)}


ANALYSES = [run]
